import { isUtf8 } from 'node:buffer';
import type { Yielder } from '../../async/yielder.js';
import { diffLines } from '../../text/line-diff.js';
import { breakAfter, breakBefore, findOffsets, lineEnd, lineStart, type TextBytes } from '../read/text-bytes.js';
import type { Snapshot } from '../write/file-snapshot.js';
import type { TextChange } from './change-view.js';
import { emptyText, encodeOrRefuse, refuseOmission, textOfSnapshot } from './plan-edit.js';
import type { Splice } from './splice.js';

/**
 * The change that writing `content` makes to this file. Its encoding and byte order mark stay. A carriage return in
 * `content` is taken literally; otherwise lines end as in the file. In a file with mixed endings or invalid bytes, the
 * lines that `content` repeats keep theirs.
 */
export async function planWrite(current: Snapshot | null, content: string, yielder: Yielder): Promise<TextChange> {
  if (current === null) {
    const text = await emptyText();
    return { text, splices: [{ start: 0, end: 0, bytes: encodeOrRefuse(text, content) }] };
  }
  const text = await textOfSnapshot(current);
  await refuseOmission(text, content, '', yielder);
  const mark = text.encoding.bom.length;
  const given = mark > 0 ? content.replace(/^\uFEFF/, '') : content;
  const endings = given.includes('\r') ? 'literal' : await endingsOf(text, yielder);
  if (endings === 'mixed' && text.bytes.length <= maxAligned)
    return { text, splices: await alignLines(text, mark, given) };
  if (yielder.shouldYield) await yielder.yield();
  const bytes = encodeOrRefuse(text, endings === 'crlf' ? given.replaceAll('\n', '\r\n') : given);
  if (yielder.shouldYield) await yielder.yield();
  return { text, splices: differing(text, mark, bytes) };
}

/** Comparing line by line costs memory, so a larger file gets uniform endings. */
const maxAligned = 4 << 20;

/** `mixed` also means text with invalid bytes, which only survive in unchanged lines. */
async function endingsOf(text: TextBytes, yielder: Yielder): Promise<'lf' | 'crlf' | 'mixed'> {
  if (isDamaged(text)) return 'mixed';
  if (!text.bytes.includes(0x0d)) return 'lf';
  const counts: number[] = [];
  for (const ending of ['\r', '\n', '\r\n']) {
    const needle = text.codec.encode(ending) ?? Buffer.alloc(0);
    counts.push((await findOffsets(text, needle, { yielder })).length);
  }
  return counts.every((count) => count === counts[0]) ? 'crlf' : 'mixed';
}

function isDamaged({ bytes, codec, encoding }: TextBytes): boolean {
  if (bytes.length > maxAligned) return false;
  return encoding.name === 'utf-8' ? !isUtf8(bytes) : codec.decode(bytes).includes('\uFFFD');
}

/** One splice for everything between the first and the last line that differ. */
function differing(text: TextBytes, mark: number, bytes: Buffer): Splice[] {
  const old = text.bytes.subarray(mark);
  if (old.equals(bytes)) return [];
  const head = sharedLength(old, bytes, 'start');
  const tail = Math.min(sharedLength(old, bytes, 'end'), Math.min(old.length, bytes.length) - head);
  const start = Math.max(mark, lineStart(text, mark + head));
  const end = lineEndAfter(text, text.bytes.length - (tail - (tail % text.codec.unit)));
  const kept = text.bytes.length - end;
  return [{ start, end, bytes: bytes.subarray(start - mark, bytes.length - kept) }];
}

function lineEndAfter(text: TextBytes, offset: number): number {
  if (breakBefore(text, offset) > 0) return offset;
  const end = lineEnd(text, offset);
  return end + breakAfter(text, end);
}

/** How many bytes two buffers share at one end, compared in blocks: `npm run bench -- --only 'write 10 MB'`. */
function sharedLength(a: Buffer, b: Buffer, where: 'start' | 'end'): number {
  const most = Math.min(a.length, b.length);
  let shared = 0;
  for (let block = 1 << 16; block >= 1; block >>= 4) {
    for (; shared + block <= most; shared += block) {
      const [inA, inB] = where === 'start' ? [shared, shared] : [a.length - shared - block, b.length - shared - block];
      if (a.compare(b, inB, inB + block, inA, inA + block) !== 0) break;
    }
  }
  return shared;
}

/** Keeps the bytes of every line that `content` repeats, with its own line ending. */
async function alignLines(text: TextBytes, mark: number, content: string): Promise<Splice[]> {
  const lines = linesOf(text, mark);
  const wanted = content.split('\n');
  const ending = (index: number) => lines[Math.min(index, lines.length - 1)]?.gap || lines[index - 1]?.gap || '\n';
  const edits = await diffLines(
    lines.map((line) => line.content),
    wanted,
  );
  return edits.map(({ oldStart, oldEnd, newStart, newEnd }) => {
    const isLast = newEnd === wanted.length;
    const fresh = wanted.slice(newStart, newEnd).map((line, index) => {
      const hasBreak = !(isLast && newStart + index === wanted.length - 1);
      return hasBreak ? line + ending(Math.min(oldStart + index, Math.max(oldStart, oldEnd - 1))) : line;
    });
    const start = lines[oldStart]?.start ?? text.bytes.length;
    const end = lines[oldEnd]?.start ?? text.bytes.length;
    return { start, end, bytes: encodeOrRefuse(text, fresh.join('')) };
  });
}

interface Line {
  start: number;
  content: string;
  /** The line break after it; empty for the last line. */
  gap: string;
}

function linesOf(text: TextBytes, mark: number): Line[] {
  const lines: Line[] = [];
  for (let start = mark; ; ) {
    const end = lineEnd(text, start);
    const gap = breakAfter(text, end);
    const decode = (from: number, to: number) => text.codec.decode(text.bytes.subarray(from, to));
    lines.push({ start, content: decode(start, end), gap: decode(end, end + gap) });
    if (gap === 0) return lines;
    start = end + gap;
  }
}
