import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ApprovalRequest, Approver, Decision } from '@lathe/core';
import { untilAborted, visibleText } from '@lathe/core/host';
import { answerOptions } from '../drivers/answer-options.js';
import { isToolQuestion } from '../drivers/approval-answers.js';
import { countingApprover } from './run-headless.js';
import { asObject, type Json } from './stream-messages.js';

/** The names of our scopes on the wire. */
const destinations = { session: 'session', project: 'projectSettings', user: 'userSettings' } as const;

/** Asks the program on the other end of stdin and stdout about calls, with `can_use_tool`. */
export class PermissionRequests implements Approver {
  /** The program has said that it answers. */
  canAsk = false;
  /** Ends the work in progress. */
  interrupt: () => void = () => undefined;
  readonly send: (message: object) => void;
  /** Decides what the program cannot answer. */
  readonly unattended = countingApprover();
  readonly #waiting = new Map<unknown, (response: Json | undefined) => void>();

  constructor(send: (message: object) => void) {
    this.send = send;
  }

  decide: Approver['decide'] = async (request, signal) => {
    const response = this.canAsk && !isToolQuestion(request) ? await this.#ask(request, signal) : undefined;
    return response ? decisionOf(response, request, this.interrupt) : this.unattended.decide(request, signal);
  };

  /** Takes an answer. One that nobody waits for is ignored. */
  answer(response: Json): undefined {
    this.#waiting.get(response['request_id'])?.(response);
  }

  /** Nobody answers any more. */
  close(): void {
    this.canAsk = false;
    for (const settle of this.#waiting.values()) settle(undefined);
  }

  async #ask(request: ApprovalRequest, signal: AbortSignal): Promise<Json | undefined> {
    const id = randomUUID();
    const answered = new Promise<Json | undefined>((settle) => this.#waiting.set(id, settle));
    this.send({ type: 'control_request', request_id: id, request: questionOf(request) });
    try {
      return await untilAborted(answered, signal);
    } catch (error) {
      this.send({ type: 'control_cancel_request', request_id: id });
      throw error;
    } finally {
      this.#waiting.delete(id);
    }
  }
}

function questionOf(request: ApprovalRequest): object {
  const { tool: tool_name, callId: tool_use_id, args: input, reason: decision_reason, description } = request;
  const { title, warnings } = request.confirmation;
  const about = { decision_reason, description, title, warnings: warnings?.map(visibleText), blocked_path: null };
  const permission_suggestions = grantsOf(request).map(({ suggestion }) => suggestion);
  const choices = request.confirmation.choices?.map(({ id, label }) => ({ id, label: visibleText(label) }));
  return { subtype: 'can_use_tool', tool_name, tool_use_id, input, permission_suggestions, choices, ...about };
}

/** The ways to say "always", as they are shown. */
function grantsOf(request: ApprovalRequest): { decision: Decision; suggestion: object }[] {
  const { rules = [], exactRules = [] } = request.confirmation;
  return answerOptions(request).flatMap(({ decide }) => {
    const decision = decide();
    if (decision.outcome !== 'always') return [];
    const [saved, destination] = [decision.isExact ? exactRules : rules, destinations[decision.scope]];
    return [{ decision, suggestion: { type: 'addRules', rules: saved.map(ruleOf), behavior: 'allow', destination } }];
  });
}

function decisionOf({ subtype, error, response }: Json, request: ApprovalRequest, interrupt: () => void): Decision {
  const { behavior, message, interrupt: isInterrupt, choice, updatedInput, updatedPermissions } = asObject(response);
  const options = answerOptions(request);
  const chosen = options.find(({ id }) => id.startsWith('choice:') && id.slice('choice:'.length) === choice);
  const yes = choice === undefined ? options[0] : chosen;
  if (subtype !== 'success' || behavior !== 'allow' || !yes) {
    if (isInterrupt === true) interrupt();
    const problem = yes ? undefined : 'The answer is not one of the choices.';
    const words = [message, error, problem].find((each) => typeof each === 'string' && each !== '');
    return { outcome: 'deny', ...(typeof words === 'string' && { message: words }) };
  }
  // Only what was asked about may run.
  if (updatedInput !== undefined && !isDeepStrictEqual(updatedInput, request.args))
    return { outcome: 'deny', message: 'The answer changes the arguments of the call, which is not possible.' };
  // An answer can save the rules that it was shown, and no others.
  const wanted = Array.isArray(updatedPermissions) ? updatedPermissions : [];
  const grant = grantsOf(request).find(({ suggestion }) => wanted.some((each) => isDeepStrictEqual(each, suggestion)));
  return grant?.decision ?? yes.decide();
}

/** `tool(spec)` → its two parts. */
function ruleOf(rule: string): { toolName: string; ruleContent?: string } {
  const [, toolName = rule, ruleContent] = /^([^(]+)\((.*)\)$/s.exec(rule) ?? [];
  return { toolName, ...(ruleContent !== undefined && { ruleContent }) };
}
