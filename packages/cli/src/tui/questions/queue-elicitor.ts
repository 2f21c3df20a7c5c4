import type { Elicitation, ElicitationAnswer } from '@lathe/core';
import type { Io } from '../../command-line/io.js';
import { elicit, quoted } from '../../mcp/elicit.js';
import { startBrowser } from '../../mcp/open-browser.js';
import type { QuestionQueue } from './question-queue.js';

/** Puts what a server wants to know into the queue of questions, one after the other. */
export function queueElicitor(
  queue: QuestionQueue,
  io: Io,
): (request: Elicitation, signal: AbortSignal) => Promise<ElicitationAnswer> {
  return (request, signal) =>
    elicit(request, {
      read: (question) => queue.askField(question, signal),
      openPage: (url) => startBrowser(url, io),
      confirm: async ({ server, message, offer, subject }) => {
        const prompt = `${offer}\n${subject}\n\nIt says:\n${quoted(message)}`;
        const proposal = {
          confirmation: { type: 'info' as const, title: `The MCP server "${server}" asks`, prompt },
          reason: 'what a server gets from you is yours to give',
        };
        return (await queue.consent(proposal, signal)).outcome === 'once';
      },
    });
}
