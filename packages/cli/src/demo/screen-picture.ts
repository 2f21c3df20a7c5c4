import type { Terminal } from '@xterm/headless';
import { rgbOf } from '../render/theme.js';

/** In cells of the terminal. */
export interface PictureSize {
  columns: number;
  rows: number;
}

export const cell = { width: 8.4, height: 18 };
const margin = 14;
const bar = 26;
/** The 16 terminal colours on a dark background. */
const palette = [
  '#3b4252',
  '#e06c75',
  '#98c379',
  '#e5c07b',
  '#61afef',
  '#c678dd',
  '#56b6c2',
  '#d8dee9',
  '#5c6370',
  '#e06c75',
  '#98c379',
  '#e5c07b',
  '#61afef',
  '#c678dd',
  '#56b6c2',
  '#ffffff',
];
/** The window around the screen. */
export interface PictureTheme {
  background: string;
  foreground: string;
}

const darkWindow: PictureTheme = { background: '#1e222a', foreground: '#d8dee9' };
/** A light window; used by scripts/pictures.mjs. @public */
export const lightWindow: PictureTheme = { background: '#fafafa', foreground: '#24292f' };

function colourOf(index: number): string {
  if (index < 16) return palette[index] ?? '';
  const { red, green, blue } = rgbOf(index);
  return `rgb(${red},${green},${blue})`;
}

interface Run {
  column: number;
  width: number;
  text: string;
  attributes: string;
  back: string | undefined;
}

/** The last `rows` lines with text as SVG, one element per run of cells with the same style. */
export function screenLines(terminal: Terminal, { rows }: PictureSize, theme = darkWindow): string[] {
  const { active } = terminal.buffer;
  let end = active.length;
  while (end > 0 && (active.getLine(end - 1)?.translateToString(true) ?? '') === '') end--;
  const from = Math.max(0, end - rows);
  return Array.from({ length: end - from }, (_, row) => lineOf(terminal, from + row, theme));
}

/** A terminal window around `body`, which may contain several animated screens. */
export function pictureFrame(
  { columns, rows }: PictureSize,
  title: string,
  body: string,
  { style = '', theme: { background, foreground } = darkWindow } = {},
): string {
  const width = Math.ceil(columns * cell.width + 2 * margin);
  const height = rows * cell.height + 2 * margin + bar;
  const dots = ['#e06c75', '#e5c07b', '#98c379'].map(
    (colour, index) => `<circle cx="${margin + 6 + index * 18}" cy="${bar / 2 + 3}" r="5.5" fill="${colour}"/>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(title)}">`,
    `<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:${foreground};white-space:pre}.b{font-weight:700}.i{font-style:italic}.u{text-decoration:underline}.d{opacity:.6}${style}</style>`,
    `<rect width="${width}" height="${height}" rx="8" fill="${background}"/>`,
    ...dots,
    `<text x="${width / 2}" y="${bar / 2 + 8}" text-anchor="middle" class="d">${escape(title)}</text>`,
    `<g transform="translate(${margin} ${margin + bar})">${body}</g>`,
    '</svg>\n',
  ].join('\n');
}

/** A static picture of one screen; used by scripts/pictures.mjs. @public */
export function screenPicture(terminal: Terminal, size: PictureSize, title: string, theme = darkWindow): string {
  const lines = screenLines(terminal, size, theme);
  const rows = Math.max(8, lines.length);
  const body = lines.map((line, row) => `<g transform="translate(0 ${row * cell.height})">${line}</g>`).join('\n');
  return pictureFrame({ ...size, rows }, title, body, { theme });
}

function lineOf(terminal: Terminal, line: number, theme: PictureTheme): string {
  return runsOf(terminal, line, theme)
    .map(({ column, width, text, attributes, back }) => {
      const x = round(column * cell.width);
      const length = round(width * cell.width);
      const behind = back ? `<rect x="${x}" y="0" width="${length}" height="${cell.height}" fill="${back}"/>` : '';
      if (text.trim() === '') return behind;
      return `${behind}<text x="${x}" y="13" textLength="${length}"${attributes}>${escape(text)}</text>`;
    })
    .join('');
}

function runsOf(terminal: Terminal, line: number, theme: PictureTheme): Run[] {
  const cells = terminal.buffer.active.getLine(line);
  const runs: Run[] = [];
  for (let column = 0; column < (cells?.length ?? 0); column++) {
    const at = cells?.getCell(column);
    if (!at || at.getWidth() === 0) continue;
    const { attributes, back } = styleOf(at, theme);
    const text = at.getChars() || ' ';
    const last = runs.at(-1);
    if (last && last.attributes === attributes && last.back === back) {
      last.text += text;
      last.width += at.getWidth();
    } else runs.push({ column, width: at.getWidth(), text, attributes, back });
  }
  return runs.map(trimRun);
}

/** Removes trailing spaces, which must not take part in `textLength`. */
function trimRun(run: Run): Run {
  if (run.back) return run;
  const text = run.text.trimEnd();
  return { ...run, text, width: run.width - (run.text.length - text.length) };
}

type Cell = NonNullable<ReturnType<NonNullable<ReturnType<Terminal['buffer']['active']['getLine']>>['getCell']>>;

function styleOf(at: Cell, { background, foreground }: PictureTheme): { attributes: string; back: string | undefined } {
  const front = at.isFgPalette() ? colourOf(at.getFgColor()) : undefined;
  const back = at.isBgPalette() ? colourOf(at.getBgColor()) : undefined;
  const isInverse = at.isInverse() !== 0;
  const classes = [
    at.isBold() ? 'b' : '',
    at.isItalic() ? 'i' : '',
    at.isUnderline() ? 'u' : '',
    at.isDim() ? 'd' : '',
  ].filter(Boolean);
  const fill = isInverse ? (back ?? background) : front;
  return {
    attributes: `${classes.length > 0 ? ` class="${classes.join(' ')}"` : ''}${fill ? ` style="fill:${fill}"` : ''}`,
    back: isInverse ? (front ?? foreground) : back,
  };
}

const round = (value: number): number => Math.round(value * 10) / 10;

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
