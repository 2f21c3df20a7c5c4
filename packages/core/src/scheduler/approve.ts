import { type Pauses, withDeadline } from '../async/deadline.js';
import type { ApprovalRequest, Approver, AuditRecord } from '../contract/call.js';
import type { Confirmation, Decision, GrantScope } from '../contract/confirmation.js';
import { ToolError } from '../contract/errors.js';
import type { Target } from '../contract/target.js';
import { CallSlot, mustBeContained } from '../contract/tool-call.js';
import type { Exposure } from '../policy/exposure.js';
import type { Policy, Verdict } from '../policy/policy.js';
import type { Change } from '../tools/tools.js';
import { grantableRules } from './approval-text.js';
import { type ReadyCall, readyCall } from './prepare.js';

/** A person said no. That is not an error of the call: the model learns it and can try another way. */
export class Declined extends Error {
  override readonly name = 'Declined';
}

export interface ApprovalContext {
  policy: Policy;
  approver: Approver;
  /** The call now waits for a person. */
  onWait(call: ReadyCall): void;
  /** Collects what was shown and decided. */
  record: Partial<AuditRecord>;
  /** When the time that the call may take does not count. */
  pauses: Pauses;
  /** Why a person must be asked although the policy would allow the call. */
  ask?: string | undefined;
  /** What the session has read; `undefined` if that does not matter. */
  exposure?: Exposure | undefined;
}

/** What a call touches, as it was judged last. */
export const judgedTargets = new CallSlot<readonly Target[]>();

/** Step 5. Returns the call that may run: the same one, or the one a person made of it. Throws when it may not run. */
export async function approve(ready: ReadyCall, context: ApprovalContext, signal: AbortSignal): Promise<ReadyCall> {
  const { policy, approver, record } = context;
  const { call, tool, params } = ready;
  const { targets, confirmation } = await withDeadline(
    async (own) => {
      const touched = await tool.getTargets(params, call);
      // What is denied is not looked into: why a tool could not do it tells what is there.
      const denial = policy.denial({ tool: tool.name, targets: touched });
      return { targets: touched, confirmation: !denial && (await tool.shouldConfirmExecute(params, own, call)) };
    },
    { name: tool.name, ms: tool.timeoutMs, graceMs: 0, pauses: context.pauses },
    signal,
  );
  const judged = policy.judge({ tool: tool.name, isReadOnly: ready.isReadOnly, targets, confirmation });
  judgedTargets.set(call, targets);
  // What the sandbox contains sends nothing.
  const exposed = judged.isContained ? undefined : reasonOfExposure(targets, confirmation, context);
  const { isGrantable, isGuarded, isContained, ...verdict } = tightened(judged, context.ask ?? exposed);
  record.verdict = verdict;
  if (verdict.verdict === 'deny')
    throw new ToolError('execution_denied', `${ready.tool.name} was not run: ${verdict.reason}.`);
  if (isContained) mustBeContained.set(call, true);
  if (verdict.verdict === 'allow') return ready;

  signal.throwIfAborted();
  const question = confirmation === false ? plainQuestion(ready, verdict) : confirmation;
  const shown = exposed === undefined ? question : withWarning(question, exposed);
  context.onWait(ready);
  record.shown = shown;
  const decision = await approver.decide(
    {
      callId: call.id,
      tool: tool.name,
      displayName: tool.displayName,
      description: ready.description,
      args: params,
      confirmation: shown,
      reason: verdict.reason,
      ...(isGrantable && { isGrantable }),
      ...(isGuarded && { isGuarded }),
    },
    signal,
  );
  signal.throwIfAborted();
  record.decision = decision;
  return act(ready, shown, decision, context, signal);
}

/** Why a call asks because of what the session has read. */
function reasonOfExposure(
  targets: readonly Target[],
  confirmation: Confirmation | false,
  { policy, exposure }: ApprovalContext,
): string | undefined {
  const { rules = [], exactRules = [] } = confirmation || {};
  if (policy.mode === 'yolo' || exposure?.hasAccepted(exactRules)) return undefined;
  return exposure?.reasonToAsk(targets, rules);
}

/** No rule or mode takes away a question that is asked on behalf of someone else. */
function tightened(judged: Verdict, reason: string | undefined): Verdict {
  const isLess = judged.verdict === 'allow' || judged.isGrantable === true;
  return reason !== undefined && isLess ? { verdict: 'ask', reason, isGuarded: true } : judged;
}

async function act(
  call: ReadyCall,
  shown: Confirmation,
  decision: Decision,
  context: ApprovalContext,
  signal: AbortSignal,
): Promise<ReadyCall> {
  assertOffered(shown, decision);
  switch (decision.outcome) {
    case 'deny':
      throw new Declined(decision.message ?? '');
    case 'modify':
      // What a person rewrote is a new proposal: it is checked, judged and shown like the first one.
      return approve(await change(call, { type: 'content', content: decision.content }), context, signal);
    case 'always':
      await grant((decision.isExact ? shown.exactRules : shown.rules) ?? [], decision.scope, context);
      return choose(call, decision.choice);
    case 'once':
      return choose(call, decision.choice);
    default:
      // Only a program without types gets here. Anything that is not a yes is a no.
      throw notOffered();
  }
}

async function grant(
  rules: readonly string[],
  scope: GrantScope,
  { policy, exposure }: ApprovalContext,
): Promise<void> {
  if (rules.length > 0) await policy.grant(rules, scope);
  exposure?.accept(rules);
}

/** An answer to another question than the one that was shown is not an answer. */
function assertOffered(shown: Confirmation, decision: Decision): void {
  const isOffered =
    decision.outcome === 'modify'
      ? shown.type === 'edit' && shown.newContent !== undefined
      : decision.outcome === 'deny' ||
        decision.choice === undefined ||
        shown.choices?.some(({ id }) => id === decision.choice) === true;
  if (!isOffered) throw notOffered();
}

function notOffered(): ToolError {
  return new ToolError('execution_denied', 'Not run: the answer is not one of the offered ones.');
}

async function choose(call: ReadyCall, choice: string | undefined): Promise<ReadyCall> {
  return choice === undefined ? call : change(call, { type: 'choice', choice });
}

function change({ call, tool, params }: ReadyCall, what: Change): Promise<ReadyCall> {
  return readyCall(call, tool, tool.applyChange(params, what, call));
}

/** For a tool that would not have asked, when a rule does. */
function plainQuestion(call: ReadyCall, verdict: Verdict): Confirmation {
  return { type: 'info', title: `Run ${call.tool.displayName}?`, prompt: call.description, warnings: [verdict.reason] };
}

function withWarning(question: Confirmation, reason: string): Confirmation {
  const sentence = `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`;
  return { ...question, warnings: [...(question.warnings ?? []).filter((each) => each !== reason), sentence] };
}

/** Denies every question, for programs without a person to ask. */
export const denyAll: Approver = {
  decide: async (request) => {
    throw new ToolError(
      'execution_denied',
      `${request.tool} was not run: it needs a person's approval (${request.reason}) and nobody is there to give it.${advice(request)}`,
    );
  },
};

/** How to do without a person, where that is possible. */
export function advice(request: ApprovalRequest): string {
  if (!request.isGrantable) return '';
  const rules = grantableRules(request).join(', ') || 'a rule for it';
  const looser = request.confirmation.type === 'edit' ? '--approval-mode auto' : 'another --approval-mode';
  const mode = request.isGrantable === 'by-rule' ? '' : `, or with ${looser}`;
  return ` Allow it with ${rules} in permissions.allow or --allowed-tools${mode}.`;
}
