import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { canonicalSpelling, osPath, shownPath } from './file-name.js';

const bytesOf = (path: string) => Buffer.from(osPath(path));

// RR13
test.each([
  ['plain.txt', 'plain.txt'],
  ['with space and "quotes" and \'', 'with space and "quotes" and \''],
  ['日本語 👩‍👩‍👧', '日本語 👩‍👩‍👧'],
  ['back\\slash', 'back\\slash'],
  ['new\nline', 'new\\x0Aline'],
  ['tab\there', 'tab\\x09here'],
  ['\u001b[31mred', '\\x1B[31mred'],
  ['abc\u202Etxt.exe', 'abc\\xE2\\x80\\xAEtxt.exe'],
  ['literal\\x41', 'literal\\x5Cx41'],
  ['-rf', '-rf'],
])('%j is shown as %j', (name, shown) => {
  expect(shownPath(Buffer.from(name))).toBe(shown);
  expect(bytesOf(shown)).toEqual(Buffer.from(name));
});

test('every name survives being shown and given back', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const shown = shownPath(Buffer.from(bytes));
      expect(bytesOf(shown)).toEqual(Buffer.from(bytes));
      expect(canonicalSpelling(shown)).toBe(shown);
      expect(shown).not.toMatch(/\p{Cc}/u);
    }),
    { numRuns: 2000 },
  );
});

test('names near an escape survive too', () => {
  const tricky = fc.array(fc.constantFrom(...Buffer.from('\\x4 1Fé\n'), 0xff), { maxLength: 24 });
  fc.assert(
    fc.property(tricky, (bytes) => {
      expect(bytesOf(shownPath(Buffer.from(bytes)))).toEqual(Buffer.from(bytes));
    }),
    { numRuns: 5000 },
  );
});

// RR14
test.skipIf(process.platform !== 'linux')('files with such names are found by the listed form', async () => {
  const root = tempDirectory();
  const names = [Buffer.from([0x66, 0xff, 0xfe]), Buffer.from('a\nb'), Buffer.from('x\\x41'), Buffer.from('end ')];
  for (const name of names) writeFileSync(Buffer.concat([Buffer.from(`${root}/`), name]), name);
  mkdirSync(join(root, 'dir'));
  const listed = readdirSync(root, { encoding: 'buffer' }).map(shownPath).sort();
  expect(listed).toEqual(['a\\x0Ab', 'dir', 'end ', 'f\\xFF\\xFE', 'x\\x5Cx41']);
  const contents = await Promise.all(
    listed.filter((name) => name !== 'dir').map(async (name) => shownPath(await readFile(osPath(join(root, name))))),
  );
  expect(contents).toEqual(listed.filter((name) => name !== 'dir'));
});
