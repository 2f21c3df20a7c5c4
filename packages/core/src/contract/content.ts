/**
 * What a model sends and receives. Structural twins of the types in `@google/genai` (content.types.test.ts proves it
 * in both directions), so that code written for that library works here without installing it.
 */
export interface Part {
  text?: string;
  /** True when `text` is the model's reasoning rather than its answer. */
  thought?: boolean;
  /** Opaque proof of the reasoning behind this part; a provider that sent one wants it back unchanged. */
  thoughtSignature?: string;
  inlineData?: Blob;
  fileData?: FileData;
  functionCall?: FunctionCall;
  functionResponse?: FunctionResponse;
}

/** Bytes inside the message: an image, a sound, a PDF. */
export interface Blob {
  mimeType?: string;
  /** Base64. */
  data?: string;
  displayName?: string;
}

export interface FileData {
  fileUri?: string;
  mimeType?: string;
  displayName?: string;
}

/** A part, or a text that stands for one. */
export type PartUnion = Part | string;
/** What a tool may return for the model: a text, a part, or a list of both. */
export type PartListUnion = PartUnion[] | PartUnion;

/** A model's wish to run a tool. Everything is optional because models leave anything out. */
export interface FunctionCall {
  id?: string;
  name?: string;
  args?: Record<string, unknown>;
}

/** The result of a call, as a model receives it. */
export interface FunctionResponse {
  id?: string;
  name?: string;
  /** `output` on success, `error` on failure. An empty `output` says that the text is in `parts`. */
  response?: Record<string, unknown>;
  /** Media, or everything that the tool returned, in its order. */
  parts?: FunctionResponsePart[];
}

/** One of several things that a tool returned. */
export interface FunctionResponsePart {
  text?: string;
  inlineData?: Blob;
  fileData?: FileData;
}

/** How a tool is introduced to a model. */
export interface FunctionDeclaration {
  name?: string;
  description?: string;
  parametersJsonSchema?: unknown;
}

/** The parts of `content`, strings turned into text parts. */
export function toParts(content: PartListUnion): Part[] {
  const list = Array.isArray(content) ? content : [content];
  return list.map((part) => (typeof part === 'string' ? { text: part } : part));
}

/** The text of a result: its error, its output, or the texts of its parts, one per line. */
export function responseText({ response = {}, parts = [] }: FunctionResponse): string {
  const { error, output = '' } = response;
  if (error !== undefined) return typeof error === 'string' ? error : JSON.stringify(error);
  if (output !== '') return typeof output === 'string' ? output : JSON.stringify(output);
  return parts.flatMap(({ text }) => text ?? []).join('\n');
}

/** The text of `content`, media left out. */
export function textOf(content: PartListUnion): string {
  if (typeof content === 'string') return content;
  return toParts(content)
    .map((part) => part.text ?? '')
    .join('');
}

/** Step 8: what the model gets. A single text becomes `output`; several parts stay parts, in their order. */
export function toResponse(
  call: { callId: string; name: string },
  content: PartListUnion,
  error?: string,
): FunctionResponse {
  const parts = toParts(content).flatMap(responseParts);
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

/** What a model can get of a part. Nothing is left out: what is neither text nor media becomes text. */
function responseParts({ text, inlineData, fileData, functionResponse, ...rest }: Part): FunctionResponsePart[] {
  const parts = [
    ...(text ? [{ text }] : []),
    ...(inlineData ? [{ inlineData }] : []),
    ...(fileData ? [{ fileData }] : []),
    ...(functionResponse ? nestedParts(functionResponse) : []),
  ];
  const { thought: _, thoughtSignature: __, ...unknown } = rest;
  const isKnown = parts.length > 0 || text !== undefined || functionResponse !== undefined;
  return isKnown || Object.keys(unknown).length === 0 ? parts : [{ text: JSON.stringify(unknown) }];
}

/** The result of another call, as a part of this one's. */
function nestedParts({ response = {}, parts = [] }: FunctionResponse): FunctionResponsePart[] {
  const isUsual = 'output' in response || 'error' in response || Object.keys(response).length === 0;
  const text = isUsual ? responseText({ response }) : JSON.stringify(response);
  return [...(text === '' ? [] : [{ text }]), ...parts];
}

/** Characters of base64 in one result: more than any provider accepts in a request. */
const maxMediaChars = 28 * 1024 * 1024;

/** Keeps the media that fit; a sentence takes the place of each that does not. */
export function boundMedia(content: PartListUnion): PartListUnion {
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
