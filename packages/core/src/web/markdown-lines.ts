/** The sign that opens a link. */
export const link = '[';

interface Mark {
  before: string;
  behind: string;
  /** How many elements of this kind are open inside each other; they look like one. */
  depth: number;
  isWritten: boolean;
  /** A link belongs to one block, which others may follow before its element ends. */
  isDone: boolean;
}

interface Container {
  first: string;
  rest: string;
  isFresh: boolean;
}

/** Deeper quotes and lists look like their surroundings, so that no line begins with more than a few signs. */
const maxContainers = 8;
/** So much more than the text itself may stand before the lines of a page; what has more is no text. */
const freeSigns = 64 * 1024;
const chunkLength = 16 * 1024;

/** Lines of Markdown with what stands before them: quotes, list items, empty lines, emphasis. */
export class MarkdownLines {
  readonly #chunks: string[] = [];
  readonly #containers: Container[] = [];
  readonly #marks: Mark[] = [];
  #tooDeep = 0;
  /** What becomes the next chunk: joined early, so that the end of a large page takes no long breath. */
  #pieces: string[] = [];
  #length = 0;
  /** Text of a table's cell, which is no line of its own. */
  #cell: string | undefined;
  /** New lines that are due before the next text. */
  #gap = 0;
  #isEmpty = true;
  #hasSpace = false;
  #lead = '';
  #isHeading = false;
  /** How much may still stand before lines; text makes room for as much again. */
  #signsLeft = freeSigns;

  /** Text as it stands in a page, where all white space is one space. */
  text(raw: string): void {
    const text = raw.replace(unseen, '').replace(spaces, ' ');
    if (text === '') return;
    if (text.startsWith(' ')) this.#hasSpace = true;
    const words = text.trim();
    if (words === '') return;
    const isAtStart = this.#startText();
    this.#put(this.#escaped(words, isAtStart));
    this.#hasSpace = text.endsWith(' ');
  }

  /** Markdown that is finished, inside a line. */
  raw(markdown: string): void {
    const text = markdown.replace(unseen, '');
    this.#startText();
    this.#put(this.#cell === undefined ? text : text.replaceAll('|', '\\|'));
  }

  /** What stands before a line of its own, unless it is the first of an item. */
  get indent(): string {
    return this.#signsLeft < 0 ? '' : this.#containers.map(({ rest }) => rest).join('');
  }

  get signsLeft(): number {
    return this.#signsLeft;
  }

  /** Markdown that is finished and has lines of its own, of which `signs` characters stand before them. */
  verbatim(pieces: readonly string[], signs: number): void {
    this.block(2);
    this.#startText();
    for (const piece of pieces) this.#put(piece);
    this.#signsLeft -= 2 * signs;
  }

