import type { CallOutcome } from '../contract/call.js';

/**
 * What a person's own programs have to say about calls. They stand before the policy, not in its place: they can refuse
 * a call, have it asked about, or change it (it is then checked and judged anew); they cannot allow one.
 */
export interface CallHooks {
  before(call: HookedCall, signal: AbortSignal): Promise<BeforeCall>;
  after(call: HookedCall, result: Pick<CallOutcome, 'llmContent' | 'error'>, signal: AbortSignal): Promise<AfterCall>;
}

export interface HookedCall {
  callId: string;
  tool: string;
  args: unknown;
}

export interface BeforeCall {
  /** Why the call must not run. */
  deny?: string;
  /** Why a person must be asked, whatever rules and modes say. */
  ask?: string;
  /** The parameters to use instead. */
  args?: unknown;
  /** For people: hooks that failed, or have something to say. */
  notices: readonly string[];
}

export interface AfterCall {
  /** More for the model to know about the result. */
  context?: string;
  /** For people. */
  notices: readonly string[];
}
