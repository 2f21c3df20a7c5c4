import { spawnSync } from 'node:child_process';
import { rgPath } from '@vscode/ripgrep';
import { expect, test } from 'vitest';
import { isLong, report } from '../../../../../testing/long-run.js';
import { randomBelow, usualSeed } from '../../../../../testing/random.js';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { type BytePath, fromBytePath, toBytePath } from '../byte-path.js';
import { secretNames } from './protected-names.js';
import { secrecyOf } from './protected-paths.js';
import { secretFiles, secretsIn, withoutSecrets } from './secret-files.js';

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

// Elsewhere the names may be taken by another spelling.
test.skipIf(process.platform !== 'linux')('ripgrep does not read secrets that have their usual names', () => {
  const secrets = secretNames.filter((name) => !name.startsWith('/')).map((name) => name.replaceAll('*', 'x'));
  const others = ['src/a.ts', 'library/b.php', '.github/c', '.config/d', 'login.ts', '.aws/config', '.ssh/known_hosts'];
  const places = [...secrets, ...secrets.map((name) => `Sub/${name.toUpperCase()}`)];
  const root = tempDirectory({
    // Each in a directory of its own, or one of them could hide another.
    ...Object.fromEntries(places.map((name, index) => [`${index}/${name}`, ''])),
    ...Object.fromEntries(others.map((name) => [name, ''])),
  });
  const flags = ['--no-config', '--no-ignore', '--hidden', '--files', ...withoutSecrets];
  const { stdout } = spawnSync(rgPath, [...flags, '--', root], { cwd: '/', encoding: 'utf8' });
  const listed = stdout.split('\n').filter((path) => path !== '');
  expect(listed.map((path) => path.slice(root.length + 1)).toSorted()).toEqual(others.toSorted());
});

test('secrets right in a directory are found by their usual names', () => {
  const root = tempDirectory({
    '.netrc': '',
    '.gnupg/x': '',
    '.ssh/id_a': '',
    '.ssh/config': '',
    'a/.netrc': '',
    b: '',
  });
  const found = secretsIn(toBytePath(root)).map((path) => path.slice(root.length + 1));
  expect(found.toSorted()).toEqual(['.gnupg/', '.netrc', '.ssh/id_a']);
});
