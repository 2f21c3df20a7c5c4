import {
  Agent,
  type AgentEvent,
  type AgentLathe,
  type OpenSessionOptions,
  openSession,
  type Session,
} from '@lathe/agent';
import { closestLevel, type Effort, efforts } from '@lathe/agent/models';
import { type PartUnion, toParts } from '@lathe/core';
import { mentionedResources } from '../mentions/mentioned-resources.js';
import { switchModel } from '../startup/open-model.js';
import type { Conversation, Driver } from './driver.js';
import { readMentioned } from './read-mentioned.js';
import { runTypedCommand } from './run-calls.js';

/** Connects an agent that gets reports with the screen, which is made later. */
export class MessageBell {
  listener: (() => void) | undefined;
  readonly ring = (): void => this.listener?.();
}

/** What a session has in common with one that is resumed in its place. */
type SessionOptions = Pick<OpenSessionOptions, 'budgets' | 'sideModel'>;

/** Sends input to a model: `@path` adds files, `!command` runs without the model. */
export class AgentDriver implements Driver {
  readonly placeholder = 'Ask for anything. @ for files, ! for commands, / for more';
  readonly #lathe: AgentLathe;
  #agent: Agent | Session;
  #lastOutput: PartUnion[] | undefined;
  /** Goes to the model with the prompt of a command. */
  attached: readonly PartUnion[] = [];
  /** Goes to the model with the next prompt. */
  readonly #shared: PartUnion[] = [];

  readonly #bell: MessageBell;
  readonly #sessionOptions: SessionOptions;

  constructor(
    lathe: AgentLathe,
    agent: Agent | Session,
    bell: MessageBell = new MessageBell(),
    sessionOptions: SessionOptions = {},
  ) {
    this.#lathe = lathe;
    this.#agent = agent;
    this.#bell = bell;
    this.#sessionOptions = sessionOptions;
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
    const files = yield* readMentioned(input, this.#lathe, signal);
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

  hear(signal: AbortSignal): AsyncIterable<AgentEvent> {
    return this.#agent.hear(signal);
  }

  get hasMessages(): boolean {
    return agentOf(this.#agent).inbox.hasMessages;
  }

  onMessage(listener: () => void): void {
    this.#bell.listener = listener;
  }

  prompt(content: PartUnion[], signal: AbortSignal): AsyncIterable<AgentEvent> {
    return this.#agent.prompt([...content, ...this.attached], signal);
  }

  compact(signal: AbortSignal): AsyncIterable<AgentEvent> {
    return this.#agent.compact(signal);
  }

  clear(): void {
    this.#agent.clear();
  }

  get conversation(): Conversation {
    const agent = agentOf(this.#agent);
    return {
      ...(!(this.#agent instanceof Agent) && { id: this.#agent.id, rewind: this.#agent }),
      messages: agent.history.length,
      history: agent.history,
      usage: agent.spending,
      contextTokens: agent.contextTokens,
      contextWindow: agent.model.contextWindow,
      contextFiles: agent.contextFiles,
      resume: (id) => this.#resume(id),
      effort: describeEffort(agent),
      useModel: async (wanted, signal) => {
        const { name, effort } = splitEffort(wanted);
        const notes = name === '' ? [] : await switchModel(this.#lathe, agent, name, signal);
        if (effort !== undefined) agent.effort = effort;
        const shown = describeEffort(agent);
        return shown === '' ? notes : [`Effort: ${shown}`, ...notes];
      },
    };
  }

  async #resume(id: string): Promise<readonly string[]> {
    const { model } = this.#agent;
    const options = { ...this.#sessionOptions, onMessage: this.#bell.ring, resume: { id } };
    const session = await openSession(this.#lathe, { model, ...options });
    // Their reports would reach nobody.
    await this.#lathe.subagents.background.stopAll();
    if (!(this.#agent instanceof Agent)) await this.#agent.close();
    this.#agent = session;
    return session.notes;
  }
}

const agentOf = (agent: Agent | Session): Agent => (agent instanceof Agent ? agent : agent.agent);

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
