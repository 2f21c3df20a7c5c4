/** The front matter of a Markdown file, between two lines of `---`, and the text after it. */
export interface FrontMatter {
  fields: ReadonlyMap<string, string | readonly string[]>;
  body: string;
}

/**
 * Parses the subset of YAML that is common in front matter: `key: value`, quoted values, lists on one or several lines,
 * and text blocks after `|` and `>`. Skips everything else. `undefined` when the text has no front matter.
 */
export function parseFrontMatter(text: string): FrontMatter | undefined {
  const plain = text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n');
  const match = /^---[ \t]*\n(?:([\s\S]*?)\n)?---[ \t]*(?:\n|$)/.exec(plain);
  if (!match) return undefined;
  const fields = new Map<string, string | readonly string[]>();
  const lines = (match[1] ?? '').split('\n');
  for (let index = 0; index < lines.length; index++) {
    const [, key, rest = ''] = /^([A-Za-z][\w-]*):(?:[ \t]+(.*))?$/s.exec(lines[index] ?? '') ?? [];
    if (key === undefined) continue;
    const block = blockAfter(lines, index + 1);
    index += block.length;
    fields.set(key, valueOf(rest.trim(), block));
  }
  return { fields, body: plain.slice(match[0].length) };
}

/** The lines that belong to a key: indented, empty, or items of a list. */
function blockAfter(lines: readonly string[], start: number): string[] {
  let end = start;
  while (/^(?:[ \t]|- |-$|#|$)/.test(lines[end] ?? 'none')) end++;
  return lines.slice(start, end);
}

function valueOf(text: string, block: readonly string[]): string | readonly string[] {
  const lines = block.map((line) => line.trim());
  if (/^[|>][+-]?\d?$/.test(text)) return lines.join(text.startsWith('>') ? ' ' : '\n').trim();
  if (text.startsWith('[') && text.endsWith(']')) return splitItems(text.slice(1, -1)).map(scalar);
  if (text !== '' && !text.startsWith('#')) return scalar([text, ...lines].join(' ').trim());
  return block.flatMap((line) => {
    const item = /^\s*-\s+(.*)$/s.exec(line)?.[1];
    return item === undefined ? [] : [scalar(item.trim())];
  });
}

/** Commas inside quotes belong to the item. */
function splitItems(text: string): string[] {
  return (text.match(/\s*(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^,]+)/g) ?? []).map((item) => item.trim()).filter(Boolean);
}

function scalar(text: string): string {
  const [, double, single] = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)')\s*(?:#.*)?$/.exec(text) ?? [];
  if (double !== undefined) return double.replace(/\\(.)/g, (escape) => escapes[escape] ?? escape.slice(1));
  if (single !== undefined) return single.replaceAll("''", "'");
  const comment = text.search(/\s#/);
  return comment < 0 ? text : text.slice(0, comment).trimEnd();
}

const escapes: Record<string, string> = { '\\n': '\n', '\\t': '\t' };
