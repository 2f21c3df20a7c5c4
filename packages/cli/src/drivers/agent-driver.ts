import { Agent, type AgentEvent, type AgentLathe, openSession, type Session } from '@lathe/agent';
import { chooseModel } from '@lathe/agent/models';
import { type PartUnion, toParts } from '@lathe/core';
import { mentionedPaths } from '../mentions/mentioned-paths.js';
import { mentionedResources } from '../mentions/mentioned-resources.js';
import type { Conversation, Driver } from './driver.js';
import { runCalls, runTypedCommand } from './run-calls.js';

/** Sends input to a model: `@path` adds files, `!command` runs without the model. */
export class AgentDriver implements Driver {
  readonly placeholder = 'Ask for anything. @file adds a file, !command runs a command, / lists commands.';
  readonly #lathe: AgentLathe;
  #agent: Agent | Session;
  #lastOutput: PartUnion[] | undefined;
  /** Goes to the model with the next prompt. */
  readonly #shared: PartUnion[] = [];

  constructor(lathe: AgentLathe, agent: Agent | Session) {
    this.#lathe = lathe;
    this.#agent = agent;
  }

  get name(): string {
    return this.#agent.model.id;
  }

  async *submit(input: string, signal: AbortSignal): AsyncGenerator<AgentEvent> {
    if (input.startsWith('!')) {
      yield* this.#runTyped(input, signal);
      return;
    }
    yield* this.#agent.prompt(yield* this.#withMentions(input, signal), signal);
  }

  async steer(input: string, signal: AbortSignal): Promise<boolean> {
    if (/^[!/]/.test(input)) return false;
    // The stream of the work in progress is not ours, so nothing shows how the files are read.
    const reading = this.#withMentions(input, signal);
    let next = await reading.next();
    while (!next.done) next = await reading.next();
    return this.#agent.steer(next.value);
  }

  /** The input, and the files and resources that it mentions. */
  async *#withMentions(input: string, signal: AbortSignal): AsyncGenerator<AgentEvent, PartUnion[]> {
    const paths = await mentionedPaths(input, this.#lathe.workspace);
    const files = paths.length > 0 ? yield* this.#read(paths, signal) : [];
    const resources = await mentionedResources(input, this.#lathe, signal);
    for (const message of resources.problems) yield { type: 'notice', level: 'warning', message };
    return [input, ...files, ...resources.parts, ...this.#shared.splice(0)];
  }

  /** `!command` is for the person only. `!!command` also goes to the model with the next prompt, as does `!!` alone. */
  async *#runTyped(input: string, signal: AbortSignal): AsyncGenerator<AgentEvent> {
    const isShared = input.startsWith('!!');
    if (!isShared || input.trim() !== '!!') {
      const outcome = yield* runTypedCommand(this.#lathe, input, signal);
      this.#lastOutput = outcome && ['\n\nThe user ran a command:\n', ...toParts(outcome.llmContent)];
    }
    if (!isShared) return;
    this.#shared.push(...(this.#lastOutput ?? []));
    const message = this.#lastOutput
      ? 'The output goes to the model with your next message.'
      : 'No command has run yet, so there is no output to share.';
    yield { type: 'notice', level: 'info', message };
  }

  prompt(content: PartUnion[], signal: AbortSignal): AsyncIterable<AgentEvent> {
    return this.#agent.prompt(content, signal);
  }

  compact(signal: AbortSignal): AsyncIterable<AgentEvent> {
    return this.#agent.compact(signal);
  }

  clear(): void {
    this.#agent.clear();
  }

  get conversation(): Conversation {
    const agent = this.#agent instanceof Agent ? this.#agent : this.#agent.agent;
    return {
      ...(!(this.#agent instanceof Agent) && { id: this.#agent.id }),
      messages: agent.history.length,
      history: agent.history,
      usage: agent.spending,
      contextTokens: agent.contextTokens,
      contextWindow: agent.model.contextWindow,
      contextFiles: agent.contextFiles,
      resume: (id) => this.#resume(id),
      useModel: async (name, signal) => {
        const { settings, loaded } = this.#lathe;
        const choice = await chooseModel({ name, settings: settings.model, env: loaded.env }, signal);
        if (choice.status === 'none') throw new Error(choice.setup.problem);
        agent.model = choice.model;
        return choice.notes;
      },
    };
  }

  async #resume(id: string): Promise<readonly string[]> {
    const session = await openSession(this.#lathe, { model: this.#agent.model, resume: { id } });
    if (!(this.#agent instanceof Agent)) await this.#agent.close();
    this.#agent = session;
    return session.notes;
  }

  async *#read(paths: readonly string[], signal: AbortSignal): AsyncGenerator<AgentEvent, PartUnion[]> {
    const call = { name: 'read_many_files', args: { paths } };
    const [outcome] = yield* runCalls(this.#lathe, [call], signal);
    if (outcome?.status !== 'success') return [];
    const { llmContent } = outcome;
    return ['\n\nContent of the files mentioned above:\n', ...(Array.isArray(llmContent) ? llmContent : [llmContent])];
  }
}
