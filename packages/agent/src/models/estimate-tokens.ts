import type { Part } from '@lathe/core';
import type { Message, ModelRequest } from './model.js';

/**
 * Roughly how many tokens a text costs, from its characters alone: near o200k for prose, code and data in most
 * languages, and rather too many than too few.
 */
export function estimateTokens(text: string): number {
  let quarters = 0;
  let before: CharacterKind = 'space';
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    const kind = code < 128 ? (ascii[code] ?? 'sign') : code < 0x2e80 ? 'lower' : 'ideograph';
    const isSame = kind === before || (kind === 'lower' && before === 'upper');
    quarters += isSame ? inside[kind] : first[kind];
    before = kind;
  }
  return Math.ceil(quarters / 4);
}

type CharacterKind = 'space' | 'lower' | 'upper' | 'digit' | 'sign' | 'break' | 'ideograph';

/** Quarters of a token for the first character of a run, and for each that follows. */
const first: Record<CharacterKind, number> = {
  space: 0,
  lower: 2,
  upper: 2,
  digit: 3,
  sign: 2,
  break: 2,
  ideograph: 3,
};
const inside: Record<CharacterKind, number> = {
  space: 0,
  lower: 0.85,
  upper: 2,
  digit: 1.5,
  sign: 2,
  break: 0,
  ideograph: 3,
};

const ascii = Array.from({ length: 128 }, (_, code): CharacterKind => {
  const character = String.fromCharCode(code);
  if (character === ' ' || character === '\t') return 'space';
  if (character === '\n' || character === '\r') return 'break';
  if (/[a-z]/.test(character)) return 'lower';
  if (/[A-Z]/.test(character)) return 'upper';
  return /[0-9]/.test(character) ? 'digit' : 'sign';
});

/** What a whole request costs: instructions, declarations and history. */
export function estimateRequestTokens(request: ModelRequest): number {
  let total = estimateTokens(request.system) + estimateTokens(JSON.stringify(request.tools));
  for (const message of request.history) total += estimateMessageTokens(message);
  return total;
}

/** About how many tokens a message costs. */
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
