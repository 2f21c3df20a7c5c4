import { Yielder } from '../../async/yielder.js';
import type { Part } from '../../contract/content.js';
import { ToolError } from '../../contract/errors.js';
import { fileKindOf } from '../../files/read/file-kind.js';
import { imageFault } from '../../files/read/media.js';
import { pdfTextOf } from '../../files/read/pdf-text.js';
import { isText } from '../../files/read/text-encoding.js';
import { charsetOf, decodeText } from '../http/charset.js';
import type { Body } from '../http/decode-body.js';
import { htmlToMarkdown } from './html-to-markdown.js';
import type { ReadablePage } from './readable-html.js';

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
  if (!isHtml(mediaType)) return { ...page, content: { type: 'text', text } };
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

function isHtml(mediaType: string): boolean {
  return mediaType === 'text/html' || mediaType === 'application/xhtml+xml';
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
