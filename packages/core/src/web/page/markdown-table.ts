import type { MarkdownLines } from './markdown-lines.js';

/** Writes each row of a table when it ends. A layout table is unfolded: its cells become blocks. */
export class TableRows {
  /** False when the table was unfolded. */
  isOpen = true;
  #cells: string[] = [];
  #aligns: string[] = [];
  #rows = 0;
  #isInCell = false;
  #length = 0;

  /** Characters in the closed cells of this row. */
  get length(): number {
    return this.#length;
  }

  openCell(align: string, lines: MarkdownLines): void {
    this.endCell(lines);
    if (this.#cells.length >= maxColumns) this.endRow(lines);
    lines.openCell();
    this.#isInCell = true;
    if (this.#rows === 0) this.#aligns.push(align);
  }

  endCell(lines: MarkdownLines): void {
    if (!this.#isInCell) return;
    this.#isInCell = false;
    const cell = lines.takeCell();
    this.#cells.push(cell);
    this.#length += cell.length;
  }

  endRow(lines: MarkdownLines): void {
    if (!this.isOpen) return;
    this.endCell(lines);
    const cells = this.#takeCells();
    if (cells.every((cell) => cell === '')) {
      if (this.#rows === 0) this.#aligns = [];
      return;
    }
    lines.block(this.#rows === 0 ? 2 : 1);
    lines.row(cells);
    if (this.#rows++ > 0) return;
    lines.block(1);
    lines.row(cells.map((_, column) => separator(this.#aligns[column] ?? '')));
  }

  /** Turns the table into blocks, because a cell holds a heading, code or a table. */
  unfold(lines: MarkdownLines): void {
    if (!this.isOpen || !this.#isInCell) return;
    this.endCell(lines);
    this.isOpen = false;
    for (const cell of this.#takeCells()) {
      lines.block(2);
      if (cell !== '') lines.raw(cell.replaceAll('<br>', ' '));
    }
  }

  #takeCells(): string[] {
    const cells = this.#cells;
    this.#cells = [];
    this.#length = 0;
    return cells;
  }
}

/** A wider row continues in the next one. */
const maxColumns = 500;

function separator(align: string): string {
  if (align === 'right') return '---:';
  return align === 'center' ? ':---:' : '---';
}
