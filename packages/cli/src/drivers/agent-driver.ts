import { Agent, type AgentEvent, type AgentLathe, openSession, type Session } from '@lathe/agent';
import { chooseModel, closestLevel, type Effort, efforts } from '@lathe/agent/models';
import { type Approver, type PartUnion, textOf } from '@lathe/core';
import { mentionedPaths } from '../mentions/mentioned-paths.js';
import { mentionedResources } from '../mentions/mentioned-resources.js';
import type { Conversation, Driver } from './driver.js';
import { runCalls, runTypedCommand } from './run-calls.js';

/** Sends input to a model: `@path` adds files, `!command` runs without the model. */
export class AgentDriver implements Driver {
  readonly placeholder = 'Ask for anything. @file adds a file, !command runs a command, / lists commands.';
  readonly #lathe: AgentLathe;
  #agent: Agent | Session;

  constructor(lathe: AgentLathe, agent: Agent | Session) {
    this.#lathe = lathe;
    this.#agent = agent;
  }

  get name(): string {
    return this.#agent.model.id;
  }

  async *submit(input: string, signal: AbortSignal): AsyncGenerator<AgentEvent> {
    if (input.startsWith('!')) {
      yield* runTypedCommand(this.#lathe, input, signal);
      return;
    }
    const paths = await mentionedPaths(input, this.#lathe.workspace);
    const parts: PartUnion[] = [input];
    if (paths.length > 0) parts.push(...(yield* this.#read(paths, signal)));
    const resources = await mentionedResources(input, this.#lathe, signal);
    for (const message of resources.problems) yield { type: 'notice', level: 'warning', message };
    parts.push(...resources.parts);
    yield* this.#agent.prompt(parts, signal);
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
      ...(!(this.#agent instanceof Agent) && { id: this.#agent.id, rewind: this.#agent }),
      messages: agent.history.length,
      contextTokens: agent.contextTokens,
      contextWindow: agent.model.contextWindow,
      spent: agent.spent,
      contextFiles: agent.contextFiles,
      resume: (id) => this.#resume(id),
      effort: describeEffort(agent),
      useModel: async (wanted, signal) => {
        const { name, effort } = splitEffort(wanted);
        const notes = name === '' ? [] : await this.#useModel(agent, name, signal);
        if (effort !== undefined) agent.effort = effort;
        const shown = describeEffort(agent);
        return shown === '' ? notes : [`Effort: ${shown}`, ...notes];
      },
    };
  }

  async #useModel(agent: Agent, name: string, signal: AbortSignal): Promise<string[]> {
    const { settings, loaded, home } = this.#lathe;
    const choice = await chooseModel({ name, settings: settings.model, env: loaded.env, home: home.path }, signal);
    if (choice.status === 'none') throw new Error(choice.setup.problem);
    agent.model = choice.model;
    return choice.notes;
  }

  async #resume(id: string): Promise<string[]> {
    const session = await openSession(this.#lathe, { model: this.#agent.model, resume: { id } });
    if (!(this.#agent instanceof Agent)) await this.#agent.close();
    this.#agent = session;
    return [...session.notes, ...recap(session)];
  }

  async *#read(paths: readonly string[], signal: AbortSignal): AsyncGenerator<AgentEvent, PartUnion[]> {
    const call = { name: 'read_many_files', args: { paths } };
    const [outcome] = yield* runCalls(this.#lathe, [call], signal, typedApprover(this.#lathe.approver));
    if (outcome?.status !== 'success') return [];
    const { llmContent } = outcome;
    return ['\n\nContent of the files mentioned above:\n', ...(Array.isArray(llmContent) ? llmContent : [llmContent])];
  }
}

/** The last word may be a level of effort. */
function splitEffort(text: string): { name: string; effort?: Effort } {
  const words = text.trim().split(/\s+/);
  const effort = efforts.find((each) => each === words.at(-1));
  return effort ? { name: words.slice(0, -1).join(' '), effort } : { name: text.trim() };
}

function describeEffort({ effort, model: { effortLevels } }: Agent): string {
  if (effort === undefined) return '';
  const used = effortLevels ? closestLevel(effort, effortLevels) : effort;
  if (used === undefined) return `${effort} (this model has no such setting)`;
  return used === effort ? effort : `${effort} (this model gets ${used})`;
}

/** A person who types the name of a file with keys has answered the question about it; not those about other places. */
function typedApprover(approver: Approver): Approver {
  return {
    decide: async (request, signal) =>
      request.isGrantable === 'by-rule' ? { outcome: 'once' } : approver.decide(request, signal),
  };
}

const maxRecapChars = 600;

/** The end of a resumed conversation, as a reminder for the person. */
export function recap({ agent }: Session): string[] {
  const answer = agent.history.findLast(({ role }) => role === 'model');
  if (!answer) return [];
  const text = textOf(answer.parts.filter(({ thought }) => !thought)).trim();
  const end = text.length > maxRecapChars ? `…${text.slice(-maxRecapChars)}` : text;
  return [`Resumed a conversation of ${agent.history.length} messages. The last answer was:`, end];
}
