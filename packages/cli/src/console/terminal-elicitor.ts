import { createInterface } from 'node:readline/promises';
import { type Elicitation, type ElicitationAnswer, visibleText } from '@lathe/core';
import type { Io } from '../io.js';
import { startBrowser } from '../mcp/open-browser.js';
import { type Field, type FieldValue, fieldsOf } from './elicitation-form.js';

type Ask = (question: string) => Promise<string>;

/** Asks on the terminal what a server wants to know. Nothing is sent or opened before the person has said yes to it. */
export function terminalElicitor(io: Io): (request: Elicitation, signal: AbortSignal) => Promise<ElicitationAnswer> {
  let queue: Promise<unknown> = Promise.resolve();
  return (request, signal) => {
    const answer = queue.then(() => elicit(request, io, signal));
    queue = answer.catch(() => undefined);
    return answer;
  };
}

async function elicit(request: Elicitation, io: Io, signal: AbortSignal): Promise<ElicitationAnswer> {
  io.err(visibleText(`\nThe MCP server "${request.server}" asks: ${request.message}`));
  const terminal = createInterface({ input: io.stdin, output: process.stderr });
  const over = new AbortController();
  // A question to a closed terminal would wait for ever.
  terminal.once('close', () => over.abort());
  const ask: Ask = (question) => terminal.question(question, { signal: AbortSignal.any([signal, over.signal]) });
  try {
    return request.type === 'url' ? await offerPage(request.url, ask, io) : await fillIn(request.schema, ask, io);
  } catch {
    return { action: 'cancel' };
  } finally {
    terminal.close();
  }
}

async function offerPage(url: string, ask: Ask, io: Io): Promise<ElicitationAnswer> {
  io.err(`It wants you to open this page:\n  ${visibleText(url)}`);
  if (!isYes(await ask('Open it? [y]es / [N]o: '))) return { action: 'decline' };
  startBrowser(new URL(url), io);
  return { action: 'accept' };
}

async function fillIn(schema: Readonly<Record<string, unknown>>, ask: Ask, io: Io): Promise<ElicitationAnswer> {
  const fields = fieldsOf(schema);
  if (!fields) {
    io.err('It asks for something that is no form, and was refused.');
    return { action: 'decline' };
  }
  const content: Record<string, FieldValue> = {};
  for (const field of fields) {
    const value = await askField(field, ask, io);
    if (value !== undefined) content[field.name] = value;
  }
  io.err(visibleText(`This would be sent: ${JSON.stringify(content)}`));
  return isYes(await ask('Send it? [y]es / [N]o: ')) ? { action: 'accept', content } : { action: 'decline' };
}

async function askField(
  { label, isRequired, fallback, read }: Field,
  ask: Ask,
  io: Io,
): Promise<FieldValue | undefined> {
  const usual = fallback === undefined ? '' : ` [${visibleText(String(fallback))}]`;
  for (;;) {
    const typed = await ask(`${label}${usual}: `);
    if (typed === '' && (fallback !== undefined || !isRequired)) return fallback;
    const answer = read(typed);
    if ('value' in answer) return answer.value;
    io.err(answer.problem);
  }
}

function isYes(answer: string): boolean {
  return /^y(es)?$/i.test(answer.trim());
}
