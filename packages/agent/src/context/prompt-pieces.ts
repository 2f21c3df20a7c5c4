/** A prompt that brings things in: `!{command}` its output, `@{path}` a file. What they bring is never looked through again. */
export type PromptPiece = { type: 'text' | 'command' | 'file'; text: string };

/** Braces inside a command count in pairs. Throws when one is not closed. */
export function promptPieces(prompt: string): PromptPiece[] {
  const pieces: PromptPiece[] = [];
  const mark = /[!@]\{/g;
  let end = 0;
  for (let match = mark.exec(prompt); match; match = mark.exec(prompt)) {
    const close = closingBrace(prompt, match.index + 1);
    const type = match[0] === '!{' ? 'command' : 'file';
    pieces.push({ type: 'text', text: prompt.slice(end, match.index) });
    pieces.push({ type, text: prompt.slice(match.index + 2, close).trim() });
    mark.lastIndex = end = close + 1;
  }
  return [...pieces, { type: 'text' as const, text: prompt.slice(end) }].filter(({ text }) => text !== '');
}

/** The pieces with what a person gave to the command in the place of `{{args}}`, or behind it all when it has none. */
export function withArguments(pieces: readonly PromptPiece[], argument: string): PromptPiece[] {
  const filled = pieces.map(({ type, text }) => {
    const value = type === 'command' ? shellWord(argument) : argument;
    return { type, text: text.replaceAll(placeholder, () => value) };
  });
  const isPlaced = pieces.some(({ text }) => text.includes(placeholder));
  return isPlaced || argument === '' ? filled : [...filled, { type: 'text', text: `\n\n${argument}` }];
}

const placeholder = '{{args}}';

/** One word for a shell, whatever is in it; none when nothing is. */
function shellWord(text: string): string {
  return text === '' ? '' : `'${text.replaceAll("'", "'\\''")}'`;
}

function closingBrace(prompt: string, open: number): number {
  let depth = 0;
  for (let index = open; index < prompt.length; index++) {
    if (prompt[index] === '{') depth += 1;
    if (prompt[index] === '}') depth -= 1;
    if (depth === 0) return index;
  }
  throw new Error(`${prompt.slice(open - 1, open + 20)}… is not closed`);
}
