/**
 * The first line of `text` that is a placeholder for omitted code, such as `// ... existing code ...` or
 * `# rest of the file unchanged`. Written to a file it would delete that code.
 */
export function omissionIn(text: string): string | undefined {
  // Models do not write texts of this length in one call.
  if (text.length > maxLength) return undefined;
  if (!/\.{3}|…|unchanged|omitted|as before|same|here|shown/i.test(text)) return undefined;
  return text.split(/\r\n|\n|\r/).find((line) => line.length < 160 && isOmission(line));
}

const maxLength = 1_000_000;

const decoration =
  /^\s*(?:\/\/+|#+|--|;+|%|\/\*+|\*|<!--|\(\*|\{\/\*|"""|''')?\s*|\s*(?:\*\/\}?|-->|\*\)|"""|''')?\s*$/g;
const what =
  '(?:code|file|class|function|method|module|component|contents?|implementation|logic|lines?|imports?|body)s?';
const rest = '(?:the )?(?:rest|remainder|remaining|other|existing|previous|same)(?: of)?(?: (?:the|your|this|my))?';
const subject = `(?:${rest}(?: [\\w-]+){0,3}? ${what}|${what})`;
const verdict =
  '(?:(?:is|are|stays?|remains?|goes|continues) )?(?:unchanged|omitted|as before|the same|same as before|here|below|above|not shown)(?: for brevity)?';
const sentence = new RegExp(
  `^\\(?(?:${subject}(?:[ ,:(]+${verdict})?|(?:the )?(?:rest|remainder) ${verdict})\\)?\\.?$`,
  'i',
);

/** Whether a whole line is a placeholder: marked by ellipses or by a word such as "unchanged". */
function isOmission(line: string): boolean {
  const content = line.replace(decoration, '');
  const bare = content.replace(/^\(?\s*(?:\.{3}|…)\s*|\s*(?:\.{3}|…)\s*\)?$/g, '').trim();
  const isMarked = bare !== content.trim() || new RegExp(`${verdict}\\)?\\.?$`, 'i').test(bare);
  return isMarked && bare !== '' && sentence.test(bare);
}
