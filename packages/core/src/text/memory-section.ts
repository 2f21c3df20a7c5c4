import { visibleText } from './visible-text.js';

const ownHeading = '## Lathe Added Memories';
const headings = [ownHeading, '## Qwen Added Memories'];
export const maxFactChars = 1000;

/**
 * A fact as one list item and nothing else: line breaks, headings, comments and imports are removed, and invisible
 * characters become visible.
 */
export function factLine(fact: string): string {
  const oneLine = visibleText(fact.replace(/\s+/g, ' ').trim())
    .replace(/^(?:[-*+#>]+\s*)+/, '')
    .replaceAll('<!--', '<\\!--')
    .replaceAll('```', "'''")
    .replace(/(^|\s)@/g, '$1\\@');
  return `- ${oneLine}`;
}

/** `text` with the line at the end of its memory section, which is added if missing; `null` if the line exists already. */
export function withFact(text: string, line: string): string | null {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const lines = text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/);
  const start = lines.findIndex((candidate) => headings.includes(candidate.trim()));
  if (start === -1) {
    const before = lines.length > 0 ? [...lines, ''] : [];
    return [...before, ownHeading, '', line, ''].join(eol);
  }
  const next = lines.findIndex((candidate, index) => index > start && /^#{1,2}\s/.test(candidate));
  const end = next === -1 ? lines.length : next;
  if (lines.slice(start, end).some((known) => isSame(known, line))) return null;
  let last = end;
  while (last > start + 1 && lines[last - 1]?.trim() === '') last--;
  return [...lines.slice(0, last), line, ...lines.slice(last), ''].join(eol);
}

function isSame(a: string, b: string): boolean {
  return a.trim().toLowerCase() === b.trim().toLowerCase();
}
