import { boundMedia, type Part, type PartListUnion, toParts } from '../contract/content.js';
import { type Cut, keepEnds } from '../text/truncate.js';
import type { ReadyCall } from './prepare.js';

/** Keeps text that does not fit into the model's answer; returns the name of the file. */
export type Spill = (name: string, text: string) => Promise<string>;

/** Cuts the text of a result to the tool's budget, and its media. The whole text goes to a file that the result names. */
export async function fit(content: PartListUnion, ready: ReadyCall, spill: Spill): Promise<PartListUnion> {
  const limit = ready.tool.maxOutputChars;
  const bounded = boundMedia(content);
  const parts = toParts(bounded);
  const text = parts.map((part) => part.text ?? '').join('');
  if (text.length <= limit) return bounded;
  const name = `${ready.tool.name}-${ready.call.id}`;
  if (parts.every((part) => part.text !== undefined)) return fitText(text, { limit, name, spill });
  return cutInOrder(parts, limit, await placeOf(name, text, spill));
}

/** Cuts a text to a limit. All of it goes to a file that the text then names. */
export async function fitText(
  text: string,
  { limit, name, spill }: { limit: number; name: string; spill: Spill },
): Promise<string> {
  return text.length <= limit ? text : withNote(keepEnds(text, limit), await placeOf(name, text, spill));
}

/** A text that cannot be kept is reported all the same: the work is done. */
function placeOf(name: string, text: string, spill: Spill): Promise<string> {
  return spill(name, text).then(spilledTo, whyNot);
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
