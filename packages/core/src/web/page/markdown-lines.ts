/** The character that opens a link. */
export const link = '[';

interface Mark {
  before: string;
  after: string;
  /** How many nested elements of this kind are open; they are written as one. */
  depth: number;
  isWritten: boolean;
  /** A link is written in its first block only, although its element may contain more. */
  isDone: boolean;
}

interface Container {
  first: string;
  rest: string;
  isFresh: boolean;
}

/** Deeper quotes and lists get no prefix of their own, which bounds the prefix of each line. */
const maxContainers = 8;
/** Line prefixes of a page may take this many characters more than its text. */
const freePrefixChars = 64 * 1024;
const chunkLength = 16 * 1024;

/** Writes lines of Markdown with their prefixes (quotes, list items), empty lines and emphasis. */
export class MarkdownLines {
  readonly #chunks: string[] = [];
  readonly #containers: Container[] = [];
  readonly #marks: Mark[] = [];
  #skippedContainers = 0;
  /** The next chunk. Chunks are joined early, so that the end of a large page does not block the event loop. */
  #pieces: string[] = [];
  #length = 0;
  /** The text of the open table cell. */
  #cell: string | undefined;
  /** Line breaks to write before the next text. */
  #gap = 0;
  #isEmpty = true;
  #hasSpace = false;
  #lead = '';
  #isHeading = false;
  /** How many characters line prefixes may still take; text adds to it. */
  #prefixBudget = freePrefixChars;

  /** Adds text of a page, in which all white space counts as one space. */
  text(raw: string): void {
    const text = raw.replace(invisibleCharacters, '').replace(spaces, ' ');
    if (text === '') return;
    if (text.startsWith(' ')) this.#hasSpace = true;
    const words = text.trim();
    if (words === '') return;
    const isAtStart = this.#startText();
    this.#put(this.#escaped(words, isAtStart));
    this.#hasSpace = text.endsWith(' ');
  }

  /** Adds finished Markdown inside a line. */
  raw(markdown: string): void {
    const text = markdown.replace(invisibleCharacters, '');
    this.#startText();
    this.#put(this.#cell === undefined ? text : text.replaceAll('|', '\\|'));
  }

  /** The prefix of a line that is not the first of an item. */
  get indent(): string {
    return this.#prefixBudget < 0 ? '' : this.#containers.map(({ rest }) => rest).join('');
  }

  get prefixBudget(): number {
    return this.#prefixBudget;
  }

  /** Adds finished Markdown on lines of its own; `prefix` is how many characters of it are line prefixes. */
  verbatim(pieces: readonly string[], prefix: number): void {
    this.block(2);
    this.#startText();
    for (const piece of pieces) this.#put(piece);
    this.#prefixBudget -= 2 * prefix;
  }

  /** Ends the line: the next text follows after one or two line breaks. */
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

  /** The prefix of a heading, written before the next text. */
  lead(prefix: string): void {
    this.#lead = `${prefix} `;
  }

  openContainer(first: string, rest: string): void {
    if (this.#containers.length >= maxContainers || this.#cell !== undefined) this.#skippedContainers++;
    else this.#containers.push({ first, rest, isFresh: true });
  }

  closeContainer(): void {
    if (this.#skippedContainers > 0) this.#skippedContainers--;
    else this.#containers.pop();
  }

  openMark([before, after]: readonly [before: string, after: string]): void {
    const open = this.#marks.find((mark) => mark.before === before);
    if (open) open.depth++;
    else this.#marks.push({ before, after, depth: 1, isWritten: false, isDone: after === ']()' });
  }

  closeMark(before: string): void {
    const mark = this.#marks.at(-1);
    if (mark?.before !== before) {
      const outer = this.#marks.find((each) => each.before === before);
      if (outer) outer.depth--;
      return;
    }
    if (--mark.depth > 0) return;
    if (mark.isWritten) this.#put(mark.after);
    this.#marks.pop();
  }

  /** Collects text until `takeCell` is called. */
  openCell(): void {
    this.#endMarks();
    this.#cell = '';
    this.#gap = 0;
    this.#hasSpace = false;
  }

  get cellLength(): number {
    return this.#cell?.length ?? 0;
  }

  /** A space must be written before the next word. */
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

  /** Writes everything that belongs before text; true when the text begins a line. */
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
        this.#putPrefix(outer.join('').trimEnd());
        this.#put('\n');
      }
    }
    this.#putPrefix(this.#containers.map((each) => (each.isFresh ? each.first : each.rest)).join(''));
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

  /** Escapes characters that would be Markdown syntax at this position. Text inside a line is not escaped. */
  #escaped(words: string, isAtStart: boolean): string {
    if (this.#cell !== undefined) return words.replaceAll('|', '\\|');
    if (this.#marks.some(({ before, isDone }) => before === link && !isDone)) return words.replace(/[[\]]/g, '\\$&');
    return isAtStart ? words.replace(listNumber, '$&\\').replace(blockMarker, '\\$&') : words;
  }

  /** Closes emphasis before a block ends; it continues with the next text. */
  #endMarks(): void {
    for (const mark of this.#marks.toReversed()) {
      if (!mark.isWritten) continue;
      this.#put(mark.after);
      mark.isWritten = false;
      mark.isDone ||= mark.before === link;
    }
  }

  #putPrefix(prefix: string): void {
    if (this.#prefixBudget < 0) return;
    this.#put(prefix);
    this.#prefixBudget -= 2 * prefix.length;
  }

  #put(text: string): void {
    if (this.#cell !== undefined) {
      this.#cell += text;
      return;
    }
    this.#pieces.push(text);
    this.#length += text.length;
    this.#prefixBudget += text.length;
    if (this.#length >= chunkLength) this.#endChunk();
  }

  #endChunk(): void {
    this.#chunks.push(this.#pieces.join(''));
    this.#pieces = [];
    this.#length = 0;
  }
}

const spaces = /[\s\u00a0]+/g;
/** Characters that are invisible to readers. */
export const invisibleCharacters = /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e0fff}]/gu;
/** Starts a heading, a list, a quote, a rule or code at the beginning of a line. */
const blockMarker = /^(?:#{1,6}(?=\s|$)|[-+*](?=\s|$)|>|`{3,}|~{3,}|-{3,}$|={3,}$)/;
/** A number cannot be escaped, so the character after it is, which would make it a list item. */
const listNumber = /^\d{1,9}(?=[.)]\s)/;
