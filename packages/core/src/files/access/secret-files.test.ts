import { spawnSync } from 'node:child_process';
import { rgPath } from '@vscode/ripgrep';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { toBytePath } from '../byte-path.js';
import { secretNames } from './protected-names.js';
import { isSecret, secretsIn, withoutSecrets } from './secret-files.js';

// biome-ignore format: a table is read at a glance
const odd = [
  'key4.db.', 'key4.db ', 'key4.db:s', 'key４.db', 'key4.db\n', 'key4.db/x', 'Login Data.', 'logins.json.', '．netrc', '․netrc', '\u200B.netrc', '＿netrc', 'x\\.netrc',
  'x／.netrc', '．ssh/id_rsa', '․gnupg/x', 'b\\.gnupg/x', 'Libra\u00ADry/Keychain\u017F/x', 'Library/keychains./x',
];

test.each(odd)('%j is not searched', (path) => {
  const bytes = toBytePath(`/w/${path}`);
  expect(isSecret(bytes)).toBe(true);
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

test('secrets right in a directory are found by their usual names', async () => {
  const root = tempDirectory({
    '.netrc': '',
    '.gnupg/x': '',
    '.ssh/id_a': '',
    '.ssh/config': '',
    'a/.netrc': '',
    b: '',
  });
  const found = (await secretsIn(toBytePath(root))).map((path) => path.slice(root.length + 1));
  expect(found.toSorted()).toEqual(['.gnupg/', '.netrc', '.ssh/id_a']);
});
