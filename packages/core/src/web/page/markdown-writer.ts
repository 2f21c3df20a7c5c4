import { CodeBlock, fenceAround } from './markdown-code-block.js';
import { link, MarkdownLines } from './markdown-lines.js';
import { TableRows } from './markdown-table.js';

/** An element, as the writer needs it. */
export interface WrittenElement {
  name: string;
  /** An absolute URL; empty when there is no target. */
  address?: string;
  alt?: string;
  language?: string;
  start?: number;
  align?: string;
}

/**
 * Writes a page as Markdown while it is read. Elements must open and close in proper nesting. The syntax of an element
 * is written with the first text in it, so that empty elements write nothing. Emphasis, links and code end with their
 * block. Every call takes time proportional to its text.
 */
export class MarkdownWriter {
  readonly #lines = new MarkdownLines();
  readonly #lists: { next: number | undefined; isBegun: boolean }[] = [];
  readonly #tables: TableRows[] = [];
  #pre: CodeBlock | undefined;
  #code: string | undefined;
  #codeDepth = 0;

  open(element: WrittenElement): void {
    const { name } = element;
    if (this.#pre) return openInPre(this.#pre, element);
    const mark = name === 'a' ? ([link, `](${element.address ?? ''})`] as const) : marks.get(name);
    // Inside code, emphasis would be shown as code.
    if (mark && this.#code === undefined) this.#lines.openMark(mark);
    else if (codeNames.has(name)) this.#openCode();
    else if (name === 'br') this.#break();
    else if (name === 'img') this.#image(element);
    else if (blocks.has(name)) this.#openBlock(element);
  }

  close(name: string): void {
    if (this.#pre && name === 'pre' && --this.#pre.depth === 0) return this.#endPre(this.#pre);
    if (this.#pre) return blocks.has(name) ? this.#pre.endLine() : undefined;
    const mark = name === 'a' ? link : marks.get(name)?.[0];
    if (mark !== undefined && this.#code === undefined) this.#lines.closeMark(mark);
    else if (codeNames.has(name) && --this.#codeDepth <= 0) this.#endCode();
    else if (blocks.has(name)) this.#closeBlock(name);
  }

  /** Text with its entities decoded. */
  text(text: string): void {
    if (this.#pre) this.#pre.add(text);
    // `split` and `join` build a flat string; the result of `replace` would be flattened later, all at once.
    else if (this.#code !== undefined) this.#code += text.split(/\s+/).join(' ');
    else this.#lines.text(text);
    if (this.#code !== undefined && this.#code.length > maxRun) this.#lines.text(this.#takeCode());
    const table = this.#tables.at(-1);
    if (!table || table.length + this.#lines.cellLength <= maxRun) return;
    const { hasSpace } = this.#lines;
    table.unfold(this.#lines);
    if (hasSpace) this.#lines.text(' ');
  }

  /** The whole Markdown; call it once, at the end. */
  finish(): string {
    if (this.#pre) this.#endPre(this.#pre);
    this.#endCode();
    while (this.#tables.length > 0) this.#closeTable();
    return this.#lines.finish();
  }

  #openBlock(element: WrittenElement): void {
    const { name } = element;
    this.#endCode();
    if (unfoldingElements.has(name)) this.#tables.at(-1)?.unfold(this.#lines);
    if (name === 'table') this.#tables.push(new TableRows());
    if (tableNames.has(name)) return this.#openInTable(element);
    if (name === 'li') return this.#openItem();
    if (name === 'ul' || name === 'ol') return this.#openList(element);
    this.#lines.block(2);
    if (name === 'blockquote') this.#lines.openContainer('> ', '> ');
    else if (headings.has(name)) this.#lines.lead('#'.repeat(Number(name.charAt(1))));
    else if (name === 'pre')
      this.#pre = new CodeBlock(element.language ?? '', this.#lines.indent, this.#lines.prefixBudget);
    if (name !== 'hr') return;
    this.#lines.raw('---');
    this.#lines.block(2);
  }

  #openList({ name, start = 1 }: WrittenElement): void {
    this.#lines.block(this.#lists.length > 0 ? 1 : 2);
    this.#lists.push({ next: name === 'ol' ? start : undefined, isBegun: false });
  }

  #closeBlock(name: string): void {
    this.#endCode();
    if (name === 'table') return this.#closeTable();
    if (name === 'tr' || name === 'td' || name === 'th') return this.#closeInTable(name);
    const isList = name === 'ul' || name === 'ol';
    if (isList) this.#lists.pop();
    this.#lines.block(name === 'li' || (isList && this.#lists.length > 0) ? 1 : 2);
    if (name === 'li' || name === 'blockquote') this.#lines.closeContainer();
  }

  #closeInTable(name: string): void {
    const table = this.#tables.at(-1);
    if (name === 'tr') table?.endRow(this.#lines);
    else table?.endCell(this.#lines);
    if (!table?.isOpen) this.#lines.block(2);
  }

  #openItem(): void {
    const list = this.#lists.at(-1);
    this.#lines.block(1, { exactly: list?.isBegun ?? false });
    if (list) list.isBegun = true;
    const marker = list?.next === undefined ? '- ' : `${list.next++}. `;
    this.#lines.openContainer(marker, ' '.repeat(marker.length));
  }

  #openInTable({ name, align = '' }: WrittenElement): void {
    const table = this.#tables.at(-1);
    if (!table?.isOpen || name === 'table' || name === 'caption') return this.#lines.block(2);
    if (name === 'tr') return table.endRow(this.#lines);
    table.openCell(align, this.#lines);
  }

  #closeTable(): void {
    this.#tables.pop()?.endRow(this.#lines);
    this.#lines.block(2);
  }

  #image({ address = '', alt = '' }: WrittenElement): void {
    const shown = alt.replace(/\s+/g, ' ').replace(/[[\]]/g, '\\$&').trim();
    if (shown === '' && address === '') return;
    this.#endCode();
    this.#lines.raw(address === '' ? shown : `![${shown}](${address})`);
  }

  #openCode(): void {
    this.#codeDepth++;
    this.#code ??= '';
  }

  /** Writes inline code between more backticks than any run in it. */
  #endCode(): void {
    const code = this.#takeCode().trim();
    if (code === '') return;
    const fence = fenceAround(code, '`');
    const pad = code.startsWith('`') || code.endsWith('`') ? ' ' : '';
    this.#lines.raw(`${fence}${pad}${code}${pad}${fence}`);
  }

  #takeCode(): string {
    const code = this.#code ?? '';
    this.#code = undefined;
    this.#codeDepth = 0;
    return code;
  }

  #break(): void {
    this.#endCode();
    this.#lines.break();
  }

  #endPre(codeBlock: CodeBlock): void {
    this.#pre = undefined;
    const pieces = codeBlock.finish();
    if (pieces.length === 0) return;
    this.#lines.verbatim(pieces, codeBlock.prefixChars);
    this.#lines.block(2);
  }
}

function openInPre(codeBlock: CodeBlock, { name, language }: WrittenElement): void {
  if (name === 'pre') codeBlock.depth++;
  if (name === 'br') codeBlock.add('\n');
  else if (blocks.has(name)) codeBlock.endLine();
  if (name === 'code') codeBlock.language ||= language ?? '';
}

const setOf = (names: string) => new Set(names.split(' '));
/** The syntax before and after the text of an element. */
const marks = new Map<string, readonly [before: string, after: string]>([
  ...['b', 'strong', 'mark'].map((name) => [name, ['**', '**']] as const),
  ...['i', 'em'].map((name) => [name, ['*', '*']] as const),
  ...['del', 's', 'strike'].map((name) => [name, ['~~', '~~']] as const),
  ['q', ['"', '"']],
  ['sup', ['<sup>', '</sup>']],
  ['sub', ['<sub>', '</sub>']],
]);
const codeNames = setOf('code kbd samp tt');
const headings = setOf('h1 h2 h3 h4 h5 h6');
/** Characters; longer table rows and inline code are written as text. */
const maxRun = 64 << 10;
/** Elements in a cell that show that the table is for layout. */
const unfoldingElements = new Set([...headings, 'pre', 'table']);
const tableNames = setOf('table caption tr td th');
const blocks = setOf(
  'p div section article main header footer aside nav ul ol li dl dt dd table caption tr td th pre blockquote figure figcaption form fieldset legend h1 h2 h3 h4 h5 h6 hr details summary address center hgroup html body search',
);
