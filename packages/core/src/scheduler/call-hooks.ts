import type { CallOutcome } from '../contract/call.js';
import { type PartListUnion, toParts } from '../contract/content.js';
import { ToolError } from '../contract/errors.js';
import type { CallState } from './call-state.js';
import { type ReadyCall, readyCall } from './prepare.js';

/**
 * Runs the person's own programs before and after calls. They run before the policy and do not replace it: they can refuse
 * a call, make Lathe ask about it, or change it (Lathe then checks it again); they cannot allow one.
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
  /** Why a person must be asked, also if rules and modes allow the call. */
  ask?: string;
  /** The parameters to use instead. */
  args?: unknown;
  /** For people: hooks that failed, and messages of hooks. */
  notices: readonly string[];
}

export interface AfterCall {
  /** More for the model to know about the result. */
  context?: string;
  /** For people. */
  notices: readonly string[];
}

/** The call after the hooks: what the policy checks, and why a person must be asked, if so. */
export async function askHooks(
  ready: ReadyCall,
  hooks: CallHooks,
  state: CallState,
  signal: AbortSignal,
): Promise<{ ready: ReadyCall; ask: string | undefined }> {
  const { call, tool, params } = ready;
  const said = await hooks.before({ callId: call.id, tool: tool.name, args: params }, signal);
  state.notify(said.notices);
  if (said.deny !== undefined) {
    const reason = `a hook refused it (${said.deny})`;
    state.record.verdict = { verdict: 'deny', reason };
    throw new ToolError('execution_denied', `${tool.name} was not run: ${reason}.`);
  }
  if (said.args === undefined) return { ready, ask: said.ask };
  const changed = await readyCall(call, tool, said.args);
  // Calls that change nothing run side by side; this one was taken for such a call.
  if (ready.isReadOnly && !changed.isReadOnly)
    throw new ToolError(
      'execution_denied',
      `${tool.name} was not run: a hook turned a call that changes nothing into one that does.`,
    );
  const repairs = [...ready.repairs, ...changed.repairs, 'a hook changed the parameters'];
  return { ready: { ...changed, repairs }, ask: said.ask };
}

/** The content with a remark behind it. */
export function addRemark(content: PartListUnion, remark: string | undefined): PartListUnion {
  if (remark === undefined) return content;
  return typeof content === 'string' ? `${content}\n\n${remark}` : [...toParts(content), { text: remark }];
}
