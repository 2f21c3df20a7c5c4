import type { Yielder } from '../../async/yielder.js';
import { ToolError } from '../../contract/errors.js';
import { findOffsets, lineNumberAt, startsAt, type TextBytes } from '../read/text-bytes.js';
import { codecFor, detectEncoding } from '../read/text-encoding.js';
import type { Snapshot } from '../write/file-snapshot.js';
import type { TextChange } from './change-view.js';
import { findText } from './match.js';
import { describeRegion, nearestRegion } from './nearest-region.js';
import { type Splice, spliceFor } from './splice.js';
import type { Found, Match } from './text-match.js';

export interface EditWish {
  path: string;
  oldText: string;
  newText: string;
  replaceAll: boolean;
}

export interface EditPlan extends TextChange {
  /** Differences that were ignored to find the text. */
  relaxed: string[];
}

/** The change that an edit makes to this content. Throws when the edit cannot be applied. */
export async function planEdit(current: Snapshot | null, wish: EditWish, yielder: Yielder): Promise<EditPlan> {
  const { path, oldText, newText } = wish;
  if (current === null) {
    if (oldText !== '')
      throw new ToolError('file_not_found', `${path} does not exist. To create it, pass an empty old_string.`);
    const text = await emptyText();
    return { text, splices: [{ start: 0, end: 0, bytes: encodeOrRefuse(text, newText) }], relaxed: [] };
  }
  if (oldText === '')
    throw new ToolError('attempt_to_create_existing_file', `${path} exists. Pass the text to replace as old_string.`);
  if (oldText === newText) throw noChange(path);
  const text = await textOfSnapshot(current);
  await refuseOmission(text, newText, oldText, yielder);
  const found = await findText(text, oldText, yielder);
  const matches = await chosen(text, found, wish, yielder);
  const splices = await splicesFor(text, matches, found, wish, yielder);
  if (splices.length === 0) throw noChange(path);
  return { text, splices, relaxed: found.relaxed };
}

async function splicesFor(
  text: TextBytes,
  matches: readonly Match[],
  found: Found,
  wish: EditWish,
  yielder: Yielder,
): Promise<Splice[]> {
  const { oldText, newText } = wish;
  if (found.relaxed.length === 0 && !/[\r\n]/.test(oldText + newText)) {
    // Within one line, all exact matches get the same bytes.
    const bytes = encodeOrRefuse(text, newText);
    const splices = matches.flatMap(({ lines }) => lines.map(({ start, end }) => ({ start, end, bytes })));
    return splices.slice(0, 1).some((splice) => isVain(text, splice)) ? [] : splices;
  }
  const splices: Splice[] = [];
  for (const match of matches) {
    const splice = await spliceFor(text, match, found, wish);
    if (!splice) encodeOrRefuse(text, newText);
    else if (!isVain(text, splice)) splices.push(splice);
    if (yielder.shouldYield) await yielder.yield();
  }
  return splices;
}

/** Whether the splice changes nothing. */
function isVain({ bytes }: TextBytes, splice: Splice): boolean {
  return splice.end - splice.start === splice.bytes.length && startsAt(bytes, splice.bytes, splice.start);
}

function noChange(path: string): ToolError {
  return new ToolError(
    'edit_no_change',
    `${path}: old_string and new_string mean the same, so there is nothing to change.`,
  );
}

/** The matches to replace: the only one or, with replace_all, every exact one. */
async function chosen(text: TextBytes, found: Found, wish: EditWish, yielder: Yielder): Promise<Match[]> {
  const { matches, relaxed } = found;
  if (matches.length === 0) throw await missing(text, wish, yielder);
  if (matches.length === 1) return matches;
  if (relaxed.length > 0) {
    const places = await placesOf(text, matches, yielder);
    const message = `old_string is not in ${wish.path} as given, and apart from ${relaxed.join(' and ')} it is there ${matches.length} times (${places}). Copy one of them exactly.`;
    throw new ToolError('edit_expected_occurrence_mismatch', message);
  }
  if (!wish.replaceAll) {
    const places = await placesOf(text, matches, yielder);
    const message = `old_string occurs ${matches.length} times in ${wish.path} (${places}). Add lines around it until it is unique, or set replace_all.`;
    throw new ToolError('edit_expected_occurrence_mismatch', message);
  }
  let end = 0;
  return matches.filter(({ lines }) => {
    const isApart = (lines[0]?.start ?? 0) >= end;
    if (isApart) end = lines.at(-1)?.end ?? end;
    return isApart;
  });
}

const maxPlaces = 10;

