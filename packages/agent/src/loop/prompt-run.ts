import { type Part, textOf } from '@lathe/core';
import { type HookAnswer } from '@lathe/core/host';
import type { Message, ModelIdentity, Usage } from '../models/model.js';
import { ModelError } from '../models/model-error.js';
import type { AgentEvent, PromptEnd, RequestSpending } from './agent-event.js';
import type { AgentState } from './agent-state.js';
import { askModel, EndlessAnswer, type ModelAnswer } from './ask-model.js';
import { addUsage, noUsage, timeMessage } from './budget.js';
import { compactHistory } from './compaction.js';
import { answerText, callsOf, saysNothing } from './conversation.js';
import { runCalls } from './run-calls.js';

type Events<R = void> = AsyncGenerator<AgentEvent, R>;
/** Why to stop, or `undefined` to continue with another turn. */
type Ending = Pick<PromptEnd, 'reason' | 'message'> | undefined;

/** The rest of the window is left free for the answer. */
const fullAt = 0.8;
/** A shorter history is useless; a model with a smaller window reports an error. */
const leastHistory = 500;
const maxEmptyAnswers = 2;
const maxStopHooks = 3;
const maxForcedCompactions = 2;

/** The work on one prompt. */
export class PromptRun {
  readonly #state: AgentState;
  readonly #outer: AbortSignal;
  readonly #controller = new AbortController();
  readonly #signal = this.#controller.signal;
  readonly #abort: () => void;
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #usage: Usage = { ...noUsage };
  readonly #before: { cost: number; unpriced: number };
  #modelMs = 0;
  #turns = 0;
  #text = '';
  #emptyAnswers = 0;
  #stopHooks = 0;
  #forcedCompactions = 0;

