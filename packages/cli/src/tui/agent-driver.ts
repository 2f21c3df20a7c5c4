import type { Agent, AgentEvent, Lathe, PartUnion, Session } from '@lathe/core';
import { mentionedPaths } from '../mentions/mentioned-paths.js';
import { callEvents, typedByPerson } from './call-events.js';
import type { Driver } from './driver.js';

/** Input for a model: `@path` brings files along, `!command` runs without the model. */
export class AgentDriver implements Driver {
  readonly placeholder = 'Ask for anything. @file brings a file along, !command runs one, / lists commands.';
  readonly #lathe: Lathe;
  readonly #agent: Agent | Session;

  constructor(lathe: Lathe, agent: Agent | Session) {
    this.#lathe = lathe;
    this.#agent = agent;
  }

  get name(): string {
    return this.#agent.model.id;
  }

  async *submit(input: string, signal: AbortSignal): AsyncGenerator<AgentEvent> {
    if (input.startsWith('!')) {
      const call = { name: 'run_shell_command', args: { command: input.slice(1).trim() } };
      yield* callEvents(this.#lathe, [call], signal, typedByPerson);
      return;
    }
    const paths = await mentionedPaths(input, this.#lathe.workspace);
    const parts: PartUnion[] = [input];
    if (paths.length > 0) parts.push(...(yield* this.#read(paths, signal)));
    yield* this.#agent.prompt(parts, signal);
  }

  compact(signal: AbortSignal): AsyncIterable<AgentEvent> {
    return this.#agent.compact(signal);
  }

  clear(): void {
    this.#agent.clear();
  }

  complete(): string[] {
    return [];
  }

  async *#read(paths: readonly string[], signal: AbortSignal): AsyncGenerator<AgentEvent, PartUnion[]> {
    const call = { name: 'read_many_files', args: { paths } };
    const [outcome] = yield* callEvents(this.#lathe, [call], signal);
    if (outcome?.status !== 'success') return [];
    const { llmContent } = outcome;
    return ['\n\nContent of the files mentioned above:\n', ...(Array.isArray(llmContent) ? llmContent : [llmContent])];
  }
}
