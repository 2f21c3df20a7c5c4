import { expect, test } from 'vitest';
import { hasHiddenText, visibleText } from './visible-text.js';

test.each([
  ['plain text, é, 漢字 and 👍🏽 stay', 'plain text, é, 漢字 and 👍🏽 stay'],
  ['👩🏽‍💻 ❤️‍🔥 👨‍👩‍👧 🏳️‍🌈 stay', '👩🏽‍💻 ❤️‍🔥 👨‍👩‍👧 🏳️‍🌈 stay'],
  ['⚠️ ⚠\ufe0e 1️⃣ stay', '⚠️ ⚠\ufe0e 1️⃣ stay'],
  ['a\u200db', 'a\\u{200d}b'],
  ['👩\u200d', '👩\\u{200d}'],
  ['👩\u200d\u200d💻', '👩\\u{200d}\\u{200d}💻'],
  ['a\ufe0fb', 'a\\u{fe0f}b'],
  ['⚠️\ufe0f', '⚠️\\u{fe0f}'],
  ['tab\tand\nnewline stay', 'tab\tand\nnewline stay'],
  ['\u001b[31mred', '\\x1b[31mred'],
  ['\u009b31m', '\\x9b31m'],
  ['a\rb', 'a\\x0db'],
  ['user\u202etxt.exe', 'user\\u{202e}txt.exe'],
  ['zero\u200bwidth', 'zero\\u{200b}width'],
  ['tag\u{e0041}', 'tag\\u{e0041}'],
  ['lone \ud800 surrogate', 'lone \\u{d800} surrogate'],
])('%j is shown as %j', (text, shown) => {
  expect(visibleText(text)).toBe(shown);
  expect(hasHiddenText(text)).toBe(text !== shown);
});
