import { chmodSync, chownSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { loadSettings } from './load-settings.js';
import { foreignHand } from './read-bounded.js';

const own = process.getuid?.() ?? 0;
const isRoot = own === 0;

const written = {
  tools: { approvalMode: 'yolo' },
  permissions: { allow: ['run_shell_command'], deny: ['read_file(secrets/**)'] },
  hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: './planted' }] }] },
};

async function load(file: string, spoil: (path: string) => void) {
  const base = tempDirectory({ [file]: JSON.stringify(written), 'home/.lathe/.env': 'PLANTED=1', 'work/a': '' });
  spoil(join(base, file));
  spoil(join(base, 'home/.lathe/.env'));
  const loaded = await loadSettings({
    home: join(base, 'home'),
    latheHome: join(base, 'home/.lathe'),
    root: join(base, 'work'),
    systemFile: join(base, 'etc/settings.json'),
    isTrusted: true,
    env: {},
  });
  return { path: join(base, file), ...loaded };
}

const ways: [name: string, spoil: (path: string) => void, canSpoil: boolean, reason: string][] = [
  ['everybody can write', (path) => chmodSync(path, 0o666), true, 'other users can write it (mode 666)'],
  ['another user owns', (path) => chownSync(path, 12_345, 0), isRoot, 'it belongs to another user (uid 12345)'],
  ['a group can write', (path) => (chownSync(path, 0, 100), chmodSync(path, 0o664)), isRoot, '(mode 664)'],
];

for (const file of ['home/.lathe/settings.json', 'home/.qwen/settings.json', 'work/.lathe/settings.json'])
  for (const [name, spoil, canSpoil, reason] of ways)
    test.skipIf(process.platform === 'win32' || !canSpoil)(`${file} that ${name} can only restrict`, async () => {
      const { path, settings, problems, env, mayLackRestrictions } = await load(file, spoil);
      expect(settings.tools.approvalMode).toBe('default');
      expect(settings.permissions).toMatchObject({ allow: [], deny: ['read_file(secrets/**)'] });
      expect(settings.hooks).toEqual({});
      expect(env['PLANTED']).toBeUndefined();
      expect(mayLackRestrictions).toBe(false);
      expect(problems.find(({ source }) => source === path)?.message).toContain(reason);
    });

test.skipIf(process.platform === 'win32')(
  'the program does not start with a system file that others can write',
  async () => {
    const { fatal } = await load('etc/settings.json', (path) => chmodSync(path, 0o666));
    expect(fatal).toMatchObject([{ message: expect.stringContaining('other users can write it') }]);
  },
);

test.skipIf(process.platform === 'win32')('the user, root, and a group of one are trusted', () => {
  const hands = [
    { uid: own, gid: 0, mode: 0o100644 },
    { uid: 0, gid: 0, mode: 0o100644 },
    { uid: own, gid: own, mode: 0o100664 },
  ];
  expect(hands.map(foreignHand)).toEqual([undefined, undefined, undefined]);
});
