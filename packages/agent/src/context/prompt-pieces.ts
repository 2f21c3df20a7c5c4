/** A piece of a prompt: `!{command}` inserts its output, `@{path}` a file. Inserted text is never expanded again. */
export type PromptPiece = { type: 'text' | 'command' | 'file'; text: string };

/** Splits a prompt. Braces inside a command count in pairs. Throws when one is not closed. */
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

/** Replaces `{{args}}` by the arguments of the command, or appends them when the prompt has no placeholder. */
export function withArguments(pieces: readonly PromptPiece[], argument: string): PromptPiece[] {
  const filled = pieces.map(({ type, text }) => {
    const value = type === 'command' ? shellWord(argument) : argument;
    return { type, text: text.replaceAll(placeholder, () => value) };
  });
  const isPlaced = pieces.some(({ text }) => text.includes(placeholder));
  return isPlaced || argument === '' ? filled : [...filled, { type: 'text', text: `\n\n${argument}` }];
}

const placeholder = '{{args}}';

/** The text quoted as one shell word; empty text stays empty. */
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
