/** The name of a theme, chosen by the background of the terminal. */
export type ThemeName = 'dark' | 'light';

/**
 * Colours by meaning, as numbers of the 256-colour palette from 16 on: terminals let people change the first 16 colours
 * only, so the contrast of these is known.
 */
export interface Theme {
  dim: number;
  accent: number;
  code: number;
  warning: number;
  failure: number;
  success: number;
  heading: number;
  /** Lines of a diff, and the part of a line that differs. */
  added: Patch;
  removed: Patch;
  addedPart: Patch;
  removedPart: Patch;
}

/** Text on a background of its own. */
export interface Patch {
  front: number;
  back: number;
}

export const themes: Readonly<Record<ThemeName, Theme>> = {
  dark: {
    dim: 248,
    accent: 80,
    code: 180,
    warning: 221,
    failure: 210,
    success: 114,
    heading: 117,
    added: { front: 255, back: 22 },
    removed: { front: 255, back: 52 },
    addedPart: { front: 231, back: 28 },
    removedPart: { front: 231, back: 124 },
  },
  light: {
    dim: 240,
    accent: 24,
    code: 94,
    warning: 94,
    failure: 124,
    success: 22,
    heading: 25,
    added: { front: 16, back: 194 },
    removed: { front: 16, back: 224 },
    addedPart: { front: 16, back: 114 },
    removedPart: { front: 16, back: 217 },
  },
};

/** The theme that a setting names; also by the names of other programs, such as `GitHub Light`. */
export function themeNamed(name: string): ThemeName | undefined {
  if (/light/i.test(name)) return 'light';
  return /dark/i.test(name) ? 'dark' : undefined;
}

export interface Rgb {
  red: number;
  green: number;
  blue: number;
}

const steps = [0, 95, 135, 175, 215, 255];

/** The colour behind a number of the palette, from 16 on. */
export function rgbOf(colour: number): Rgb {
  if (colour >= 232) {
    const grey = 8 + 10 * (colour - 232);
    return { red: grey, green: grey, blue: grey };
  }
  const step = (place: number) => steps[Math.floor((colour - 16) / place) % 6] ?? 0;
  return { red: step(36), green: step(6), blue: step(1) };
}

/** Relative luminance between 0 and 1, as WCAG 2 defines it. */
export function luminance({ red, green, blue }: Rgb): number {
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

function linear(value: number): number {
  const share = value / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}
