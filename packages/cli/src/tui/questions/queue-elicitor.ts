import type { Elicitation, ElicitationAnswer } from '@lathe/core/mcp';
import type { Io } from '../../command-line/io.js';
import { elicit, quoted } from '../../mcp/elicit.js';
import { startBrowser } from '../../mcp/open-browser.js';
import type { QuestionQueue } from './question-queue.js';

/** Puts the questions of MCP servers into the question queue. */
export function queueElicitor(
  queue: QuestionQueue,
  io: Io,
): (request: Elicitation, signal: AbortSignal) => Promise<ElicitationAnswer> {
  return (request, signal) =>
    elicit(request, {
      readField: (question) => queue.askField(question, signal),
      openPage: (url) => startBrowser(url, io),
      confirm: async ({ server, message, action, content }) => {
        const prompt = `${action}\n${content}\n\nMessage from the server:\n${quoted(message)}`;
        const proposal = {
          confirmation: { type: 'info' as const, title: `The MCP server "${server}" asks`, prompt },
          reason: 'a server wants something from you',
          isGuarded: true as const,
        };
        return (await queue.consent(proposal, signal)).outcome === 'once';
      },
    });
}
