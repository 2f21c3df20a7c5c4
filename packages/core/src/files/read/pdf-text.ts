import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { untilAborted } from '../../async/deadline.js';
import { ToolError } from '../../contract/errors.js';
import { type ReadableFile, readFully } from '../open-file.js';

/** Pages counted from 1, both included. */
export interface PageRange {
  first: number;
  last: number;
}

const maxPages = 20;
const maxPdfBytes = 100_000_000;
const timeoutMs = 30_000;

/** `"3"` or `"1-10"`; `undefined` when it is neither, or more than 20 pages. */
export function parsePages(pages: string): PageRange | undefined {
  const [, from, to] = /^\s*([1-9]\d{0,6})\s*(?:-\s*([1-9]\d{0,6})\s*)?$/.exec(pages) ?? [];
  if (from === undefined) return undefined;
  const [first, last] = [Number(from), Number(to ?? from)];
  return last >= first && last - first < maxPages ? { first, last } : undefined;
}

/** The text of some pages. A worker with its own memory limit parses the untrusted PDF, and can be terminated. */
export async function readPdfText(file: ReadableFile, pages: PageRange, signal: AbortSignal): Promise<string> {
  const size = Number(file.stat.size);
  if (size > maxPdfBytes)
    throw new ToolError(
      'file_too_large',
      `${file.path} has ${size} bytes; PDFs over ${maxPdfBytes} bytes are not read.`,
    );
  const bytes = new ArrayBuffer(size);
  await readFully(file.fd, Buffer.from(bytes), 0, size);
  return pdfTextOf(bytes, file.path, pages, signal);
}

/** The same for a buffer, which is transferred to the worker and unusable afterwards; `name` is for messages. */
export async function pdfTextOf(
  bytes: ArrayBuffer,
  name: string,
  pages: PageRange,
  signal: AbortSignal,
): Promise<string> {
  const answer = await parseInThread(bytes, pages, signal);
  if ('error' in answer) throw new ToolError('read_content_failure', `${name} cannot be read: ${answer.error}.`);
  if (pages.first > answer.total)
    throw new ToolError(
      'invalid_tool_params',
      `pages ${pages.first} is past the end: ${name} has ${answer.total} pages.`,
    );
  return answer.texts
    .map((text, index) => `[page ${pages.first + index} of ${answer.total}]\n${text.trimEnd()}\n`)
    .join('\n');
}

type Answer = { total: number; texts: string[] } | { error: string };

async function parseInThread(bytes: ArrayBuffer, pages: PageRange, signal: AbortSignal): Promise<Answer> {
  signal.throwIfAborted();
  const worker = new Worker(program, {
    eval: true,
    env: {},
    stdout: true,
    stderr: true,
    workerData: { library: findLibrary(), bytes, ...pages },
    transferList: [bytes],
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  let timer: NodeJS.Timeout | undefined;
  const answer = new Promise<Answer>((resolve) => {
    worker.once('message', resolve);
    worker.once('error', (error) => resolve({ error: error.message }));
    worker.once('exit', () => resolve({ error: 'its parser stopped' }));
    timer = setTimeout(() => resolve({ error: 'parsing it takes too long' }), timeoutMs);
  });
  try {
    return await untilAborted(answer, signal);
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}

function findLibrary(): string {
  try {
    return createRequire(import.meta.url).resolve('unpdf');
  } catch (cause) {
    const message = 'Reading the text of a PDF needs the package "unpdf", which is not installed.';
    throw new ToolError('read_content_failure', message, { cause });
  }
}

/** Runs in the worker; plain JavaScript, because it is not part of any bundle. */
const program = `
const { parentPort, workerData: { library, bytes, first, last } } = require('node:worker_threads');
const textOf = ({ items }) => items.map((item) => item.str + (item.hasEOL ? '\\n' : '')).join('');
const parse = async () => {
  const document = await require(library).getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 });
  const texts = [];
  for (let page = first; page <= Math.min(last, document.numPages); page++)
    texts.push(textOf(await (await document.getPage(page)).getTextContent()));
  return { total: document.numPages, texts };
};
parse().catch((error) => ({ error: String(error?.message ?? error) })).then((answer) => parentPort.postMessage(answer));
`;