  constructor(state: AgentState, signal: AbortSignal) {
    this.#state = state;
    this.#before = { cost: state.budget.cost, unpriced: state.budget.unpriced };
    this.#outer = signal;
    this.#abort = () => this.#controller.abort(signal.reason);
    signal.addEventListener('abort', this.#abort, { once: true });
    if (signal.aborted) this.#abort();
    const { milliseconds } = state.budget.limits;
    if (milliseconds === undefined) return;
    const left = Math.max(0, milliseconds - state.budget.milliseconds);
    this.#timer = setTimeout(() => this.#controller.abort(new Error('out of time')), Math.min(left, longestTimer));
  }

  /** Aborts what still runs. Also called when the reader stopped early. */
  close(): void {
    this.#outer.removeEventListener('abort', this.#abort);
    clearTimeout(this.#timer);
    this.#controller.abort(new Error('the prompt has ended'));
    this.#state.budget.milliseconds += performance.now() - this.#startedAt;
    this.#state.conversation.settle();
    for (const { settle } of this.#state.additions.splice(0)) settle(false);
  }

  /** Without `parts`, works on the messages in the inbox. */
  async *work(parts?: Part[]): Events {
    yield { type: 'prompt-start', parts: parts ?? [] };
    let ending: Ending;
    try {
      ending = parts && (yield* this.#begin(parts));
      while (!ending) {
        this.#signal.throwIfAborted();
        yield* this.#hear();
        ending = (await this.#state.stopBefore()) ?? (yield* this.#turn());
        if (ending?.reason === 'done' && (await this.#state.hasMore(this.#signal))) ending = undefined;
      }
    } catch (error) {
      ending = this.#explain(error);
    }
    const durationMs = Math.round(performance.now() - this.#startedAt);
    const modelMs = Math.round(this.#modelMs);
    const end = { ...ending, text: this.#text, turns: this.#turns, usage: this.#usage, durationMs, modelMs };
    yield { type: 'prompt-end', end: { ...end, ...this.#cost() } };
  }

  #cost(): { cost?: number } {
    const { budget } = this.#state;
    return budget.unpriced > this.#before.unpriced ? {} : { cost: budget.cost - this.#before.cost };
  }

  #charge(usage: Usage, model?: ModelIdentity): Promise<RequestSpending> {
    addUsage(this.#usage, usage);
    return this.#state.charge(usage, model);
  }

  async *compact(trigger: 'auto' | 'manual'): Events<boolean> {
    const { conversation, model, options } = this.#state;
    const answer = await options.hooks?.preCompact(trigger, this.#signal);
    yield* noticesOf(answer);
    if (answer?.block !== undefined && trigger === 'manual') {
      yield notice('warning', `A hook stopped the compaction: ${answer.block}`);
      return false;
    }
    const tokensBefore = this.#state.contextTokens();
    yield { type: 'compaction-start', contextTokens: tokensBefore };
    const room = Math.min(model.contextWindow * fullAt - this.#state.overheadTokens(), conversation.tokens);
    const tokens = Math.max(room / 2, leastHistory);
    const writer = options.sideModel ?? model;
    const stop = await this.#state.stopBefore(writer);
    const { method, history, notices, usage, answeredBy } = await compactHistory(
      conversation.messages,
      {
        tokens,
        model: stop ? undefined : this.#state.traced(writer),
        refuses: (fallback) => this.#state.refusal(fallback),
        instructions: answer?.context,
      },
      this.#signal,
    );
    for (const message of notices) yield notice('warning', message);
    const spent = usage && (await this.#charge(usage, answeredBy ?? writer));
    this.#state.replaceHistory(history);
    const tokensAfter = this.#state.contextTokens();
    const kept = conversation.messages.slice();
    const compaction = { method, tokensBefore, tokensAfter, ...(spent && { spent }), history: kept };
    yield { type: 'compaction-end', compaction };
    return tokensAfter < tokensBefore;
  }

  /** Adds the prompt to the history, unless a hook rejects it. */
  async *#begin(parts: Part[]): Events<Ending> {
    const { conversation, options, loops } = this.#state;
    loops.reset();
    const answer = await options.hooks?.promptSubmit(textOf(parts), this.#signal);
    yield* noticesOf(answer);
    if (answer?.block !== undefined)
      return { reason: 'blocked', message: `A hook rejected the prompt: ${answer.block}` };
    const isFirst = conversation.messages.length === 0;
    const context = await (isFirst ? options.context?.opening() : options.context?.changed());
    for (const each of context?.notices ?? []) yield { type: 'notice', ...each };
    const unseen = this.#state.unseenMedia.notice(parts, this.#state.model);
    if (unseen !== undefined) yield notice('warning', unseen);
    const after = [answer?.context, options.remarks?.()].flatMap(textPart);
    const before = textPart(context?.text);
    yield added(conversation.addUser([...before, ...parts, ...after], before.length));
    return undefined;
  }

  /** Adds to the history what the person has sent since the last request, unless a hook rejects it. */
  async *#hear(): Events {
    const { additions, conversation, inbox, options } = this.#state;
    for (const text of inbox.take()) yield added(conversation.addUser([{ text }], -1));
    for (let next = additions.shift(); next; next = additions.shift()) {
      const answer = await options.hooks?.promptSubmit(textOf(next.parts), this.#signal);
      yield* noticesOf(answer);
      if (answer?.block === undefined) yield added(conversation.addUser([...next.parts, ...textPart(answer?.context)]));
      else yield notice('warning', `A hook rejected the message: ${answer.block}`);
      next.settle(true);
    }
  }

  async *#turn(): Events<Ending> {
    const { budget, model } = this.#state;
    if (this.#state.isNearlyFull(model.contextWindow * fullAt)) {
      yield* this.compact('auto');
      this.#state.noteCompaction();
      // The summary may have used up what was left.
      return undefined;
    }
    this.#turns += 1;
    budget.turns += 1;
    yield { type: 'turn-start', turn: budget.turns };
    const answer = yield* this.#ask();
    if (!answer) return undefined;
    return callsOf(answer.message).length > 0 ? yield* this.#call(answer) : yield* this.#finish(answer);
  }

  /** Asks the model. Returns `undefined` when the request was too long and the history was shortened for a retry. */
  async *#ask(): Events<ModelAnswer | undefined> {
    const { conversation, effort, model, options } = this.#state;
    const partial = { text: '' };
    const startedAt = performance.now();
    let isOver = false;
    try {
      const { system, maxOutputTokens } = options;
      const request = {
        system,
        history: conversation.messages.slice(),
        tools: this.#state.tools(),
        ...(maxOutputTokens !== undefined && { maxOutputTokens }),
        ...(effort !== undefined && { effort }),
        refuses: (fallback: ModelIdentity) => this.#state.refusal(fallback),
      };
      const observer = { begin: () => this.#state.loadPrices(), charge: (usage: Usage) => this.#charge(usage) };
      const answer = yield* askModel(this.#state.traced(model), request, partial, this.#signal, observer);
      isOver = true;
      return yield* this.#take(answer);
    } catch (error) {
      isOver = true;
      if (isTooLong(error) && this.#forcedCompactions++ < maxForcedCompactions && (yield* this.compact('auto')))
        return undefined;
      this.#keepPartial(partial.text);
      throw error;
    } finally {
      this.#modelMs += performance.now() - startedAt;
      if (!isOver) this.#keepPartial(partial.text);
    }
  }

  async *#take(answer: ModelAnswer): Events<ModelAnswer> {
    addUsage(this.#usage, answer.usage);
    const isSilent = saysNothing(answer.message);
    const message = isSilent ? answer.message : this.#state.conversation.addAnswer(answer.message);
    const report = await this.#state.spend(answer.usage, answer.model);
    if (!isSilent) yield added(message);
    yield { type: 'usage', usage: report };
    return { ...answer, message };
  }

  /** Keeps what the person saw of an interrupted answer in the history. */
  #keepPartial(text: string): void {
    if (text.trim() === '') return;
    const { conversation, model } = this.#state;
    this.#text = text;
    conversation.addAnswer({ role: 'model', parts: [{ text: `${text} [interrupted]` }], provider: model.provider });
  }

  /** The answer has calls: run them all, however the answer ended. */
  async *#call(answer: ModelAnswer): Events<Ending> {
    this.#emptyAnswers = 0;
    this.#text = answerText(answer.message) || this.#text;
    const verdict = yield* runCalls(this.#state, answer, this.#controller);
    if (verdict !== 'stop' || this.#state.options.skipLoopDetection) return undefined;
    return {
      reason: 'loop',
      message:
        'Stopped: the model made the same calls with the same results five times. Tell it what to do differently.',
    };
  }

  /** The answer has no calls: the work is done, unless there is a reason to continue. */
  async *#finish(answer: ModelAnswer): Events<Ending> {
    if (answer.reason === 'filter')
      return { reason: 'filter', message: 'The model or a safety filter refused to answer.' };
    if (saysNothing(answer.message)) {
      if (++this.#emptyAnswers > maxEmptyAnswers)
        return { reason: 'empty', message: `The model gave no answer, ${this.#emptyAnswers} times in a row.` };
      yield added(this.#state.conversation.addUser([{ text: emptyAnswer }], -1));
      return undefined;
    }
    this.#text = answerText(answer.message);
    if (answer.reason === 'length')
      return { reason: 'length', message: 'The answer was cut off at the output limit of the model.' };
    return (yield* this.#isHeldBack()) ? undefined : { reason: 'done' };
  }

  /** True when a Stop hook wants the model to continue; its reason is then in the history. */
  async *#isHeldBack(): Events<boolean> {
    const { hooks } = this.#state.options;
    if (!hooks) return false;
    const answer = await hooks.stop({ isContinued: this.#stopHooks > 0 }, this.#signal);
    yield* noticesOf(answer);
    if (answer.block === undefined) return false;
    if (++this.#stopHooks > maxStopHooks) {
      yield notice('warning', `A Stop hook still wants to continue after ${maxStopHooks} times; stopped anyway.`);
      return false;
    }
    yield added(this.#state.conversation.addUser([{ text: `[Stop hook] ${answer.block}` }], -1));
    return true;
  }

  #explain(error: unknown): NonNullable<Ending> {
    if (this.#outer.aborted) return { reason: 'aborted', message: 'Interrupted.' };
    if (this.#signal.aborted)
      return { reason: 'max-time', message: timeMessage(this.#state.budget.limits.milliseconds ?? 0) };
    if (error instanceof EndlessAnswer) return { reason: 'loop', message: error.message };
    if (error instanceof ModelError) return { reason: 'error', message: error.message };
    // A bug in Lathe or in a model adapter ends this prompt, not the program.
    process.emitWarning(error instanceof Error ? error : String(error));
    return { reason: 'error', message: `Unexpected error (${String(error)}).` };
  }
}

/** Node turns longer delays into one millisecond. */
const longestTimer = 2 ** 31 - 1;

const emptyAnswer = '[Your last answer was empty. Go on with the task, or say in words that it is done.]';

const added = (message: Message): AgentEvent => ({ type: 'message-add', message });
const notice = (level: 'info' | 'warning', message: string): AgentEvent => ({ type: 'notice', level, message });
const textPart = (text: string | undefined): Part[] => (text ? [{ text }] : []);
const isTooLong = (error: unknown): boolean => error instanceof ModelError && error.kind === 'too-long';

function* noticesOf(answer: HookAnswer | undefined): Generator<AgentEvent> {
  for (const message of answer?.notices ?? []) yield notice('warning', message);
}
