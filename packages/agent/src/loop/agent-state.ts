import type { FunctionDeclaration, Part } from '@lathe/core';
import { estimateTokens } from '../models/estimate-tokens.js';
import type { Effort, Model, ModelIdentity, Usage } from '../models/model.js';
import { canSee, inputKind } from '../models/wire/wire-format.js';
import type { RequestSpending, UsageReport } from './agent-event.js';
import type { AgentOptions } from './agent-options.js';
import { Budget, noUsage, unpriced } from './budget.js';
import { Conversation } from './conversation.js';
import { Inbox } from './inbox.js';
import { LoopGuard } from './loop-guard.js';

/** Something that the person adds while the agent works. */
interface Addition {
  parts: Part[];
  settle: (isDelivered: boolean) => void;
}

/** What an agent keeps from one prompt to the next. */
export class AgentState {
  readonly options: AgentOptions;
  readonly budget: Budget;
  readonly loops = new LoopGuard();
  readonly unseenMedia = new UnseenMedia();
  /** Reports that no person wrote. */
  readonly inbox: Inbox;
  /** Not seen by the model yet. */
  readonly additions: Addition[] = [];
  model: Model;
  effort: Effort | undefined;
  conversation: Conversation;
  /** The provider's count for a history, and our estimate for the same history. */
  #measured: { tokens: number; estimate: number } | undefined;
  #leastTokens = 0;
  #declared: { tools: readonly FunctionDeclaration[]; tokens: number } | undefined;

  constructor(options: AgentOptions) {
    this.options = options;
    this.model = options.model;
    this.effort = options.effort;
    this.conversation = new Conversation(options.history);
    this.budget = new Budget(options.budgets);
    this.inbox = new Inbox(options.onMessage);
  }

  clear(history: Conversation['messages']): void {
    this.conversation = new Conversation(history);
    this.loops.reset();
    this.#measured = undefined;
    this.#leastTokens = 0;
  }

  /** Whether there is something that the model has not seen. Waits for messages if nobody else does. */
  async hasMore(signal: AbortSignal): Promise<boolean> {
    const { additions, inbox } = this;
    if (additions.length === 0 && inbox.mustWait) await inbox.next(signal);
    return additions.length > 0 || inbox.hasMessages;
  }

  /** The model as it is asked: recorded, if anything is. */
  traced(model: Model): Model {
    return this.options.trace?.around(model) ?? model;
  }

  tools(): readonly FunctionDeclaration[] {
    return this.options.tools.declarations(this.model.contextWindow);
  }

  /** Tokens of the next request: what the provider counted last, plus our estimate of what was added since. */
  contextTokens(): number {
    const estimate = this.#estimate();
    if (!this.#measured) return estimate;
    const counted = this.#measured.tokens + this.conversation.tokens - this.#measured.estimate;
    // Some servers count only uncached tokens; the estimate is rarely that far off.
    return Math.max(counted, Math.round(estimate * 0.6));
  }

  #estimate(): number {
    return this.overheadTokens() + this.conversation.tokens;
  }

  /** Whether to shorten the history; not again right after that did not help. */
  isNearlyFull(limit: number): boolean {
    const tokens = this.contextTokens();
    return tokens > limit && tokens > this.#leastTokens * 1.1;
  }

  noteCompaction(): void {
    this.#leastTokens = this.contextTokens();
  }

  /** The tokens of the instructions and declarations. */
  overheadTokens(): number {
    const tools = this.tools();
    if (this.#declared?.tools !== tools) {
      const tokens = estimateTokens(this.options.system) + estimateTokens(JSON.stringify(tools));
      this.#declared = { tools, tokens };
    }
    return this.#declared.tokens;
  }

  /** Counts a request that `model` answered. */
  async charge(usage: Usage, model: ModelIdentity = this.model): Promise<RequestSpending> {
    const requestCost = await this.#costOf(usage, model);
    this.budget.add(usage, requestCost);
    return { request: usage, ...(requestCost !== undefined && { requestCost }) };
  }

  /** Counts the answer that now ends the history. */
  async spend(usage: Usage, answeredBy: ModelIdentity = this.model): Promise<UsageReport> {
    const { budget, conversation, model } = this;
    const spent = await this.charge(usage, answeredBy);
    if (!usage.isEstimate)
      this.#measured = { tokens: usage.inputTokens + usage.outputTokens, estimate: conversation.tokens };
    return {
      ...spent,
      model: answeredBy.id,
      session: { ...budget.usage },
      ...(budget.knownCost !== undefined && { sessionCost: budget.knownCost }),
      contextTokens: this.contextTokens(),
      contextWindow: model.contextWindow,
    };
  }

  /** While an answer arrives there is time for it. */
  loadPrices(): void {
    this.#costOf(noUsage, this.model).catch(() => undefined);
  }

  /** Why no request to this model is allowed, if so. */
  async stopBefore(model: ModelIdentity = this.model): Promise<ReturnType<Budget['exceeded']>> {
    const exceeded = this.budget.exceeded();
    if (exceeded) return exceeded;
    const refusal = await this.refusal(model);
    return refusal === undefined ? undefined : { reason: 'max-cost', message: `Stopped: ${refusal}` };
  }

  /** Why this model must not be asked, if so: a limit of cost needs a price before anything is spent. */
  async refusal(model: ModelIdentity): Promise<string | undefined> {
    if (this.budget.limits.cost === undefined) return undefined;
    const cost = await this.#costOf({ ...noUsage, inputTokens: 1, outputTokens: 1 }, model);
    return cost === undefined ? unpriced : undefined;
  }

  async #costOf(usage: Usage, model: ModelIdentity): Promise<number | undefined> {
    return this.options.prices?.costOf(usage, model);
  }

  /** Assumes that the provider's count keeps its proportion to our estimate. */
  replaceHistory(messages: Conversation['messages']): void {
    const share = this.contextTokens() / this.#estimate();
    this.conversation.replace(messages);
    if (!this.#measured) return;
    this.#measured = { tokens: Math.round(this.#estimate() * share), estimate: this.conversation.tokens };
  }
}

/** The names of media in `model.inputs`. */
const inputNames = { images: 'image', audio: 'audio', video: 'video', pdf: 'pdf' } as const;

/** Says once for each model and kind of media that the model does not get it, and how to change that. */
class UnseenMedia {
  readonly #told = new Set<string>();

  /** A sentence for people when these parts have media that the model does not accept; `undefined` after the first time. */
  notice(parts: readonly Part[], { id, supports }: Model): string | undefined {
    const types = parts.flatMap((part) => [part, ...(part.functionResponse?.parts ?? [])]).flatMap(typeOf);
    const kinds = types.filter((type) => !canSee(type, supports)).flatMap((type) => inputKind(type) ?? []);
    const fresh = [...new Set(kinds)].filter((kind) => !this.#told.has(`${id} ${kind}`));
    for (const kind of fresh) this.#told.add(`${id} ${kind}`);
    if (fresh.length === 0) return undefined;
    const names = fresh.map((kind) => inputNames[kind]);
    return `${id} is not known to accept ${names.join(' and ')} input, so it was left out. If it does, add it to the setting model.inputs: ${JSON.stringify(names)}.`;
  }
}

function typeOf({ inlineData, fileData }: Part): string[] {
  const type = inlineData?.mimeType ?? fileData?.mimeType;
  return type === undefined ? [] : [type];
}
