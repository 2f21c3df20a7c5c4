import { type JsonNode, type JsonValue, parseJsonc, skipBlank, valueOf } from './parse-jsonc.js';

/**
 * The text with the value at `path` set, or removed when `value` is `undefined`. Everything else, comments and layout
 * included, stays byte for byte; a list that only grows keeps its old entries as they are written.
 */
export function editJsonc(text: string, path: readonly string[], value: JsonValue | undefined): string {
  const source = text.replace(/^\uFEFF/, '').trim() === '' ? `${text}{}\n` : text;
  const style = styleOf(source);
  const found = locate(parseJsonc(source), path);
  if (found.rest.length === 0)
    return value === undefined ? remove(source, found) : replace(source, found.node, value, style);
  if (value === undefined) return source;
  if (found.node.type !== 'object') throw new Error(`"${path.join('.')}" lies below a value that is not an object.`);
  const [name = '', ...below] = found.rest;
  const nested = below.reduceRight<JsonValue>((inner, key) => ({ [key]: inner }), value);
  const children = found.node.entries.map((entry) => ({ start: entry.start, end: entry.value.end }));
  return append(
    source,
    found.node,
    children,
    (indent) => `${JSON.stringify(name)}: ${print(nested, indent, style)}`,
    style,
  );
}

interface Place {
  node: JsonNode;
  /** The names that do not exist below the node. */
  rest: readonly string[];
  /** The entry of the node in its object, and the end of the one before. */
  entry?: { start: number; previousEnd: number | undefined };
}

interface Style {
  unit: string;
  newline: string;
}

interface Span {
  start: number;
  end: number;
}

function locate(node: JsonNode, path: readonly string[], place?: Place['entry']): Place {
  const [name, ...rest] = path;
  const entries = node.type === 'object' ? node.entries : [];
  const index = entries.findLastIndex(({ key }) => key === name);
  const entry = entries[index];
  if (entry === undefined) return { node, rest: path, ...(place !== undefined && { entry: place }) };
  return locate(entry.value, rest, { start: entry.start, previousEnd: entries[index - 1]?.value.end });
}

function replace(text: string, node: JsonNode, value: JsonValue, style: Style): string {
  const added = addedItems(node, value);
  if (added !== undefined && node.type === 'array') {
    return added.reduce<string>((grown, item) => appendItem(grown, node.start, item, style), text);
  }
  return splice(text, node, print(value, indentOf(text, node.start), style));
}

/** What a list gained at its end, when that is all that changed. */
function addedItems(node: JsonNode, value: JsonValue): readonly JsonValue[] | undefined {
  if (node.type !== 'array' || !isList(value) || value.length < node.items.length) return undefined;
  const isKept = node.items.every((item, index) => JSON.stringify(valueOf(item)) === JSON.stringify(value[index]));
  return isKept ? value.slice(node.items.length) : undefined;
}

function appendItem(text: string, start: number, item: JsonValue, style: Style): string {
  const list = nodeStartingAt(parseJsonc(text), start);
  if (list?.type !== 'array') return text;
  return append(text, list, list.items, (indent) => print(item, indent, style), style);
}

function nodeStartingAt(node: JsonNode, start: number): JsonNode | undefined {
  if (node.start === start) return node;
  const children =
    node.type === 'object' ? node.entries.map(({ value }) => value) : node.type === 'array' ? node.items : [];
  const child = children.find((candidate) => candidate.start <= start && start < candidate.end);
  return child === undefined ? undefined : nodeStartingAt(child, start);
}

/** Adds a member as the last of an object or list, on its own line unless the container stands on one line. */
function append(
  text: string,
  container: Span,
  children: readonly Span[],
  member: (indent: string) => string,
  style: Style,
): string {
  const outer = indentOf(text, container.start);
  const last = children.at(-1);
  if (last === undefined) {
    const inner = outer + style.unit;
    const comments = text.slice(container.start + 1, container.end - 1).trimEnd();
    const body = `${comments}${style.newline}${inner}${member(inner)}${style.newline}${outer}`;
    return splice(text, { start: container.start + 1, end: container.end - 1 }, body);
  }
  const isOneLine = !text.slice(container.start, container.end).includes('\n');
  const indent = isOneLine ? outer : indentOf(text, last.start);
  const afterBlank = skipBlank(text, last.end);
  const hasComma = text[afterBlank] === ',';
  // A remark at the end of the last member's line belongs to that member.
  const from = hasComma ? afterBlank + 1 : last.end;
  const at = isOneLine ? from : endOfRemarks(text, from);
  const withMember = splice(
    text,
    { start: at, end: at },
    `${isOneLine ? ' ' : style.newline + indent}${member(indent)}${hasComma ? ',' : ''}`,
  );
  return hasComma ? withMember : splice(withMember, { start: last.end, end: last.end }, ',');
}

/** The end of what follows on the same line: spaces and comments. */
function endOfRemarks(text: string, from: number): number {
  const remark = /[ \t]*(?:\/\*(?:(?!\*\/)[^\n])*\*\/[ \t]*)*(?:\/\/[^\r\n]*)?/y;
  remark.lastIndex = from;
  const length = remark.exec(text)?.[0].trimEnd().length ?? 0;
  return from + length;
}

function remove(text: string, { node, entry }: Place): string {
  if (entry === undefined) return text;
  const after = skipBlank(text, node.end);
  const isFollowed = text[after] === ',';
  const removed = splice(text, { start: entry.start, end: isFollowed ? after + 1 : node.end }, '');
  const shorter = withoutBlankLine(removed, entry.start);
  if (isFollowed || entry.previousEnd === undefined) return shorter;
  // The entry before is the last one now and needs its comma no longer.
  const comma = skipBlank(shorter, entry.previousEnd);
  return splice(shorter, { start: comma, end: comma + 1 }, '');
}

/** Drops the line at `at` when nothing is left on it. */
function withoutBlankLine(text: string, at: number): string {
  const start = text.lastIndexOf('\n', at - 1) + 1;
  const newline = text.indexOf('\n', at);
  const end = newline === -1 ? text.length : newline + 1;
  return text.slice(start, end).trim() === '' ? text.slice(0, start) + text.slice(end) : text;
}

function print(value: JsonValue, indent: string, style: Style): string {
  return JSON.stringify(value, null, style.unit).replaceAll('\n', style.newline + indent);
}

function styleOf(text: string): Style {
  const unit = /\n([ \t]+)"/.exec(text)?.[1] ?? '  ';
  return { unit, newline: text.includes('\r\n') ? '\r\n' : '\n' };
}

function indentOf(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

function splice(text: string, { start, end }: Span, insert: string): string {
  return text.slice(0, start) + insert + text.slice(end);
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