async function placesOf(text: TextBytes, matches: readonly Match[], yielder: Yielder): Promise<string> {
  const numbers: number[] = [];
  for (const { lines } of matches.slice(0, maxPlaces))
    numbers.push(await lineNumberAt(text, lines[0]?.start ?? 0, yielder));
  return `lines ${numbers.join(', ')}${matches.length > maxPlaces ? ', …' : ''}`;
}

async function missing(text: TextBytes, { path, oldText }: EditWish, yielder: Yielder): Promise<ToolError> {
  const region = await nearestRegion(text, oldText, yielder);
  const hint = region ? describeRegion(region, oldText) : 'Nothing similar is in it. Read the file again.';
  return new ToolError('edit_no_occurrence_found', `old_string is not in ${path}. ${hint}`);
}

/** A file's content as text. Throws for a binary file. */
export async function textOfSnapshot({ bytes, path }: Snapshot): Promise<TextBytes> {
  const encoding = await detectEncoding(bytes);
  if (encoding === undefined)
    throw new ToolError('edit_preparation_failure', `${path} is a binary file, which cannot be changed as text.`);
  return { bytes, codec: await codecFor(encoding), encoding };
}

export async function emptyText(): Promise<TextBytes> {
  const encoding = { name: 'utf-8', bom: new Uint8Array() };
  return { bytes: Buffer.alloc(0), codec: await codecFor(encoding), encoding };
}

/** The bytes of `content`. Throws for a character that the file's encoding lacks; none is ever replaced. */
export function encodeOrRefuse({ codec, encoding }: TextBytes, content: string): Buffer {
  const bytes = codec.encode(content);
  if (bytes !== undefined) return bytes;
  const lost = Array.from(content).find((character) => codec.encode(character) === undefined) ?? '';
  const code = (lost.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  const message = `The character ${JSON.stringify(lost)} (U+${code}) does not exist in ${encoding.name}, the encoding of this file. Nothing was written.`;
  throw new ToolError('edit_preparation_failure', message);
}

/** Throws for a new placeholder such as "rest of the code", which would delete the code it stands for. */
export async function refuseOmission(
  text: TextBytes,
  newText: string,
  oldText: string,
  yielder: Yielder,
): Promise<void> {
  const line = omissionIn(newText)?.trim();
  if (line === undefined || oldText.includes(line)) return;
  const bytes = text.codec.encode(line);
  if (bytes && (await findOffsets(text, bytes, { yielder, limit: 1 })).length > 0) return;
  const message = `The new text contains the placeholder ${JSON.stringify(line)}. Write out all the code: what it stands for would be lost.`;
  throw new ToolError('edit_preparation_failure', message);
}

/**
 * The first line of `text` that is a placeholder for omitted code, such as `// ... existing code ...` or
 * `# rest of the file unchanged`. Written to a file it would delete that code.
 */
export function omissionIn(text: string): string | undefined {
  // Models do not write texts of this length in one call.
  if (text.length > maxLength) return undefined;
  if (!/\.{3}|…|unchanged|omitted|as before|same|here|shown/i.test(text)) return undefined;
  return text.split(/\r\n|\n|\r/).find((line) => line.length < 160 && isOmission(line));
}

const maxLength = 1_000_000;

const decoration =
  /^\s*(?:\/\/+|#+|--|;+|%|\/\*+|\*|<!--|\(\*|\{\/\*|"""|''')?\s*|\s*(?:\*\/\}?|-->|\*\)|"""|''')?\s*$/g;
const what =
  '(?:code|file|class|function|method|module|component|contents?|implementation|logic|lines?|imports?|body)s?';
const rest = '(?:the )?(?:rest|remainder|remaining|other|existing|previous|same)(?: of)?(?: (?:the|your|this|my))?';
const subject = `(?:${rest}(?: [\\w-]+){0,3}? ${what}|${what})`;
const verdict =
  '(?:(?:is|are|stays?|remains?|goes|continues) )?(?:unchanged|omitted|as before|the same|same as before|here|below|above|not shown)(?: for brevity)?';
const sentence = new RegExp(
  `^\\(?(?:${subject}(?:[ ,:(]+${verdict})?|(?:the )?(?:rest|remainder) ${verdict})\\)?\\.?$`,
  'i',
);

/** Whether a whole line is a placeholder: marked by ellipses or by a word such as "unchanged". */
function isOmission(line: string): boolean {
  const content = line.replace(decoration, '');
  const bare = content.replace(/^\(?\s*(?:\.{3}|…)\s*|\s*(?:\.{3}|…)\s*\)?$/g, '').trim();
  const isMarked = bare !== content.trim() || new RegExp(`${verdict}\\)?\\.?$`, 'i').test(bare);
  return isMarked && bare !== '' && sentence.test(bare);
}
