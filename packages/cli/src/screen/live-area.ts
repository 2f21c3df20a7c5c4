import { lineWidth } from '../render/lines.js';

/** Terminals that know it show what is between the two at once; the others ignore it. */
const beginFrame = '\u001b[?2026h';
const endFrame = '\u001b[?2026l';
const eraseLine = '\u001b[2K';
const eraseBelow = '\u001b[J';

const up = (lines: number): string => (lines > 0 ? `\u001b[${lines}A\r` : '\r');

/**
 * The last lines of the terminal, which change; the cursor waits below them. What is above them is scrollback and never
 * touched.
 */
export class LiveArea {
  #lines: readonly string[] = [];

  /** What to send to the terminal so that `past` stands above and `lines` in the area. */
  frame(lines: readonly string[], past: readonly string[] = []): string {
    const before = this.#lines;
    this.#lines = [...lines];
    if (past.length > 0) return inOne(up(before.length) + eraseBelow + written([...past, ...lines]));
    const same = before.findIndex((line, index) => line !== lines[index]);
    const kept = same === -1 ? before.length : same;
    if (kept === before.length && kept === lines.length) return '';
    const changes = lines.slice(kept).map((line, index) => {
      const old = before[kept + index];
      if (old === line) return '\n';
      return `${old === undefined ? '' : eraseLine}${line}\n`;
    });
    return inOne(up(before.length - kept) + changes.join('') + (lines.length < before.length ? eraseBelow : ''));
  }

  /** What to send after the terminal has got another width, before the next frame: it has wrapped the lines anew. */
  clear(width: number): string {
    const height = this.#lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(lineWidth(line) / width)), 0);
    this.#lines = [];
    return height === 0 ? '' : up(height) + eraseBelow;
  }
}

const written = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
const inOne = (text: string): string => beginFrame + text + endFrame;
