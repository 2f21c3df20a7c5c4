/** A JSON value with its position in the text, so that messages can name lines and edits can keep everything else. */
export type JsonNode = JsonObjectNode | JsonArrayNode | JsonScalarNode;

interface Position {
  start: number;
  /** Counts from 1. */
  line: number;
}

interface Span extends Position {
  end: number;
}

interface ContainerSpan extends Span {
  /** Offsets of the commas, one after each member; the last member may have none. */
  commas: number[];
}

export interface JsonObjectNode extends ContainerSpan {
  type: 'object';
  entries: JsonEntry[];
}

export interface JsonArrayNode extends ContainerSpan {
  type: 'array';
  items: JsonNode[];
}

export interface JsonScalarNode extends Span {
  type: 'scalar';
  value: string | number | boolean | null;
}

export interface JsonEntry extends Position {
  key: string;
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

/**
 * Parses JSON that may have comments, trailing commas and a byte order mark. Throws a `JsoncError` at the first error.
 * Most starts read no settings file, so the parser is loaded with the first one.
 */
export async function parseJsonc(text: string): Promise<JsonNode> {
  const { printParseErrorCode, visit } = await import('jsonc-parser');
  const top: JsonArrayNode = { type: 'array', start: 0, end: text.length, line: 1, items: [], commas: [] };
  const open: (JsonObjectNode | JsonArrayNode)[] = [top];
  let property = { key: '', start: 0, line: 1 };
  const innermost = () => open.at(-1) ?? top;
  const add = (node: JsonNode) => {
    const parent = innermost();
    if (parent.type === 'array') parent.items.push(node);
    else parent.entries.push({ ...property, value: node });
  };
  const begin = (node: JsonObjectNode | JsonArrayNode) => {
    if (open.length > maxDepth) throw new JsoncError(`Values are nested deeper than ${maxDepth} levels`, node.line);
    add(node);
    open.push(node);
  };
  const end = (offset: number) => {
    innermost().end = offset + 1;
    open.pop();
  };
  // A space in place of the byte order mark keeps all offsets.
  visit(
    text.replace(/^\uFEFF/, ' '),
    {
      onObjectBegin: (start, _, line) =>
        begin({ type: 'object', start, end: start, line: line + 1, entries: [], commas: [] }),
      onObjectProperty: (key, start, _, line) => {
        property = { key, start, line: line + 1 };
      },
      onObjectEnd: end,
      onArrayBegin: (start, _, line) =>
        begin({ type: 'array', start, end: start, line: line + 1, items: [], commas: [] }),
      onArrayEnd: end,
      onLiteralValue: (value: JsonScalarNode['value'], start, length, line) => {
        if (typeof value === 'number' && !Number.isFinite(value))
          throw new JsoncError('The number is too large', line + 1);
        add({ type: 'scalar', value, start, end: start + length, line: line + 1 });
      },
      onSeparator: (character, offset) => {
        if (character === ',') innermost().commas.push(offset);
      },
      onError: (code, start, length, line) => {
        throw new JsoncError(
          messageOf(printParseErrorCode(code), property.key, text.slice(start, start + length)),
          line + 1,
        );
      },
    },
    { allowTrailingComma: true },
  );
  const [root] = top.items;
  if (root === undefined) throw new JsoncError('Expected a value, but the file ends', 1);
  return root;
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
  const position = { start: 0, end: 0, line: 1 };
  if (isArray(value)) return { type: 'array', ...position, items: value.map(nodeOf), commas: [] };
  if (value === null || typeof value !== 'object') return { type: 'scalar', ...position, value };
  const entries = Object.entries(value).map(([key, child]) => ({ key, start: 0, line: 1, value: nodeOf(child) }));
  return { type: 'object', ...position, entries, commas: [] };
}

/** True when the text has no content, which counts as an empty file. */
export function isBlank(text: string): boolean {
  return text.replace(/^\uFEFF/, '').trim() === '';
}

export function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

const messages: Readonly<Record<string, string>> = {
  InvalidSymbol: 'Expected a value, or a key in double quotes',
  PropertyNameExpected: 'Expected a key in double quotes',
  ValueExpected: 'Expected a value',
  ColonExpected: 'Expected ":" after the key',
  CommaExpected: 'Expected a comma',
  CloseBraceExpected: 'Expected "}"',
  CloseBracketExpected: 'Expected "]"',
  EndOfFileExpected: 'Expected the end of the file',
  UnexpectedEndOfComment: 'A comment is not closed',
  UnexpectedEndOfString: 'A string is not closed on its line',
  UnexpectedEndOfNumber: 'A number is not complete',
};

/** Shows one character of what was found, because the rest may be a secret. */
function messageOf(code: string, key: string, [found]: string): string {
  const message = messages[code] ?? 'A string has a character or escape that JSON does not allow';
  if (!message.startsWith('Expected')) return message;
  const where = message.endsWith('the key') ? ` "${key.slice(0, 60)}"` : '';
  return `${message}${where}, but ${found === undefined ? 'the file ends' : `found ${JSON.stringify(found)}`}`;
}
