import { type FunctionResponse, type FunctionResponsePart, type PartListUnion, toParts } from '../contract/content.js';
import { type Cut, keepEnds } from '../text/truncate.js';
import type { ReadyCall } from './ready-call.js';

/** Keeps text that does not fit into the model's answer; returns the name of the file. */
export type Spill = (name: string, text: string) => Promise<string>;

/** Cuts the text of a result to the tool's budget. The whole text goes to a file that the result names. */
export async function fit(content: PartListUnion, ready: ReadyCall, spill: Spill): Promise<PartListUnion> {
  const limit = ready.tool.maxOutputChars;
  const parts = toParts(content);
  const text = parts.map((part) => part.text ?? '').join('');
  if (text.length <= limit) return content;
  // The tool has run: what it did is told even if the rest of it cannot be kept.
  const place = await spill(`${ready.tool.name}-${ready.call.id}`, text).then(whereIsIt, whyNot);
  const media = parts.filter((part) => part.text === undefined);
  const shown = withNote(keepEnds(text, limit), place);
  return media.length === 0 ? shown : [{ text: shown }, ...media];
}

function withNote({ head, tail, omitted }: Cut, place: string): string {
  return `${head}\n\n[${omitted} characters left out here; ${place}]\n\n${tail}`;
}

const whereIsIt = (path: string) =>
  `the whole output is in ${path} (use read_file with offset and limit, or grep_search, on it)`;
const whyNot = (error: unknown) =>
  `the whole output could not be kept: ${error instanceof Error ? error.message : 'unknown reason'}`;

/** Step 8: what the model gets. Text becomes `output`, media travel along as parts. */
export function toResponse(
  call: { callId: string; name: string },
  content: PartListUnion,
  error?: string,
): FunctionResponse {
  const parts = toParts(content);
  const text = parts.map((part) => part.text ?? '').join('');
  const media: FunctionResponsePart[] = parts.flatMap(({ inlineData, fileData }): FunctionResponsePart[] => {
    if (inlineData) return [{ inlineData }];
    return fileData ? [{ fileData }] : [];
  });
  const response =
    error === undefined ? { output: text || emptyAnswer(call.name, media.length) } : { error: text || error };
  return { id: call.callId, name: call.name, response, ...(media.length > 0 && { parts: media }) };
}

function emptyAnswer(name: string, media: number): string {
  return media > 0 ? `${name} returned ${media} attached file(s).` : `${name} completed with no output.`;
}
