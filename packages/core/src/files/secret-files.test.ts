import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { expect, test } from 'vitest';
import { isLong, report } from '../../../../testing/long-run.js';
import { randomBelow, usualSeed } from '../../../../testing/random.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { type BytePath, fromBytePath, toBytePath } from './byte-path.js';
import { secretNames } from './protected-names.js';
import { foldPath, secrecyOf } from './protected-paths.js';
import { secretFiles, withoutSecretsFlag } from './secret-files.js';

function isLeftOut(path: BytePath): boolean {
  const slash = path.lastIndexOf('/') + 1;
  return secretFiles(path.slice(0, slash), [path.slice(slash)]).length > 0;
}

// biome-ignore format: a table is read at a glance
const odd = [
  'key4.db.', 'key4.db ', 'key4.db:s', 'key４.db', 'key4.db\n', 'key4.db/x', 'Login Data.', 'logins.json.', '．netrc', '․netrc', '\u200B.netrc', '＿netrc', 'x\\.netrc',
  'x／.netrc', '．ssh/id_rsa', '․gnupg/x', 'b\\.gnupg/x', 'Libra\u00ADry/Keychain\u017F/x', 'Library/keychains./x',
];

test.each(odd)('%j is not searched', (path) => {
  const bytes = toBytePath(`/w/${path}`);
  expect(secrecyOf(fromBytePath(bytes))).toEqual(expect.any(String));
  expect(isLeftOut(bytes)).toBe(true);
});

/** Characters that some file system takes for these, or for nothing. */
const twins: Record<string, string[]> = { '.': ['․', '．'], _: ['＿'], ' ': ['\u00A0', '　'], '/': ['\\', '／', '/'] };
const ignorable = ['', '\u00AD', '\u200B', '\u200E', '\uFEFF', '\uFE0F', '\u{E0041}'];

function spellingOf(name: string, random: (below: number) => number): string {
  const pick = (from: readonly string[]) => from[random(from.length)] ?? '';
  const one = (character: string) => {
    const wide = /[!-~]/.test(character) ? String.fromCharCode(character.charCodeAt(0) + 0xfee0) : character;
    const others = [character.toUpperCase(), wide, ...(twins[character] ?? []), `${pick(ignorable)}${character}`];
    return random(8) === 0 ? pick(others) : character;
  };
  const tail = () => (random(4) === 0 ? pick(['.', ' ', '. .', ':s', '::$DATA', '\u200D', '\x01', '\n']) : '');
  return name
    .split('/')
    .map((segment) => Array.from(segment, one).join('') + tail())
    .join(pick(['/', '/', '/', '\\', '／']));
}

const rounds = isLong ? 2000 : 100;

test(`whatever is secret is suspected, in ${rounds} spellings of every name`, () => {
  const random = randomBelow(usualSeed);
  let secret = 0;
  for (let round = 0; round < rounds; round++)
    for (const name of secretNames) {
      const spelling = spellingOf(name.replaceAll('*', 'x'), random);
      const path = toBytePath(name.startsWith('/') ? `/${spelling.slice(1)}` : `/w/${spelling}`);
      if (secrecyOf(fromBytePath(path)) === undefined) continue;
      secret++;
      expect(isLeftOut(path), JSON.stringify(path)).toBe(true);
    }
  report('spellings of secret names that are suspected', secret);
  expect(secret).toBeGreaterThan((rounds * secretNames.length) / 2);
});

/** Every character that a part of a secret name may be spelled with. */
function otherSpellings(): string[] {
  const parts = secretNames.join('\n');
  const found: string[] = [];
  for (let code = 0x80; code < 0xe0100; code++) {
    const isSurrogate = code >= 0xd800 && code < 0xe000;
    const folded = isSurrogate
      ? 'none'
      : foldPath(`x${String.fromCodePoint(code)}x`)
          .join('/')
          .slice(1, -1);
    if (folded === '' || parts.includes(folded) || /[/:]/.test(folded)) found.push(String.fromCodePoint(code));
  }
  return found;
}

// Elsewhere the spellings may be the same file.
test.skipIf(process.platform !== 'linux')('ripgrep leaves all of them to us', { timeout: 120_000 }, () => {
  const random = randomBelow(usualSeed);
  const root = tempDirectory({
    'src/a.ts': '',
    'library/b.php': '',
    '.github/c': '',
    'café/Ł/я/漢字/한글': '',
    'login.ts': '',
    'keychain.c': '',
  });
  const relative = secretNames.filter((name) => !name.startsWith('/')).map((name) => name.replaceAll('*', 'x'));
  const spellings = Array.from({ length: isLong ? 200 : 10 }, () => relative.map((name) => spellingOf(name, random)));
  const characters = otherSpellings();
  for (const [index, path] of [...odd, ...relative, ...spellings.flat(), ...characters].entries()) {
    // Else one of them could hide another.
    const place = join(root, String(index), path);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, '');
  }
  const flags = ['--no-config', '--no-ignore', '--hidden', '--files', '-0', withoutSecretsFlag];
  const listed = spawnSync(rgPath, [...flags, '--', root], { encoding: 'utf8', maxBuffer: 1 << 28 }).stdout.split('\0');
  const shown = listed.filter((path) => path !== '').map((path) => path.slice(root.length + 1));
  expect(shown.filter((path) => !/^\d/.test(path)).toSorted()).toEqual([
    '.github/c',
    'café/Ł/я/漢字/한글',
    'keychain.c',
    'library/b.php',
    'login.ts',
    'src/a.ts',
  ]);
  const all = new Set(characters);
  const wrong = (path: string) => isLeftOut(toBytePath(join(root, path))) || all.has(path.replace(/^\d+\//, ''));
  expect(shown.filter((path) => /^\d/.test(path) && wrong(path))).toEqual([]);
});
