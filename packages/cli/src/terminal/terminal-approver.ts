import { type ApprovalRequest, type Approver, type Decision } from '@lathe/core';
import { approvalText, visibleText } from '@lathe/core/host';
import type { Io } from '../command-line/io.js';
import { askOnTerminal } from './terminal-question.js';

/** Asks on the terminal, one question at a time. Offers no "always", because the command ends after one call. Anything but a clear yes means no. */
export function terminalApprover(io: Io): Approver {
  let queue: Promise<unknown> = Promise.resolve();
  return {
    decide(request, signal) {
      const answer = queue.then(() => ask(request, io, signal));
      queue = answer.catch(() => undefined);
      return answer;
    },
  };
}

async function ask(request: ApprovalRequest, io: Io, signal: AbortSignal): Promise<Decision> {
  const { confirmation } = request;
  io.err(visibleText(`\n${approvalText(request)}`));
  const { choices = [] } = confirmation;
  const isQuestion = confirmation.type === 'info' && confirmation.isQuestion === true;
  choices.forEach(({ label }, index) => io.err(`  ${index + 1}  ${visibleText(label)}`));
  const answer = await askOnTerminal(promptFor(choices.length > 0, isQuestion), io, signal);
  const choice = choices[Number(answer) - 1];
  if (choice) return { outcome: 'once', choice: choice.id };
  if (isQuestion) return { outcome: 'deny', ...(answer !== '' && { message: answer }) };
  if (/^y(es)?$/i.test(answer) && choices.length === 0) return { outcome: 'once' };
  const message = answer.replace(/^no?\b[\s,:]*/i, '');
  return { outcome: 'deny', ...(message !== '' && { message }) };
}

function promptFor(hasChoices: boolean, isQuestion: boolean): string {
  if (isQuestion) return hasChoices ? 'number, or your answer: ' : 'your answer: ';
  return hasChoices ? 'number or [n]o: ' : '[y]es / [N]o: ';
}
