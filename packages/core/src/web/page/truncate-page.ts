import { isLowSurrogate } from '../../text/truncate.js';

export interface TruncatedPage {
  text: string;
  /** Characters that were cut off. */
  left: number;
  /** The 0-based line where the rest begins. */
  nextLine: number;
  /** The rest begins inside a line. */
  isLineCut: boolean;
}

/** The first `limit` characters of a text at most, cut at the end of a paragraph if there is one nearby. */
export function truncateAtParagraph(text: string, limit: number): TruncatedPage {
  const at = endOfBeginning(text, limit);
  const head = text.slice(0, at);
  const isLineCut = at < text.length && text.charAt(at) !== '\n';
  const fences = at < text.length ? (head.match(/^ {0,3}```/gm)?.length ?? 0) : 0;
  return {
    text: fences % 2 === 0 ? head : `${head}\n\`\`\``,
    left: text.length - at,
    nextLine: head.split('\n').length - (isLineCut ? 1 : 0),
    isLineCut,
  };
}

function endOfBeginning(text: string, limit: number): number {
  if (text.length <= limit) return text.length;
  const breaks = ['\n\n', '\n', ' '].map((separator) => text.lastIndexOf(separator, limit));
  const at = breaks.find((position) => position > limit / 2) ?? limit;
  return isLowSurrogate(text, at) ? at - 1 : at;
}
