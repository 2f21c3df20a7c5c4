import { extname } from 'node:path';
import type { Part, PartUnion } from '../../contract/content.js';
import { ToolError } from '../../contract/errors.js';
import { type ReadableFile, readWhole } from '../open-file.js';
import { fileKindOf } from './file-kind.js';
import { readMedia } from './media.js';
import { maxNotebookBytes, renderNotebook } from './notebook.js';
import { parsePages, readPdfText } from './pdf-text.js';
import { readAt, readText, type TextSlice } from './read-text.js';

export interface ContentRequest {
  /** The first line, counted from 0, and the number of lines. */
  offset?: number | undefined;
  limit?: number | undefined;
  /** Pages of a PDF whose text is wanted. */
  pages?: string | undefined;
  maxLines: number;
  maxChars: number;
  /** For images, audio and video; by default the most that fits into a request. */
  maxMediaBytes?: number | undefined;
}

export type Content =
  | { type: 'text'; slice: TextSlice }
  /** An image, audio, video or PDF file. */
  | { type: 'media'; part: Part; kind: string }
  /** A document turned into text and images. */
  | { type: 'document'; parts: PartUnion[]; kind: string }
  /** Why nothing is shown. */
  | { type: 'note'; text: string };

/** Reads an open file by its kind: text, image, audio, video, PDF, notebook, or binary, which is not shown. */
export async function readContent(file: ReadableFile, request: ContentRequest, signal: AbortSignal): Promise<Content> {
  const head = await readAt(file, 0, request.maxChars);
  const kind = fileKindOf(head);
  if (request.pages !== undefined) return readPages(file, request.pages, kind.type === 'pdf', request, signal);
  switch (kind.type) {
    case 'image':
    case 'audio':
    case 'video':
    case 'pdf':
      return readMedia(file, kind, request.maxMediaBytes);
    case 'binary':
      return { type: 'note', text: binaryNote(file, kind.format) };
    case 'other':
      return (await readNotebook(file, request)) ?? readLines(file, head, request, signal);
  }
}

async function readLines(
  file: ReadableFile,
  head: Buffer,
  request: ContentRequest,
  signal: AbortSignal,
): Promise<Content> {
  const { offset = 0, limit = request.maxLines, maxChars } = request;
  const reading = await readText(file, head, { offset, limit, maxChars }, signal);
  if (reading.type === 'binary') return { type: 'note', text: binaryNote(file, 'binary file') };
  if (reading.type === 'text') return reading;
  const count = reading.total === 1 ? '1 line' : `${reading.total} lines`;
  throw new ToolError('invalid_tool_params', `offset ${offset} is past the end: ${file.path} has ${count}.`);
}

function binaryNote(file: ReadableFile, format: string): string {
  return `${file.path} is not text (${format}, ${file.stat.size} bytes) and is not shown.`;
}

/** A notebook is rendered, unless lines of its JSON are asked for. */
async function readNotebook(file: ReadableFile, request: ContentRequest): Promise<Content | undefined> {
  const isAsked = request.offset === undefined && request.limit === undefined;
  if (extname(file.path).toLowerCase() !== '.ipynb' || !isAsked || file.stat.size > maxNotebookBytes) return undefined;
  const json = await readWhole(file.fd, file.stat.size);
  const parts = renderNotebook(json.toString('utf8'), request.maxChars);
  return parts === undefined ? undefined : { type: 'document', parts, kind: 'notebook' };
}

async function readPages(
  file: ReadableFile,
  pages: string,
  isPdf: boolean,
  { maxChars }: ContentRequest,
  signal: AbortSignal,
): Promise<Content> {
  const range = parsePages(pages);
  if (!isPdf || range === undefined)
    throw new ToolError(
      'invalid_tool_params',
      `pages ${pages} cannot be read: ${file.path} is ${isPdf ? 'a' : 'no'} PDF.`,
    );
  const text = await readPdfText(file, range, signal);
  const isCut = text.length > maxChars;
  const parts = isCut
    ? [`${text.slice(0, maxChars)}\n[cut after ${maxChars} characters: ask for fewer pages]`]
    : [text];
  return { type: 'document', parts, kind: 'PDF' };
}
