import { type PartListUnion, toParts } from '@lathe/core';
import type { Effort, Message, Model } from '../models/model.js';
import type { AgentEvent, RequestSpending } from './agent-event.js';
import type { AgentOptions, ContextFile } from './agent-options.js';
import { AgentState } from './agent-state.js';
import type { Budgets, Spending } from './budget.js';
import type { Inbox } from './inbox.js';
import { PromptRun } from './prompt-run.js';

/**
 * A model that works with tools: prompt → model → calls → model, until there is an answer. Keeps the conversation between
 * prompts. Everything it does is in the events it yields; it prints nothing.
 */
export class Agent {
  readonly #state: AgentState;
  #isBusy = false;

  constructor(options: AgentOptions) {
    this.#state = new AgentState(options);
  }

  get model(): Model {
    return this.#state.model;
  }

  /** Takes effect with the next request. */
  set model(model: Model) {
    this.#state.model = model;
  }

  /** How much the model thinks; undefined when the provider decides. */
  get effort(): Effort | undefined {
    return this.#state.effort;
  }

  /** Takes effect with the next request. */
  set effort(effort: Effort | undefined) {
    this.#state.effort = effort;
  }

  /** The conversation so far, every call paired with its result. */
  get history(): readonly Message[] {
    return this.#state.conversation.messages;
  }

  /** Tokens of the next request. */
  get contextTokens(): number {
    return this.#state.contextTokens();
  }

  /** The context files that the model has seen. */
  get contextFiles(): readonly ContextFile[] {
    return this.#state.options.context?.loaded ?? [];
  }

  /** What was spent so far. */
  get spending(): Spending {
    const { turns, milliseconds, usage, knownCost } = this.#state.budget;
    return { usage: { ...usage }, turns, milliseconds, ...(knownCost !== undefined && { cost: knownCost }) };
  }

  /** What may still be spent on tokens. */
  get budgetLeft(): Budgets {
    return this.#state.budget.left();
  }

  /**
   * Works on a prompt until there is an answer, a limit is reached or `signal` is aborted; the last event is
   * `prompt-end`. Never throws because of a model or a tool. The work stops when the caller stops reading.
   */
  prompt(content: PartListUnion, signal: AbortSignal): AsyncGenerator<AgentEvent> {
    const parts = toParts(content);
    // Files and output that the prompt mentions come after it.
    this.#state.options.onPrompt?.(parts[0]?.text ?? '');
    const events = this.#exclusively(signal, (run) => run.work(parts));
    return this.#state.options.trace?.watch(events, this.model) ?? events;
  }

  /** Works on the messages in the inbox, as `prompt` does on a prompt. */
  hear(signal: AbortSignal): AsyncGenerator<AgentEvent> {
    const events = this.#exclusively(signal, (run) => run.work());
    return this.#state.options.trace?.watch(events, this.model) ?? events;
  }

  /** Reports for this agent that no person wrote. */
  get inbox(): Inbox {
    return this.#state.inbox;
  }

  /** Counts what somebody who works for this agent has spent. */
  charge({ request, requestCost }: RequestSpending): void {
    this.#state.budget.add(request, requestCost);
  }

  /**
   * Adds to the prompt that the agent works on: the model receives it with its next request. False if there is no work, or
   * if it ended before.
   */
  steer(content: PartListUnion): Promise<boolean> {
    if (!this.#isBusy) return Promise.resolve(false);
    return new Promise((settle) => {
      this.#state.additions.push({ parts: toParts(content), settle });
      this.#state.inbox.wake();
    });
  }

  /** Shortens the history now, rather than when the window is nearly full. */
  compact(signal: AbortSignal): AsyncGenerator<AgentEvent> {
    return this.#exclusively(signal, (run) => run.compact('manual'));
  }

  /** Starts a new conversation, or continues from an earlier state of this one. */
  clear(history: readonly Message[] = []): void {
    if (this.#isBusy) throw new Error('The agent is still working');
    this.#state.clear(history);
  }

  async *#exclusively(
    signal: AbortSignal,
    work: (run: PromptRun) => AsyncGenerator<AgentEvent>,
  ): AsyncGenerator<AgentEvent> {
    if (this.#isBusy) throw new Error('The agent is still working on another prompt');
    this.#isBusy = true;
    const run = new PromptRun(this.#state, signal);
    try {
      yield* work(run);
    } finally {
      run.close();
      this.#isBusy = false;
    }
  }
}
