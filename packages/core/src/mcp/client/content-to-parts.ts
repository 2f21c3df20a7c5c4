import { isDeepStrictEqual } from 'node:util';
import type { CallToolResult, ContentBlock, ReadResourceResult } from '@modelcontextprotocol/client';
import type { Part } from '../../contract/content.js';
import { imageFault } from '../../files/read/media.js';
import { parseJson } from '../../text/parse-json.js';
import { isRecord } from '../../text/schema/schema-nodes.js';
import { visibleText } from '../../text/visible-text.js';

const maxBlocks = 1_000;
/** Of base64; more than any provider accepts. */
const maxMediaChars = 14 * 1024 * 1024;

/** The result of a server: parts for the model, text for the user. */
export interface ConvertedContent {
  parts: Part[];
  display: string;
}

/** Converts every kind of content. Fetches nothing: a resource link becomes its name. */
export function contentToParts(result: Pick<CallToolResult, 'content' | 'structuredContent'>): ConvertedContent {
  const blocks = result.content.slice(0, maxBlocks).map(convertBlock);
  if (result.content.length > maxBlocks)
    blocks.push(note(`${result.content.length - maxBlocks} more blocks of content were left out`));
  const structured = structuredBlock(result);
  if (structured !== undefined) blocks.push(structured);
  return { parts: blocks.flatMap(({ parts }) => parts), display: blocks.map(({ display }) => display).join('\n') };
}

export function resourceToParts({ contents }: ReadResourceResult): Part[] {
  return contents.slice(0, maxBlocks).flatMap((resource) => convertBlock({ type: 'resource', resource }).parts);
}

function convertBlock(block: ContentBlock): ConvertedContent {
  switch (block.type) {
    case 'text':
      return text(block.text);
    case 'image':
    case 'audio':
      return media(block.type, block.mimeType, block.data);
    case 'resource_link':
      return note(`resource ${block.title ?? block.name}: ${block.uri}; not fetched`);
    case 'resource': {
      const { resource } = block;
      if ('text' in resource) return text(resource.text);
      return media('resource', resource.mimeType ?? 'application/octet-stream', resource.blob, resource.uri);
    }
  }
}

/** Many servers also send the structure as text for older clients; sending both would only cost tokens. */
function structuredBlock({ content, structuredContent }: Pick<CallToolResult, 'content' | 'structuredContent'>) {
  if (structuredContent === undefined) return undefined;
  const json = JSON.stringify(structuredContent);
  const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  const isSaid = (value: unknown) => texts.some((said) => said === String(value) || isJsonOf(said, value));
  const isWrapped = isRecord(structuredContent) && Object.values(structuredContent).every(isSaid);
  return isWrapped || isSaid(structuredContent) ? undefined : text(json);
}

function isJsonOf(candidate: string, value: unknown): boolean {
  const parsed = parseJson(candidate);
  return parsed.ok && isDeepStrictEqual(parsed.value, value);
}

function media(kind: string, mimeType: string, data: string, name?: string): ConvertedContent {
  const label = `${kind}${name === undefined ? '' : ` ${name}`}, ${mimeType}`;
  if (data.length > maxMediaChars) return note(`${label}: ${data.length} characters of base64 are too many`);
  const fault = mimeType.startsWith('image/') ? imageFault(Buffer.from(data, 'base64'), mimeType) : undefined;
  if (fault !== undefined) return note(`${label}: ${fault}`);
  const displayName = name === undefined ? {} : { displayName: visibleText(name) };
  return { parts: [{ inlineData: { mimeType, data, ...displayName } }], display: `[${label}]` };
}

function text(content: string): ConvertedContent {
  return { parts: [{ text: content }], display: content };
}

function note(content: string): ConvertedContent {
  return text(`[${visibleText(content)}]`);
}
