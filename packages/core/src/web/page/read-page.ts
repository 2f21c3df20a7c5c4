import { isUtf8 } from 'node:buffer';
import { Yielder } from '../../async/yielder.js';
import type { Part } from '../../contract/content.js';
import { attempt, ToolError } from '../../contract/errors.js';
import { fileKindOf } from '../../files/read/file-kind.js';
import { imageFault } from '../../files/read/media.js';
import { pdfTextOf } from '../../files/read/pdf-text.js';
import { detectEncoding, isText } from '../../files/read/text-encoding.js';
import type { Body } from '../http/decode-body.js';
import type { PageScope } from './page-scope.js';
import { type ReadablePage, readableHtml } from './readable-html.js';

/** A page as the model gets it. */
export interface WebPage {
  url: string;
  /** From the server, or detected from the bytes. */
  mediaType: string;
  title: string;
  content: { type: 'text'; text: string } | { type: 'part'; part: Part };
  /** Remarks about the text: truncated, hidden parts left out. */
  notes: string[];
}

interface Answer {
  url: URL;
  contentType: string;
  body: Body;
}

const pdfPages = { first: 1, last: 20 };

/** Converts HTML to Markdown, a PDF to text and an image to a part. Other text stays as it is; other data is rejected. */
export async function readPage(answer: Answer, signal: AbortSignal): Promise<WebPage> {
  const { url, body } = answer;
  const mediaType = mediaTypeOf(answer);
  const cut = body.isCut ? [`The page is longer than ${body.bytes.length} bytes; the rest was not loaded.`] : [];
  const page = { url: url.href, mediaType, title: '', notes: cut };
  if (mediaType === 'application/pdf') return { ...page, ...(await readPdf(answer, signal)) };
  if (mediaType.startsWith('image/') && mediaType !== 'image/svg+xml') return { ...page, ...readImage(answer) };
  const text = await decodeText(body.bytes, await charsetOf(body.bytes, answer.contentType), new Yielder(signal));
  if (!['text/html', 'application/xhtml+xml'].includes(mediaType)) return { ...page, content: { type: 'text', text } };
  const { title, markdown, hiddenTexts } = await convertInTime(text, url, signal);
  const hidden =
    hiddenTexts === 0 ? [] : [`Text that the page hides from readers was left out (places: ${hiddenTexts}).`];
  const empty = markdown === '' ? ['The page has no text of its own; it may need JavaScript to show anything.'] : [];
  return { ...page, title, content: { type: 'text', text: markdown }, notes: [...cut, ...hidden, ...empty] };
}

const maxConversionMs = 20_000;

/** A hostile page could take very long to convert. */
async function convertInTime(html: string, url: URL, signal: AbortSignal): Promise<ReadablePage> {
  const timeout = AbortSignal.timeout(maxConversionMs);
  try {
    return await htmlToMarkdown(html, url, AbortSignal.any([signal, timeout]));
  } catch (error) {
    signal.throwIfAborted();
    if (!timeout.aborted) throw error;
    throw new ToolError(
      'web_fetch_processing_error',
      `${url.href} could not be converted to Markdown within ${maxConversionMs / 1000} s.`,
    );
  }
}

/** The media type from the server, unless the bytes show another one. */
function mediaTypeOf({ contentType, body: { bytes }, url }: Answer): string {
  // Only the type itself, because the header is text from outside.
  const declared = /^\s*([\w.+-]{1,60}\/[\w.+-]{1,60})\s*(?:;|$)/.exec(contentType)?.[1]?.toLowerCase() ?? '';
  const kind = fileKindOf(bytes);
  if (kind.type === 'pdf' || kind.type === 'image') return kind.mimeType;
  if (kind.type !== 'other' || !isText(bytes.subarray(0, 65_536))) {
    const what = kind.type === 'binary' ? kind.format : declared || 'binary data';
    throw new ToolError('web_fetch_processing_error', `${url.href} is not text (${what}, ${bytes.length} bytes).`);
  }
  if (declared !== '' && declared !== 'application/octet-stream') return declared;
  return /^\s*<(?:!doctype\s+html|html|head|body)\b/i.test(bytes.toString('latin1', 0, 1000))
    ? 'text/html'
    : 'text/plain';
}

function readImage({ url, body }: Answer): Pick<WebPage, 'content'> {
  const kind = fileKindOf(body.bytes);
  const mimeType = kind.type === 'image' ? kind.mimeType : '';
  const fault = body.isCut
    ? 'it is too large'
    : mimeType === ''
      ? 'it is not an image'
      : imageFault(body.bytes, mimeType);
  if (fault !== undefined)
    throw new ToolError('web_fetch_processing_error', `The image ${url.href} cannot be shown: ${fault}.`);
  return { content: { type: 'part', part: { inlineData: { mimeType, data: body.bytes.toString('base64') } } } };
}

