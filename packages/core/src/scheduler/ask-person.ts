import { type Pauses, untilAborted } from '../async/deadline.js';
import type { ApprovalRequest, Approver } from '../contract/call.js';
import type { Decision } from '../contract/confirmation.js';
import { ToolError } from '../contract/errors.js';
import type { Answer } from '../contract/tool-call.js';

/** Who asks, and what. */
export interface ToolQuestion
  extends Pick<ApprovalRequest, 'callId' | 'tool' | 'displayName' | 'description' | 'args'> {
  prompt: string;
  options: readonly string[];
}

/** Puts a question of a running tool to the person. */
export async function askPerson(
  { prompt, options, ...call }: ToolQuestion,
  approver: Approver,
  signal: AbortSignal,
): Promise<{ answer: Answer; decision?: Decision }> {
  signal.throwIfAborted();
  const confirmation: ApprovalRequest['confirmation'] = {
    type: 'info',
    title: `${call.displayName} asks`,
    prompt,
    isQuestion: true,
    ...(options.length > 0 && { choices: options.map((label, index) => ({ id: `${index}`, label })) }),
  };
  const request = { ...call, confirmation, reason: 'the tool needs an answer to go on' };
  try {
    const decision = await approver.decide(request, signal);
    return { answer: answerOf(decision, options), decision };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ToolError && error.type === 'execution_denied') return { answer: { status: 'nobody' } };
    throw error;
  }
}

/** A person who types instead of picking an option declines the options with a message. */
function answerOf(decision: Decision, options: readonly string[]): Answer {
  const text = textOfDecision(decision, options);
  return text === undefined ? { status: 'declined' } : { status: 'answered', text };
}

function textOfDecision(decision: Decision, options: readonly string[]): string | undefined {
  switch (decision.outcome) {
    case 'deny':
      return decision.message;
    case 'modify':
      return decision.content;
    case 'once':
    case 'always':
      return options.length === 0 ? 'yes' : options[Number(decision.choice ?? Number.NaN)];
  }
}

/**
 * Answers the questions of a running call. The person learns which tool wants it, and the time that the call may take
 * stops until the answer is there.
 */
export function midCall(approver: Approver, tool: string, pauses: Pauses): Approver {
  return {
    decide: (request, signal) => {
      const { confirmation } = request;
      const isOwn = confirmation.type === 'info' && confirmation.isQuestion === true;
      const warnings = [...(isOwn ? [] : [`The tool ${tool} wants this.`]), ...(confirmation.warnings ?? [])];
      const asked = { ...request, confirmation: { ...confirmation, ...(warnings.length > 0 && { warnings }) } };
      return pauses.during(() => untilAborted(approver.decide({ ...asked, isMidCall: true }, signal), signal));
    },
  };
}
