import { type Patch, type Theme, type ThemeName, themes } from './theme.js';

type Paint = (text: string) => string;

/** Text styles by meaning. All coloured output uses them, so that `NO_COLOR` works everywhere. */
export interface Style {
  readonly isPlain: boolean;
  /** May change at any time, for example when the terminal has told its background. */
  theme: ThemeName;
  dim: Paint;
  bold: Paint;
  italic: Paint;
  underline: Paint;
  inverse: Paint;
  accent: Paint;
  code: Paint;
  heading: Paint;
  warning: Paint;
  failure: Paint;
  success: Paint;
  /** Lines of a diff, and the part of a line that differs. */
  added: Paint;
  removed: Paint;
  addedPart: Paint;
  removedPart: Paint;
}

/** Colours, unless `NO_COLOR` is set or `TERM` is `dumb`. */
export function styleFor(env: Readonly<Record<string, string | undefined>>): Style {
  const isPlain = Boolean(env['NO_COLOR']) || env['TERM'] === 'dumb';
  const hasPalette = hasManyColours(env);
  const sgr = (open: number, close: number): Paint =>
    isPlain ? (text) => text : (text) => `\u001b[${open}m${text}\u001b[${close}m`;
  const themed =
    (meaning: keyof Theme): Paint =>
    (text) => {
      if (isPlain) return text;
      const colour = themes[style.theme][meaning];
      if (!hasPalette) return basic[meaning](text);
      return typeof colour === 'number' ? front(colour, text) : patch(colour, text);
    };
  const style: Style = {
    isPlain,
    theme: 'dark',
    bold: sgr(1, 22),
    italic: sgr(3, 23),
    underline: sgr(4, 24),
    inverse: sgr(7, 27),
    dim: themed('dim'),
    accent: themed('accent'),
    code: themed('code'),
    heading: themed('heading'),
    warning: themed('warning'),
    failure: themed('failure'),
    success: themed('success'),
    added: themed('added'),
    removed: themed('removed'),
    addedPart: themed('addedPart'),
    removedPart: themed('removedPart'),
  };
  return style;
}

function hasManyColours({ TERM = '', COLORTERM = '' }: Readonly<Record<string, string | undefined>>): boolean {
  return /256color|kitty|alacritty|ghostty|foot|wezterm|direct/.test(TERM) || COLORTERM !== '';
}

const front = (colour: number, text: string) => `\u001b[38;5;${colour}m${text}\u001b[39m`;
const patch = (colours: Patch, text: string) => front(colours.front, `\u001b[48;5;${colours.back}m${text}\u001b[49m`);
const ansi =
  (open: number, close = 39): Paint =>
  (text) =>
    `\u001b[${open}m${text}\u001b[${close}m`;

/** For terminals with eight colours. */
const basic: Record<keyof Theme, Paint> = {
  dim: ansi(2, 22),
  accent: ansi(36),
  code: ansi(33),
  heading: ansi(36),
  warning: ansi(33),
  failure: ansi(31),
  success: ansi(32),
  added: ansi(32),
  removed: ansi(31),
  addedPart: ansi(7, 27),
  removedPart: ansi(7, 27),
};
