import {
  type FunctionResponse,
  type FunctionResponsePart,
  type Part,
  type PartListUnion,
  toParts,
} from '../contract/content.js';
import { type Cut, keepEnds } from '../text/truncate.js';
import type { ReadyCall } from './prepare.js';

/** Keeps text that does not fit into the model's answer; returns the name of the file. */
export type Spill = (name: string, text: string) => Promise<string>;

/** Cuts the text of a result to the tool's budget. The whole text goes to a file that the result names. */
export async function fit(content: PartListUnion, ready: ReadyCall, spill: Spill): Promise<PartListUnion> {
  const limit = ready.tool.maxOutputChars;
  const parts = toParts(content);
  const text = parts.map((part) => part.text ?? '').join('');
  if (text.length <= limit) return content;
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

/** Step 8: what the model gets. A single text becomes `output`; several parts stay parts, in their order. */
export function toResponse(
  call: { callId: string; name: string },
  content: PartListUnion,
  error?: string,
): FunctionResponse {
  const parts = toParts(content).flatMap(({ text, inlineData, fileData }): FunctionResponsePart[] => {
    if (inlineData) return [{ inlineData }];
    if (fileData) return [{ fileData }];
    return text ? [{ text }] : [];
  });
  const texts = parts.flatMap(({ text }) => text ?? []);
  const { callId: id, name } = call;
  if (error !== undefined) {
    const media = parts.filter(({ text }) => text === undefined);
    return { id, name, response: { error: texts.join('\n') || error }, ...(media.length > 0 && { parts: media }) };
  }
  if (parts.length === 0) return { id, name, response: { output: `${name} completed with no output.` } };
  const [first] = texts;
  return parts.length === 1 && first !== undefined
    ? { id, name, response: { output: first } }
    : { id, name, response: { output: '' }, parts };
}
