import { createInterface } from 'node:readline/promises';
import { type Elicitation, type ElicitationAnswer, visibleText } from '@lathe/core';
import type { Io } from '../command-line/io.js';
import { type Asker, elicit, quoted, readField } from '../mcp/elicit.js';
import { startBrowser } from '../mcp/open-browser.js';

/** Asks on the terminal what a server wants to know, one question at a time. */
export function terminalElicitor(io: Io): (request: Elicitation, signal: AbortSignal) => Promise<ElicitationAnswer> {
  let queue: Promise<unknown> = Promise.resolve();
  return (request, signal) => {
    const answer = queue.then(() => ask(request, io, signal));
    queue = answer.catch(() => undefined);
    return answer;
  };
}

async function ask(request: Elicitation, io: Io, signal: AbortSignal): Promise<ElicitationAnswer> {
  io.err(visibleText(`\nThe MCP server "${request.server}" asks:\n${quoted(request.message)}`));
  const terminal = createInterface({ input: io.stdin, output: process.stderr });
  const over = new AbortController();
  // A question to a closed terminal would wait for ever.
  terminal.once('close', () => over.abort());
  terminal.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const readLine = (question: string) =>
    terminal.question(question, { signal: AbortSignal.any([signal, over.signal]) });
  try {
    return await elicit(request, lineAsker(readLine, io));
  } finally {
    terminal.close();
  }
}

function lineAsker(readLine: (question: string) => Promise<string>, io: Io): Asker {
  return {
    async confirm({ offer, subject }) {
      io.err(visibleText(`${offer}\n${subject}`));
      return /^y(es)?$/i.test((await readLine('[y]es / [N]o: ')).trim());
    },
    async read({ field }) {
      const usual = field.fallback === undefined ? '' : ` [${visibleText(String(field.fallback))}]`;
      for (;;) {
        const answer = readField(field, await readLine(`${field.label}${usual}: `));
        if ('value' in answer) return answer.value;
        io.err(answer.problem);
      }
    },
    openPage: (url) => startBrowser(url, io),
  };
}
