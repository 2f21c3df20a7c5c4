import type { Part } from '../content.js';
import type { Message, ModelRequest } from './model.js';

/**
 * Roughly how many tokens a text costs, from its characters alone: within about a fifth of o200k for prose and code in
 * any language, and rather too many than too few.
 */
export function estimateTokens(text: string): number {
  let quarters = 0;
  let isInWord = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    const kind = code < 128 ? (ascii[code] ?? 4) : code < 0x2e80 ? 2 : 3;
    // A run of spaces is one token at most, and a single space belongs to the word after it.
    if (kind === 0) isInWord = false;
    else {
      quarters += kind === 1 && !isInWord ? 2 : kind;
      isInWord = kind === 1;
    }
  }
  return Math.ceil(quarters / 4);
}

/** What a whole request costs: instructions, declarations and history. */
export function estimateRequestTokens(request: ModelRequest): number {
  let total = estimateTokens(request.system) + estimateTokens(JSON.stringify(request.tools));
  for (const message of request.history) total += estimateMessageTokens(message);
  return total;
}

export function estimateMessageTokens(message: Message): number {
  const known = counted.get(message);
  if (known !== undefined) return known;
  let total = 4;
  for (const part of message.parts) total += estimatePartTokens(part);
  counted.set(message, total);
  return total;
}

/** Messages do not change once they are in a history, so each is counted once. */
const counted = new WeakMap<Message, number>();

function estimatePartTokens(part: Part): number {
  if (part.text !== undefined) return estimateTokens(part.text);
  if (part.functionCall) return 8 + estimateTokens(JSON.stringify(part.functionCall.args ?? {}));
  if (part.functionResponse) {
    const { response, parts = [] } = part.functionResponse;
    return 8 + estimateTokens(JSON.stringify(response ?? {})) + parts.length * mediaTokens;
  }
  if (part.inlineData?.mimeType === 'application/pdf') {
    // About 3 kB of PDF are one page of text, and a page is read as text and picture.
    return mediaTokens + Math.ceil((part.inlineData.data?.length ?? 0) / 40);
  }
  return part.inlineData || part.fileData ? mediaTokens : 0;
}

/** What providers charge for a picture of ordinary size. */
const mediaTokens = 1_500;

/** Quarters of a token per ASCII character: spaces 0, letters 1, digits and line breaks 2, signs 3. */
const ascii = Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (character === ' ' || character === '\t') return 0;
  if (/[a-zA-Z]/.test(character)) return 1;
  return /[0-9\n\r]/.test(character) ? 2 : 3;
});
