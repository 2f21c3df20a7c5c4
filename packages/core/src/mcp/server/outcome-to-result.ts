import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server';
import type { CallOutcome } from '../../contract/call.js';
import { type Part, toParts } from '../../contract/content.js';

/** The result for a client: text and media in order; `_meta` holds the type of a failure. */
export function outcomeToResult({ name, status, llmContent, error }: CallOutcome): CallToolResult {
  const content = toParts(llmContent).flatMap(toBlocks);
  if (content.length === 0) content.push({ type: 'text', text: `${name} completed with no output.` });
  return {
    content,
    ...(status !== 'success' && { isError: true }),
    ...(error && { _meta: { 'lathe/error': error } }),
  };
}

function toBlocks({ text, inlineData, fileData }: Part, index: number): ContentBlock[] {
  if (text !== undefined) return text === '' ? [] : [{ type: 'text', text }];
  if (inlineData) {
    const { data = '', mimeType = 'application/octet-stream', displayName = `part-${index + 1}` } = inlineData;
    if (mimeType.startsWith('image/')) return [{ type: 'image', data, mimeType }];
    if (mimeType.startsWith('audio/')) return [{ type: 'audio', data, mimeType }];
    const uri = `lathe:///${encodeURIComponent(displayName)}`;
    return [{ type: 'resource', resource: { uri, mimeType, blob: data } }];
  }
  const { fileUri: uri, mimeType, displayName } = fileData ?? {};
  if (uri === undefined) return [];
  return [{ type: 'resource_link', uri, name: displayName ?? uri, ...(mimeType !== undefined && { mimeType }) }];
}
