/** A JSON value with its place in the text, so that messages can name lines and edits can keep everything else. */
export type JsonNode = JsonObjectNode | JsonArrayNode | JsonScalarNode;

export interface JsonObjectNode {
  type: 'object';
  start: number;
  end: number;
  entries: JsonEntry[];
}

export interface JsonArrayNode {
  type: 'array';
  start: number;
  end: number;
  items: JsonNode[];
}

export interface JsonScalarNode {
  type: 'scalar';
  start: number;
  end: number;
  value: string | number | boolean | null;
}

export interface JsonEntry {
  key: string;
  start: number;
  value: JsonNode;
}

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** The text is not JSON with comments; `line` counts from 1. */
export class JsoncError extends Error {
  override readonly name = 'JsoncError';
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

/** Deeper than any settings file, shallow enough that recursion over the tree is safe everywhere. */
const maxDepth = 64;

/** Reads JSON that may have comments, trailing commas and a byte order mark. */
export function parseJsonc(text: string): JsonNode {
  const scanner = new Scanner(text);
  scanner.skip();
  const node = scanner.value(0);
  scanner.skip();
  if (scanner.at < text.length) throw scanner.unexpected('the end of the file');
  return node;
}

export function lineOf(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line++;
  return line;
}

/** The plain value of a node. Objects have no prototype, so a key such as `__proto__` is only a key. */
export function valueOf(node: JsonNode): JsonValue {
  if (node.type === 'scalar') return node.value;
  if (node.type === 'array') return node.items.map(valueOf);
  const object: Record<string, JsonValue> = Object.create(null);
  for (const { key, value } of node.entries) object[key] = valueOf(value);
  return object;
}

/** A node for a value that was never written in a file, such as a flag. */
export function nodeOf(value: JsonValue): JsonNode {
  const place = { start: 0, end: 0 };
  if (isArray(value)) return { type: 'array', ...place, items: value.map(nodeOf) };
  if (value === null || typeof value !== 'object') return { type: 'scalar', ...place, value };
  const entries = Object.entries(value).map(([key, child]) => ({ key, start: 0, value: nodeOf(child) }));
  return { type: 'object', ...place, entries };
}

/** Where the blank space and comments that begin at `at` end. */
export function skipBlank(text: string, from: number): number {
  for (let at = from; ; ) {
    blank.lastIndex = at;
    if (blank.test(text)) at = blank.lastIndex;
    const end = commentEnd(text, at);
    if (end === undefined) return at;
    at = end;
  }
}

function commentEnd(text: string, at: number): number | undefined {
  if (text[at] !== '/') return undefined;
  if (text[at + 1] === '/') return indexAfter(text, '\n', at) ?? text.length;
  return text[at + 1] === '*' ? indexAfter(text, '*/', at + 2) : undefined;
}

function indexAfter(text: string, part: string, from: number): number | undefined {
  const at = text.indexOf(part, from);
  return at === -1 ? undefined : at + part.length;
}

function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

const blank = /[\s\uFEFF]+/y;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const plainText = /[^"\\\n]*/y;
const word = /[A-Za-z_$][\w$]*/y;

class Scanner {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  skip(): void {
    this.at = skipBlank(this.text, this.at);
  }

  value(depth: number): JsonNode {
    if (depth > maxDepth) throw this.error(`Values are nested deeper than ${maxDepth} levels`);
    const start = this.at;
    const first = this.text[start];
    if (first === '{') return this.object(depth);
    if (first === '[') return this.array(depth);
    if (first === '"') return { type: 'scalar', value: this.string(), start, end: this.at };
    const digits = this.match(number);
    if (digits !== undefined) return this.number(digits, start);
    const name = this.match(word);
    if (name === 'true' || name === 'false') return { type: 'scalar', value: name === 'true', start, end: this.at };
    if (name === 'null') return { type: 'scalar', value: null, start, end: this.at };
    this.at = start;
    throw this.unexpected('a value');
  }

  private number(digits: string, start: number): JsonNode {
    const value = Number(digits);
    if (!Number.isFinite(value)) throw this.error('The number is too large');
    return { type: 'scalar', value, start, end: this.at };
  }

  private object(depth: number): JsonObjectNode {
    const start = this.at;
    const entries: JsonEntry[] = [];
    this.members('}', () => {
      const keyStart = this.at;
      if (this.text[keyStart] !== '"') throw this.unexpected('a key in double quotes');
      const key = this.string();
      this.skip();
      if (this.text[this.at] !== ':') throw this.unexpected(`":" after the key "${key.slice(0, 60)}"`);
      this.at++;
      this.skip();
      entries.push({ key, start: keyStart, value: this.value(depth + 1) });
    });
    return { type: 'object', start, end: this.at, entries };
  }

  private array(depth: number): JsonArrayNode {
    const start = this.at;
    const items: JsonNode[] = [];
    this.members(']', () => items.push(this.value(depth + 1)));
    return { type: 'array', start, end: this.at, items };
  }

  /** What stands between a bracket and its partner; a comma after the last member is fine. */
  private members(close: '}' | ']', member: () => void): void {
    this.at++;
    this.skip();
    while (this.text[this.at] !== close) {
      member();
      this.skip();
      if (this.text[this.at] === ',') this.at++;
      else if (this.text[this.at] !== close) throw this.unexpected(`"," or "${close}"`);
      this.skip();
    }
    this.at++;
  }

  private string(): string {
    const start = this.at;
    this.at++;
    for (this.match(plainText); this.text[this.at] !== '"'; this.match(plainText)) {
      if (this.text[this.at] !== '\\') throw this.error('A string is not closed on its line');
      this.at += 2;
    }
    this.at++;
    try {
      const value: unknown = JSON.parse(this.text.slice(start, this.at));
      return String(value);
    } catch {
      this.at = start;
      throw this.error('A string has a character or escape that JSON does not allow');
    }
  }

  private match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    this.at += found?.length ?? 0;
    return found;
  }

  unexpected(expected: string): JsoncError {
    const code = this.text.codePointAt(this.at);
    if (code === undefined) return this.error(`Expected ${expected}, but the file ends`);
    if (this.text.startsWith('/*', this.at)) return this.error('A comment is not closed');
    return this.error(`Expected ${expected}, but found ${JSON.stringify(String.fromCodePoint(code))}`);
  }

  private error(message: string): JsoncError {
    return new JsoncError(message, lineOf(this.text, this.at));
  }
}
