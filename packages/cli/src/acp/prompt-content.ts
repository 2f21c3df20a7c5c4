import { fileURLToPath } from 'node:url';
import type { ContentBlock } from '@agentclientprotocol/sdk';
import type { Part, PartUnion } from '@lathe/core';

/** What the person sent, for the model: their words, and after them the files and images that they added. */
export function promptContent(blocks: readonly ContentBlock[]): [words: string, ...added: PartUnion[]] {
  const words = blocks.map(wordsOf).join('');
  return [words, ...blocks.flatMap(additionOf)];
}

function wordsOf(block: ContentBlock): string {
  if (block.type === 'text') return block.text;
  if (block.type === 'resource_link') return ` ${placeOf(block.uri)} `;
  return block.type === 'resource' ? ` ${placeOf(block.resource.uri)} ` : '';
}

function additionOf(block: ContentBlock): Part[] {
  if (block.type === 'image' || block.type === 'audio')
    return [{ inlineData: { mimeType: block.mimeType, data: block.data } }];
  if (block.type !== 'resource') return [];
  const { resource } = block;
  const place = placeOf(resource.uri);
  if ('text' in resource) return [{ text: `\n\nContent of ${place}:\n${resource.text}\n` }];
  const mimeType = resource.mimeType ?? 'application/octet-stream';
  return [{ inlineData: { mimeType, data: resource.blob, displayName: place } }];
}

/** A path for the tools, with the lines that an editor names after `#`. */
function placeOf(uri: string): string {
  if (!/^file:\/\//i.test(uri) || !URL.canParse(uri)) return uri;
  const { hash } = new URL(uri);
  try {
    return `${fileURLToPath(uri.split(/[?#]/, 1)[0] ?? uri)}${hash}`;
  } catch {
    return uri;
  }
}
