import { stripVTControlCharacters } from 'node:util';
import type { PartUnion } from '../../contract/content.js';
import { imageFault } from './media.js';

/** Larger notebooks are shown as the JSON text they are. */
export const maxNotebookBytes = 4 * 1024 * 1024;
const maxImages = 8;

/** The cells of a Jupyter notebook with their outputs, or `undefined` when the text is not a notebook. */
export function renderNotebook(json: string, maxChars: number): PartUnion[] | undefined {
  const cells = cellsOf(json);
  if (cells === undefined) return undefined;
  const parts: PartUnion[] = [];
  let left = maxChars;
  let images = 0;
  for (const part of cells.flatMap(renderCell)) {
    if (typeof part !== 'string') {
      if (images++ < maxImages) parts.push(part);
    } else if (part.length <= left) {
      parts.push(part);
      left -= part.length;
    } else {
      parts.push('[More follows: read the rest of the notebook as JSON with offset and limit.]');
      break;
    }
  }
  return joinText(parts.length === 0 ? ['[notebook without cells]'] : parts);
}

function cellsOf(json: string): unknown[] | undefined {
  try {
    const cells = field(JSON.parse(json), 'cells');
    return Array.isArray(cells) ? cells : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function renderCell(cell: unknown, index: number): PartUnion[] {
  const outputs = field(cell, 'outputs');
  return [
    `[${index + 1}] ${textOf(field(cell, 'cell_type'))} cell\n${textOf(field(cell, 'source'))}\n\n`,
    ...(Array.isArray(outputs) ? outputs.flatMap((output) => renderOutput(output, index)) : []),
  ];
}

function renderOutput(output: unknown, index: number): PartUnion[] {
  const data = field(output, 'data');
  const text = [field(output, 'text'), field(data, 'text/plain'), traceback(output)].map(textOf).join('');
  const images = ['image/png', 'image/jpeg'].flatMap((mimeType) => {
    const image = textOf(field(data, mimeType)).replace(/\s/g, '');
    const isSound = image !== '' && imageFault(Buffer.from(image, 'base64'), mimeType) === undefined;
    return isSound ? [{ inlineData: { mimeType, data: image } }] : [];
  });
  return [...(text === '' ? [] : [`[${index + 1}] output\n${stripVTControlCharacters(text)}\n\n`]), ...images];
}

function traceback(output: unknown): unknown {
  const lines = field(output, 'traceback');
  return Array.isArray(lines) ? lines.map((line) => `${String(line)}\n`) : undefined;
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined;
}

/** Notebooks keep text as a string or as a list of lines. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.filter((line) => typeof line === 'string').join('');
  return typeof value === 'string' ? value : '';
}

function joinText(parts: readonly PartUnion[]): PartUnion[] {
  return parts.reduce<PartUnion[]>((joined, part) => {
    const last = joined.at(-1);
    if (typeof part === 'string' && typeof last === 'string') joined[joined.length - 1] = last + part;
    else joined.push(part);
    return joined;
  }, []);
}
