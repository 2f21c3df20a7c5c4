import { expect, test } from 'vitest';
import { luminance, type Rgb, rgbOf, type ThemeName, themes } from './theme.js';

const hex = (text: string): Rgb => ({
  red: Number.parseInt(text.slice(1, 3), 16),
  green: Number.parseInt(text.slice(3, 5), 16),
  blue: Number.parseInt(text.slice(5, 7), 16),
});

/** Backgrounds that people use: plain, and those of widespread themes. */
const backgrounds: Record<ThemeName, string[]> = {
  dark: ['#000000', '#1e1e1e', '#282c34', '#2e3440', '#002b36', '#300a24'],
  light: ['#ffffff', '#fafafa', '#f5f5f5', '#fdf6e3', '#eff1f5'],
};

function contrast(one: Rgb, other: Rgb): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

test.each(['dark', 'light'] as const)('every colour of the %s theme has a contrast of at least 4.5', (name) => {
  const weak = Object.entries(themes[name]).flatMap(([meaning, colour]) => {
    const pairs =
      typeof colour === 'number'
        ? backgrounds[name].map((back) => ({ back, value: contrast(rgbOf(colour), hex(back)) }))
        : [{ back: 'its own', value: contrast(rgbOf(colour.front), rgbOf(colour.back)) }];
    return pairs.filter(({ value }) => value < 4.5).map(({ back, value }) => `${meaning} on ${back}: ${value}`);
  });
  expect(weak).toEqual([]);
});
