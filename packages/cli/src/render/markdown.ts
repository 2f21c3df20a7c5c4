import { type MarkedToken, marked, type Token, type Tokens } from 'marked';
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';
import { highlight } from './highlight.js';
import type { Style } from './style.js';

/**
 * Renders Markdown as styled lines of `width` columns. The text must already be sanitized (`visibleText`), so that the
 * output contains only our own control sequences.
 */
export function renderMarkdown(text: string, width: number, style: Style): string {
  const blocks = marked.lexer(text.replaceAll('\t', '    ')).filter(({ type }) => type !== 'space');
  return blocks.map((token) => renderBlock(token, Math.max(width, 10), style)).join('\n\n');
}

function renderBlock(generic: Token, width: number, style: Style): string {
  const token = known(generic);
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the rest are inline tokens, shown as text
  switch (token.type) {
    case 'heading':
      return renderHeading(token, width, style);
    case 'code':
      return renderCode(token, style);
    case 'list':
      return renderList(token, width, style);
    case 'blockquote':
      return indent(children(token, width - 2, style), style.dim('│ '));
    case 'table':
      return renderTable(token, width, style);
    case 'hr':
      return style.dim('─'.repeat(Math.min(width, 40)));
    case 'html':
      return wrap(token.raw.trimEnd(), width);
    default:
      return wrap(inline(generic, style), width);
  }
}

function children(token: { tokens?: Token[] }, width: number, style: Style): string {
  return (token.tokens ?? [])
    .filter(({ type }) => type !== 'space' && type !== 'checkbox')
    .map((child) => renderBlock(child, Math.max(width, 10), style))
    .join('\n');
}

/** Without colours the signs stay, because nothing else would tell a heading from text. */
function renderHeading(token: Tokens.Heading, width: number, style: Style): string {
  const text = inline(token, style);
  if (style.isPlain) return wrap(`${'#'.repeat(token.depth)} ${text}`, width);
  const title = style.heading(style.bold(text));
  return wrap(token.depth === 1 ? style.underline(title) : title, width);
}

function renderCode({ text, lang }: Tokens.Code, style: Style): string {
  const title = lang ? `${style.dim(lang)}\n` : '';
  return title + indent(highlight(text, lang ?? '', style), '  ');
}

function renderList(list: Tokens.List, width: number, style: Style): string {
  const start = Number(list.start) || 1;
  return list.items
    .map((item, index) => {
      const box = item.task ? (item.checked ? '[x] ' : '[ ] ') : '';
      const mark = list.ordered ? `${start + index}. ` : '• ';
      const body = children(item, width - mark.length, style);
      return indent(box + body, ' '.repeat(mark.length)).replace(' '.repeat(mark.length), style.accent(mark));
    })
    .join('\n');
}

/** A table if it fits, otherwise one block per row. */
function renderTable({ header, rows }: Tokens.Table, width: number, style: Style): string {
  const cells = [header, ...rows].map((row) => row.map((cell) => inline(cell, style)));
  const widths = header.map((_, column) => Math.max(...cells.map((row) => stringWidth(row[column] ?? ''))));
  const total = widths.reduce((sum, each) => sum + each + 3, 1);
  if (total > width) return renderRows(cells, width, style);
  const line = (row: string[]) => row.map((cell, column) => pad(cell, widths[column] ?? 0)).join(style.dim(' │ '));
  const rule = style.dim(widths.map((each) => '─'.repeat(each)).join('─┼─'));
  const [head = [], ...body] = cells;
  return [line(head.map((cell) => style.bold(cell))), rule, ...body.map(line)].join('\n');
}

function renderRows(cells: string[][], width: number, style: Style): string {
  const [head = [], ...body] = cells;
  return body
    .map((row) => row.map((cell, column) => wrap(`${style.bold(head[column] ?? '')}: ${cell}`, width)).join('\n'))
    .join('\n\n');
}

/** The text of a paragraph, heading or cell with its emphasis, code and links. */
function inline(token: Token | Tokens.TableCell, style: Style): string {
  const tokens = 'tokens' in token ? token.tokens : undefined;
  if (!tokens) return 'text' in token ? String(token.text) : token.raw;
  return tokens.map((child) => renderInline(child, style)).join('');
}

function renderInline(generic: Token, style: Style): string {
  const token = known(generic);
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the rest are blocks, shown as they are written
  switch (token.type) {
    case 'strong':
      return style.bold(inline(token, style));
    case 'em':
      return style.italic(inline(token, style));
    case 'codespan':
      return style.code(token.text);
    case 'del':
      return style.dim(inline(token, style));
    case 'br':
      return '\n';
    case 'link':
      return renderLink(token, style);
    case 'image':
      return style.dim(`[image: ${token.text}] (${token.href})`);
    case 'escape':
    case 'text':
      return inline(token, style);
    default:
      return token.raw;
  }
}

/** Always shows the target, because a label can mislead. */
function renderLink(link: Tokens.Link, style: Style): string {
  const label = inline(link, style);
  return label === link.href ? style.underline(label) : `${style.underline(label)} ${style.dim(`(${link.href})`)}`;
}

/** Narrows the type: `Token` includes tokens of extensions, and we use none. */
function known(token: Token): MarkedToken {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the lexer without extensions creates no other tokens
  return token as MarkedToken;
}

const wrap = (text: string, width: number): string => wrapAnsi(text, width, { hard: true });
const pad = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - stringWidth(text)));
const indent = (text: string, by: string): string =>
  text
    .split('\n')
    .map((line) => by + line)
    .join('\n');