  /** What follows begins a line, after one new line or two. */
  block(lines: 1 | 2, { exactly = false } = {}): void {
    this.#endMarks();
    this.#hasSpace = false;
    this.#isHeading = false;
    this.#lead = '';
    if (this.#containers.at(-1)?.isFresh) return;
    this.#gap = exactly ? lines : Math.max(this.#gap, lines);
  }

  break(): void {
    if (this.#isHeading) this.#hasSpace = true;
    else if (!this.#containers.at(-1)?.isFresh) this.#gap = Math.min(2, this.#gap + 1);
  }

  /** Signs of a heading, before the next text. */
  lead(signs: string): void {
    this.#lead = `${signs} `;
  }

  openContainer(first: string, rest: string): void {
    if (this.#containers.length >= maxContainers || this.#cell !== undefined) this.#tooDeep++;
    else this.#containers.push({ first, rest, isFresh: true });
  }

  closeContainer(): void {
    if (this.#tooDeep > 0) this.#tooDeep--;
    else this.#containers.pop();
  }

  openMark([before, behind]: readonly [before: string, behind: string]): void {
    const open = this.#marks.find((mark) => mark.before === before);
    if (open) open.depth++;
    else this.#marks.push({ before, behind, depth: 1, isWritten: false, isDone: behind === ']()' });
  }

  closeMark(before: string): void {
    const mark = this.#marks.at(-1);
    if (mark?.before !== before) {
      const outer = this.#marks.find((each) => each.before === before);
      if (outer) outer.depth--;
      return;
    }
    if (--mark.depth > 0) return;
    if (mark.isWritten) this.#put(mark.behind);
    this.#marks.pop();
  }

  /** From here on text is kept, until `takeCell` asks for it. */
  openCell(): void {
    this.#endMarks();
    this.#cell = '';
    this.#gap = 0;
    this.#hasSpace = false;
  }

  get cellLength(): number {
    return this.#cell?.length ?? 0;
  }

  /** A space waits to be written before the next word. */
  get hasSpace(): boolean {
    return this.#hasSpace;
  }

  takeCell(): string {
    this.#endMarks();
    const text = this.#cell ?? '';
    this.#cell = undefined;
    this.#gap = 0;
    return text;
  }

  row(cells: readonly string[]): void {
    this.#startLine();
    for (const cell of cells) this.#put(`| ${cell} `);
    this.#put('|');
  }

  finish(): string {
    this.#endMarks();
    this.#endChunk();
    return this.#chunks.join('');
  }

  /** Writes what is due before text; true when the text begins a line. */
  #startText(): boolean {
    const isAtStart = this.#cell === undefined ? this.#startLine() : this.#startCellLine();
    if (!isAtStart && this.#hasSpace) this.#put(' ');
    this.#hasSpace = false;
    for (const mark of this.#marks) {
      if (mark.isWritten || mark.isDone) continue;
      this.#put(mark.before);
      mark.isWritten = true;
    }
    return isAtStart;
  }

  #startLine(): boolean {
    const isFresh = this.#containers.at(-1)?.isFresh ?? false;
    if (this.#gap === 0 && !isFresh && !this.#isEmpty && this.#lead === '') return false;
    if (!this.#isEmpty) {
      const outer = this.#containers.filter((container) => !container.isFresh).map(({ rest }) => rest);
      this.#put('\n');
      if (this.#gap === 2) {
        this.#putSigns(outer.join('').trimEnd());
        this.#put('\n');
      }
    }
    this.#putSigns(this.#containers.map((each) => (each.isFresh ? each.first : each.rest)).join(''));
    for (const container of this.#containers) container.isFresh = false;
    this.#put(this.#lead);
    this.#isHeading = this.#lead !== '';
    this.#lead = '';
    this.#gap = 0;
    this.#isEmpty = false;
    return true;
  }

  #startCellLine(): boolean {
    const isFirst = this.#cell === '';
    const isNext = this.#gap > 0;
    if (isNext && !isFirst) this.#cell += '<br>';
    this.#gap = 0;
    return isFirst || isNext;
  }

  /** Signs that would mean something else where they stand. Inside a line text is left as it is: it is read, not printed. */
  #escaped(words: string, isAtStart: boolean): string {
    if (this.#cell !== undefined) return words.replaceAll('|', '\\|');
    if (this.#marks.some(({ before, isDone }) => before === link && !isDone)) return words.replace(/[[\]]/g, '\\$&');
    return isAtStart ? words.replace(numberSign, '$&\\').replace(blockSign, '\\$&') : words;
  }

  /** Ends emphasis before a block ends; it goes on with the next text. */
  #endMarks(): void {
    for (const mark of this.#marks.toReversed()) {
      if (!mark.isWritten) continue;
      this.#put(mark.behind);
      mark.isWritten = false;
      mark.isDone ||= mark.before === link;
    }
  }

  #putSigns(signs: string): void {
    if (this.#signsLeft < 0) return;
    this.#put(signs);
    this.#signsLeft -= 2 * signs.length;
  }

  #put(text: string): void {
    if (this.#cell !== undefined) {
      this.#cell += text;
      return;
    }
    this.#pieces.push(text);
    this.#length += text.length;
    this.#signsLeft += text.length;
    if (this.#length >= chunkLength) this.#endChunk();
  }

  #endChunk(): void {
    this.#chunks.push(this.#pieces.join(''));
    this.#pieces = [];
    this.#length = 0;
  }
}

const spaces = /[\s\u00a0]+/g;
/** Characters that no reader sees. */
export const unseen = /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e0fff}]/gu;
/** What begins a heading, a list, a quote, a rule or code when it begins a line. */
const blockSign = /^(?:#{1,6}(?=\s|$)|[-+*](?=\s|$)|>|`{3,}|~{3,}|-{3,}$|={3,}$)/;
/** Before a number nothing can be escaped, behind it the sign that makes a list of it. */
const numberSign = /^\d{1,9}(?=[.)]\s)/;
