import type { Terminal } from '@xterm/headless';
import { cell, type PictureSize, pictureFrame, screenLines } from './screen-picture.js';

/** A screen and its duration in seconds. */
interface Frame {
  lines: string[];
  seconds: number;
}

/** Screens of a terminal as one animated SVG. */
export class SvgAnimation {
  readonly #size: PictureSize;
  readonly #frames: Frame[] = [];

  constructor(size: PictureSize) {
    this.#size = size;
  }

  /** Adds the current screen. An unchanged screen extends the last frame. */
  add(terminal: Terminal, seconds: number): void {
    const lines = screenLines(terminal, this.#size);
    const last = this.#frames.at(-1);
    if (last && last.lines.join('\n') === lines.join('\n')) last.seconds += seconds;
    else this.#frames.push({ lines, seconds });
  }

  /** Stores each distinct line once. With reduced motion only the last frame is shown. */
  toSvg(title: string): string {
    const names = new Map<string, string>();
    const nameOf = (line: string) => {
      const name = names.get(line) ?? `l${names.size}`;
      names.set(line, name);
      return name;
    };
    const total = this.#frames.reduce((sum, { seconds }) => sum + seconds, 0);
    const share = (seconds: number) => `${Math.round((10_000 * seconds) / total) / 100}%`;
    let from = 0;
    const parts = this.#frames.map(({ lines, seconds }, index) => {
      const rows = lines.map((line, row) =>
        line === '' ? '' : `<use href="#${nameOf(line)}" y="${row * cell.height}"/>`,
      );
      const begin = from;
      from += seconds;
      const hide = 'visibility:hidden';
      return {
        rule: `@keyframes k${index}{0%{${hide}}${share(begin)}{visibility:visible}${share(from)}{${hide}}100%{${hide}}}`,
        body: `<g class="f" style="animation-name:k${index}">${rows.join('')}</g>`,
      };
    });
    const style = [
      `.f{visibility:hidden;animation:${total.toFixed(1)}s step-end infinite}.f:last-of-type{visibility:visible}`,
      ...parts.map(({ rule }) => rule),
      '@media(prefers-reduced-motion:reduce){.f{animation:none}}',
    ].join('');
    const defs = [...names].map(([line, name]) => `<g id="${name}">${line}</g>`).join('');
    return pictureFrame(this.#size, title, `<defs>${defs}</defs>${parts.map(({ body }) => body).join('\n')}`, {
      style,
    });
  }
}
