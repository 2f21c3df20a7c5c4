import { createInterface } from 'node:readline/promises';
import { visibleText } from '@lathe/core/host';
import { type Elicitation, type ElicitationAnswer } from '@lathe/core/mcp';
import type { Io } from '../command-line/io.js';
import { elicit, type Prompter, parseField, quoted } from '../mcp/elicit.js';
import { startBrowser } from '../mcp/open-browser.js';

/** Puts the questions of MCP servers to the person on the terminal, one at a time. */
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
  const closed = new AbortController();
  // A question to a closed terminal would never settle.
  terminal.once('close', () => closed.abort());
  terminal.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const readLine = (question: string) =>
    terminal.question(question, { signal: AbortSignal.any([signal, closed.signal]) });
  try {
    return await elicit(request, linePrompter(readLine, io));
  } finally {
    terminal.close();
  }
}

function linePrompter(readLine: (question: string) => Promise<string>, io: Io): Prompter {
  return {
    async confirm({ action, content }) {
      io.err(visibleText(`${action}\n${content}`));
      return /^y(es)?$/i.test((await readLine('[y]es / [N]o: ')).trim());
    },
    async readField({ field }) {
      const shown = field.defaultValue === undefined ? '' : ` [${visibleText(String(field.defaultValue))}]`;
      for (;;) {
        const answer = parseField(field, await readLine(`${field.label}${shown}: `));
        if ('value' in answer) return answer.value;
        io.err(answer.problem);
      }
    },
    openPage: (url) => startBrowser(url, io),
  };
}
