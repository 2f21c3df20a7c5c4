import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type ApprovalRequest, type Approver, type Decision, denyAll } from '@lathe/core';
import { untilAborted } from '@lathe/core/host';
import { answerOptions } from '../drivers/answer-options.js';
import { isToolQuestion } from '../drivers/approval-answers.js';
import { asObject, type Json } from './stream-messages.js';

/** The names of our scopes on the wire. */
const destinations = { session: 'session', project: 'projectSettings', user: 'userSettings' } as const;

/** Asks the program on the other end of stdin and stdout about calls, with `can_use_tool`. */
export class PermissionRequests implements Approver {
  /** The program has said that it answers. */
  canAsk = false;
  /** How many questions nobody could answer. */
  unanswered = 0;
  /** Ends the work in progress. */
  interrupt: () => void = () => undefined;
  readonly send: (message: object) => void;
  readonly #waiting = new Map<unknown, (response: Json | undefined) => void>();

  constructor(send: (message: object) => void) {
    this.send = send;
  }

  decide: Approver['decide'] = async (request, signal) => {
    const isQuestion = isToolQuestion(request);
    const response = this.canAsk && !isQuestion ? await this.#ask(request, signal) : undefined;
    if (response) return this.#decisionOf(response, request);
    if (!isQuestion) this.unanswered += 1;
    return denyAll.decide(request, signal);
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
    this.send({ type: 'control_request', request_id: id, request: this.#question(request) });
    try {
      return await untilAborted(answered, signal);
    } catch (error) {
      this.send({ type: 'control_cancel_request', request_id: id });
      throw error;
    } finally {
      this.#waiting.delete(id);
    }
  }

  #question(request: ApprovalRequest): object {
    const { tool: tool_name, callId: tool_use_id, args: input, reason: decision_reason, description } = request;
    const about = { decision_reason, description, title: request.confirmation.title, blocked_path: null };
    const permission_suggestions = this.#grants(request).map(({ suggestion }) => suggestion);
    return { subtype: 'can_use_tool', tool_name, tool_use_id, input, permission_suggestions, ...about };
  }

  /** The ways to say "always", as they are shown. */
  #grants(request: ApprovalRequest): { decision: Decision; suggestion: object }[] {
    const rules = (request.confirmation.rules ?? []).map(ruleOf);
    return answerOptions(request).flatMap(({ decide, isLasting }) => {
      const decision = decide();
      if (!isLasting || decision.outcome !== 'always') return [];
      const suggestion = { type: 'addRules', rules, behavior: 'allow', destination: destinations[decision.scope] };
      return [{ decision, suggestion }];
    });
  }

  #decisionOf({ subtype, error, response }: Json, request: ApprovalRequest): Decision {
    const { behavior, message, interrupt, updatedInput, updatedPermissions } = asObject(response);
    const [yes] = answerOptions(request);
    if (subtype !== 'success' || behavior !== 'allow' || !yes) {
      if (interrupt === true) this.interrupt();
      const words = [message, error].find((each) => typeof each === 'string' && each !== '');
      return { outcome: 'deny', ...(typeof words === 'string' && { message: words }) };
    }
    // Only what was asked about may run.
    if (updatedInput !== undefined && JSON.stringify(updatedInput) !== JSON.stringify(request.args))
      return { outcome: 'deny', message: 'The answer changes the arguments of the call, which is not possible.' };
    // An answer can save the rules that it was shown, and no others.
    const wanted = Array.isArray(updatedPermissions) ? updatedPermissions : [];
    const isWanted = ({ suggestion }: { suggestion: object }) =>
      wanted.some((each) => isDeepStrictEqual(each, suggestion));
    return this.#grants(request).find(isWanted)?.decision ?? yes.decide();
  }
}

/** `tool(spec)` → its two parts. */
function ruleOf(rule: string): { toolName: string; ruleContent?: string } {
  const [, toolName = rule, ruleContent] = /^([^(]+)\((.*)\)$/s.exec(rule) ?? [];
  return { toolName, ...(ruleContent !== undefined && { ruleContent }) };
}
