import { lineWidth } from '../render/lines.js';

/** Synchronized output: terminals that support it show everything in between at once. */
const beginFrame = '\u001b[?2026h';
const endFrame = '\u001b[?2026l';
const eraseLine = '\u001b[2K';
const eraseBelow = '\u001b[J';

const cursorUp = (lines: number): string => (lines > 0 ? `\u001b[${lines}A\r` : '\r');

/** Erases the lines above the cursor. The first one alone, because tmux keeps a screen that is erased as a whole. */
const eraseArea = (height: number): string =>
  height === 0 ? '' : `${cursorUp(height)}${eraseLine}\n${eraseBelow}${cursorUp(1)}`;

/** The last lines of the terminal, which are redrawn; the cursor stays below them. The scrollback above is never changed. */
export class LiveArea {
  #lines: readonly string[] = [];

  /** The output that adds `added` to the scrollback and shows `lines` in the area. */
  frame(lines: readonly string[], added: readonly string[] = []): string {
    const before = this.#lines;
    this.#lines = [...lines];
    if (added.length > 0) return synchronized(eraseArea(before.length) + joinLines([...added, ...lines]));
    const same = before.findIndex((line, index) => line !== lines[index]);
    const kept = same === -1 ? before.length : same;
    if (kept === before.length && kept === lines.length) return '';
    const changes = lines.slice(kept).map((line, index) => {
      const old = before[kept + index];
      if (old === line) return '\n';
      return `${old === undefined ? '' : eraseLine}${line}\n`;
    });
    return synchronized(
      cursorUp(before.length - kept) + changes.join('') + (lines.length < before.length ? eraseBelow : ''),
    );
  }

  /** The output that clears the area after a resize, when the terminal has wrapped the lines again. */
  clear(width: number): string {
    const height = this.#lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(lineWidth(line) / width)), 0);
    this.#lines = [];
    return eraseArea(height);
  }
}

const joinLines = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
const synchronized = (text: string): string => beginFrame + text + endFrame;
