import type { Part } from '@lathe/core';
import type { Message, ModelRequest } from './model.js';

/**
 * Estimates how many tokens a text costs from its characters alone: close to o200k for prose, code and data in most
 * languages, and too many rather than too few.
 */
export function estimateTokens(text: string): number {
  let quarters = 0;
  let before: number = space;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    const kind = code < 128 ? (ascii[code] ?? sign) : code < 0x2e80 ? lower : ideograph;
    const isSame = kind === before || (kind === lower && before === upper);
    quarters += (isSame ? following[kind] : first[kind]) ?? 0;
    before = kind;
  }
  return Math.ceil(quarters / 4);
}

/** Kinds of characters. As numbers, because the first text is long and its loop not compiled yet. */
const [space, lower, upper, digit, sign, lineBreak, ideograph] = [0, 1, 2, 3, 4, 5, 6] as const;
/** Quarters of a token for the first character of a run, by kind, and for each character that follows in it. */
const first = [0, 2, 2, 3, 2, 2, 3];
const following = [0, 0.85, 2, 1.5, 2, 0, 3];

const ascii = Array.from({ length: 128 }, (_, code): number => {
  const character = String.fromCharCode(code);
  if (character === ' ' || character === '\t') return space;
  if (character === '\n' || character === '\r') return lineBreak;
  if (/[a-z]/.test(character)) return lower;
  if (/[A-Z]/.test(character)) return upper;
  return /[0-9]/.test(character) ? digit : sign;
});

/** Estimates a whole request: instructions, declarations and history. */
export function estimateRequestTokens({ system, tools, history }: ModelRequest): number {
  return estimateTokens(system) + estimateTokens(JSON.stringify(tools)) + estimateHistoryTokens(history);
}

export function estimateHistoryTokens(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + estimateMessageTokens(message), 0);
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

/** Messages never change once they are in a history. Every turn asks for all of them, so each is counted once. */
const counted = new WeakMap<Message, number>();

function estimatePartTokens(part: Part): number {
  if (part.text !== undefined) return estimateTokens(part.text);
  if (part.functionCall) return 8 + estimateTokens(JSON.stringify(part.functionCall.args ?? {}));
  if (part.functionResponse) {
    const { response, parts = [] } = part.functionResponse;
    const sizes = parts.map(({ text }) => (text === undefined ? mediaTokens : estimateTokens(text)));
    return sizes.reduce((sum, size) => sum + size, 8 + estimateTokens(JSON.stringify(response ?? {})));
  }
  if (part.inlineData?.mimeType === 'application/pdf') {
    // About 3 kB of PDF are one page, which providers read both as text and as an image.
    return mediaTokens + Math.ceil((part.inlineData.data?.length ?? 0) / 40);
  }
  return part.inlineData || part.fileData ? mediaTokens : 0;
}

/** What providers charge for an image of ordinary size. */
const mediaTokens = 1_500;
