import { type Part, type PartListUnion, toParts } from '../contract/content.js';
import { type Cut, keepEnds } from '../text/truncate.js';
import type { ReadyCall } from './prepare.js';

/** Characters of base64 in one result: more than any provider accepts in a request. */
const maxMediaChars = 28 * 1024 * 1024;

/** Keeps text that does not fit into the model's answer; returns the name of the file. */
export type Spill = (name: string, text: string) => Promise<string>;

/** Cuts the text of a result to the tool's budget, and its media. The whole text goes to a file that the result names. */
export async function fit(content: PartListUnion, ready: ReadyCall, spill: Spill): Promise<PartListUnion> {
  const limit = ready.tool.maxOutputChars;
  const bounded = boundMedia(content);
  const parts = toParts(bounded);
  const text = parts.map((part) => part.text ?? '').join('');
  if (text.length <= limit) return bounded;
  // The tool has run, so its result is reported even if the rest of it cannot be saved.
  const place = await spill(`${ready.tool.name}-${ready.call.id}`, text).then(spilledTo, whyNot);
  if (parts.every((part) => part.text !== undefined)) return withNote(keepEnds(text, limit), place);
  return cutInOrder(parts, limit, place);
}

/** Keeps media where they are; of the texts, those that fit, and the ends of the first that does not. */
function cutInOrder(parts: readonly Part[], limit: number, place: string): Part[] {
  let left = limit;
  let isCut = false;
  return parts.flatMap((part): Part[] => {
    if (part.text === undefined) return [part];
    if (isCut) return [];
    isCut = part.text.length > left;
    if (isCut) return [{ text: withNote(keepEnds(part.text, left), place) }];
    left -= part.text.length;
    return [part];
  });
}

function withNote({ head, tail, omitted }: Cut, place: string): string {
  return `${head}\n\n[${omitted} characters left out here; ${place}]\n\n${tail}`;
}

const spilledTo = (path: string) =>
  `the whole output is in ${path} (use read_file with offset and limit, or grep_search, on it)`;
const whyNot = (error: unknown) =>
  `the whole output could not be kept: ${error instanceof Error ? error.message : 'unknown reason'}`;

/** Keeps the media that fit; a sentence takes the place of each that does not. */
function boundMedia(content: PartListUnion): PartListUnion {
  const parts = toParts(content);
  let left = maxMediaChars;
  if (parts.reduce((sum, part) => sum + sizeOf(part), 0) <= left) return content;
  return parts.map((part) => {
    const size = sizeOf(part);
    if (size > left) return { text: `${part.text ?? ''}${leftOut(part, size)}` };
    left -= size;
    return part;
  });
}

const sizeOf = ({ inlineData }: Part) => inlineData?.data?.length ?? 0;

function leftOut({ inlineData }: Part, size: number): string {
  const name = [inlineData?.displayName, inlineData?.mimeType ?? 'media']
    .filter((each) => each !== undefined)
    .join(', ');
  return `[${name}: left out, because ${size} characters of base64 are too many for a result]`;
}
