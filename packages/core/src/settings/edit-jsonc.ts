import type { Edit } from 'jsonc-parser';
import {
  isArray,
  isBlank,
  type JsonArrayNode,
  type JsonNode,
  type JsonObjectNode,
  type JsonValue,
  parseJsonc,
  valueOf,
} from './parse-jsonc.js';

/**
 * The text with the value at `path` set, or removed when `value` is `undefined`. Everything else, comments and layout
 * included, stays byte for byte; a list that only grows keeps its old items as they are written. The edits are our own
 * because `modify` of jsonc-parser moves or drops comments and leaves `{,}` when it removes the only entry of `{"a": 1,}`.
 */
export async function editJsonc(text: string, path: readonly string[], value: JsonValue | undefined): Promise<string> {
  const { applyEdits } = await import('jsonc-parser');
  const source = isBlank(text) ? `${text}{}\n` : text;
  const place = locate(await parseJsonc(source), path);
  if (value === undefined) return applyEdits(source, remove(source, place));
  const [name, ...below] = place.rest;
  if (name === undefined) return applyEdits(source, replace(source, place.node, value));
  if (place.node.type !== 'object') throw new Error(`"${path.join('.')}" is below a value that is not an object.`);
  const nested = below.reduceRight<JsonValue>((inner, key) => ({ [key]: inner }), value);
  return applyEdits(source, append(source, place.node, [{ key: name, value: nested }]));
}

interface Place {
  node: JsonNode;
  /** The keys that do not exist below the node. */
  rest: readonly string[];
  /** The object that holds the node, and the index of its entry there. */
  parent?: { object: JsonObjectNode; index: number };
}

function locate(node: JsonNode, path: readonly string[], parent?: Place['parent']): Place {
  const [name, ...rest] = path;
  const index = node.type === 'object' ? node.entries.findLastIndex(({ key }) => key === name) : -1;
  const entry = node.type === 'object' ? node.entries[index] : undefined;
  if (node.type !== 'object' || entry === undefined) return { node, rest: path, ...(parent && { parent }) };
  return locate(entry.value, rest, { object: node, index });
}

function replace(text: string, node: JsonNode, value: JsonValue): Edit[] {
  if (node.type === 'array' && isArray(value) && isPrefix(node, value))
    return append(
      text,
      node,
      value.slice(node.items.length).map((item) => ({ value: item })),
    );
  return [edit(node.start, node.end, print(value, indentOf(text, node.start), styleOf(text)))];
}

function isPrefix({ items }: JsonArrayNode, value: readonly JsonValue[]): boolean {
  const isSame = (item: JsonNode, index: number) => JSON.stringify(valueOf(item)) === JSON.stringify(value[index]);
  return items.length <= value.length && items.every(isSame);
}

/** Adds members at the end of an object or list, each on its own line unless the container is on one line. */
function append(
  text: string,
  container: JsonObjectNode | JsonArrayNode,
  added: readonly { key?: string; value: JsonValue }[],
): Edit[] {
  if (added.length === 0) return [];
  const style = styleOf(text);
  const outer = indentOf(text, container.start);
  const members = (separator: string, indent: string) =>
    added.map(({ key, value }) => {
      const prefix = key === undefined ? separator : `${separator}${JSON.stringify(key)}: `;
      return prefix + print(value, indent, style);
    });
  const spans = container.type === 'array' ? container.items : container.entries.map(spanOf);
  const last = spans.at(-1);
  if (last === undefined) {
    const inner = outer + style.unit;
    const contentEnd = container.start + text.slice(container.start, container.end - 1).trimEnd().length;
    const body = members(style.newline + inner, inner).join(',') + style.newline + outer;
    return [edit(contentEnd, container.end - 1, body)];
  }
  const isOneLine = !text.slice(container.start, container.end).includes('\n');
  const indent = isOneLine ? outer : indentOf(text, last.start);
  const body = members(isOneLine ? ' ' : style.newline + indent, indent).join(',');
  const comma = container.commas[spans.length - 1];
  const from = comma === undefined ? last.end : comma + 1;
  // A comment at the end of the last member's line belongs to that member.
  const at = isOneLine ? from : endOfComments(text, from);
  return comma === undefined ? [edit(last.end, last.end, ','), edit(at, at, body)] : [edit(at, at, `${body},`)];
}

const spanOf = ({ start, value: { end } }: JsonObjectNode['entries'][number]) => ({ start, end });

/** The end of the comments that follow on the same line. */
function endOfComments(text: string, from: number): number {
  const comments = /[ \t]*(?:\/\*(?:(?!\*\/)[^\n])*\*\/[ \t]*)*(?:\/\/[^\r\n]*)?/y;
  comments.lastIndex = from;
  const length = comments.exec(text)?.[0].trimEnd().length ?? 0;
  return from + length;
}

function remove(text: string, { rest, parent }: Place): Edit[] {
  const entry = parent?.object.entries[parent.index];
  if (rest.length > 0 || parent === undefined || entry === undefined) return [];
  const { commas } = parent.object;
  const comma = commas[parent.index];
  const removed = wholeLine(text, entry.start, comma === undefined ? entry.value.end : comma + 1);
  // The previous entry becomes the last one and no longer needs its comma.
  const previous = comma === undefined ? commas[parent.index - 1] : undefined;
  return previous === undefined ? [removed] : [edit(previous, previous + 1, ''), removed];
}

/** Removes the text from `start` to `end`, and its line when nothing else is on it. */
function wholeLine(text: string, start: number, end: number): Edit {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const newline = text.indexOf('\n', end);
  const lineEnd = newline === -1 ? text.length : newline + 1;
  const isAlone = (text.slice(lineStart, start) + text.slice(end, lineEnd)).trim() === '';
  return isAlone ? edit(lineStart, lineEnd, '') : edit(start, end, '');
}

interface Style {
  unit: string;
  newline: string;
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

function edit(start: number, end: number, content: string): Edit {
  return { offset: start, length: end - start, content };
}