async function readPdf({ url, body }: Answer, signal: AbortSignal): Promise<Pick<WebPage, 'content' | 'notes'>> {
  if (body.isCut)
    throw new ToolError('web_fetch_processing_error', `The PDF ${url.href} is larger than ${body.bytes.length} bytes.`);
  const bytes = Uint8Array.from(body.bytes).buffer;
  const text = await pdfTextOf(bytes, url.href, pdfPages, signal);
  return { content: { type: 'text', text }, notes: [`The text of at most ${pdfPages.last} pages.`] };
}

/**
 * The encoding of a page, as a label that `TextDecoder` knows: a byte order mark decides, then the `Content-Type`
 * header, then the `meta` tag, then the bytes themselves. UTF-8 counts only if the bytes are valid UTF-8.
 */
export async function charsetOf(bytes: Buffer, contentType: string): Promise<string> {
  const charsetOfMark = byteOrderMark(bytes);
  if (charsetOfMark !== undefined) return charsetOfMark;
  const isReallyUtf8 = isUtf8(bytes);
  const claims = [charsetIn(contentType), charsetIn(metaTag(bytes))];
  for (const claim of claims) {
    const label = claim === undefined ? undefined : canonical(claim);
    // The `meta` tag was readable as ASCII, so the page cannot be UTF-16.
    if (label === undefined || label.startsWith('utf-16')) continue;
    if (label !== 'utf-8' || isReallyUtf8) return label;
  }
  if (isReallyUtf8) return 'utf-8';
  const detected = await detectEncoding(bytes);
  return canonical(detected?.name ?? 'utf-8') ?? 'windows-1252';
}

/** Decodes in parts: with some encodings a large page would block the event loop. */
export async function decodeText(bytes: Buffer, charset: string, yielder: Yielder): Promise<string> {
  const decoder = new TextDecoder(charset);
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += partLength) {
    parts.push(decoder.decode(bytes.subarray(at, at + partLength), { stream: true }));
    if (yielder.shouldYield) await yielder.yield();
  }
  parts.push(decoder.decode());
  return parts.join('');
}

const partLength = 64 * 1024;

function byteOrderMark(bytes: Buffer): string | undefined {
  const start = bytes.toString('latin1', 0, 3);
  if (start === '\xef\xbb\xbf') return 'utf-8';
  if (start.startsWith('\xff\xfe')) return 'utf-16le';
  return start.startsWith('\xfe\xff') ? 'utf-16be' : undefined;
}

function metaTag(bytes: Buffer): string {
  const head = bytes.toString('latin1', 0, 4096).replace(/<!--[\s\S]{0,4096}?-->/g, '');
  return /<meta\b[^>]{0,500}charset[^>]{0,200}>|<\?xml[^>]{0,200}encoding[^>]{0,200}>/i.exec(head)?.[0] ?? '';
}

function charsetIn(text: string): string | undefined {
  return /(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]{2,40})/i.exec(text)?.[1];
}

function canonical(label: string): string | undefined {
  return attempt(() => new TextDecoder(label).encoding);
}

/** If the main part has less text than this, the whole page is read instead. */
const tooLittle = 200;

/**
 * The readable part of a page as Markdown: headings, text, code, tables and links, which become absolute. Reads the
 * page in small steps and yields to the event loop in between.
 */
export async function htmlToMarkdown(html: string, base: URL, signal: AbortSignal): Promise<ReadablePage> {
  let best: ReadablePage | undefined;
  const yielder = new Yielder(signal);
  for (const scope of await scopesOf(html, yielder)) {
    const page = await readableHtml(html, base, scope, yielder);
    if (best === undefined || page.markdown.length > best.markdown.length * 2) best = page;
    if (best.markdown.length >= tooLittle) break;
  }
  return best ?? { title: '', markdown: '', hiddenTexts: 0 };
}

/** The parts that can be read, best first. If the name is only in a comment, the part is empty and the next one is tried. */
async function scopesOf(html: string, yielder: Yielder): Promise<PageScope[]> {
  let [hasMain, hasArticle] = [false, false];
  for (let at = 0; at < html.length; at += windowLength) {
    // Overlaps, for a tag that begins in one window and ends in the next.
    const window = html.slice(at, at + windowLength + 32);
    hasMain ||= /<main[\s>]|\srole\s?=\s?["']?main\b/i.test(window);
    hasArticle ||= /<article[\s>]/i.test(window);
    if (yielder.shouldYield) await yielder.yield();
  }
  return [...(hasMain ? ['main' as const] : []), ...(hasArticle ? ['article' as const] : []), 'body'];
}

const windowLength = 64 * 1024;
