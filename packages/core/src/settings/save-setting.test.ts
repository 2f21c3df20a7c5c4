import { execFile } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { bundleText } from '../../../../testing/bundle.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { LatheHome } from '../files/lathe-home.js';
import type { JsonValue } from './parse-jsonc.js';
import { projectSettings, saveSetting, userSettings } from './save-setting.js';

const add = (entry: string) => (list: JsonValue | undefined) => [...((list as string[] | undefined) ?? []), entry];
const newHome = () => new LatheHome(join(tempDirectory(), 'home'));
const read = (path: string) => readFileSync(path, 'utf8');

test('a new file in the home folder is private, and so is its folder', async () => {
  const home = newHome();
  await saveSetting(home, userSettings(home), ['model', 'name'], () => 'qwen');
  expect(read(home.file('settings.json'))).toBe('{\n  "model": {\n    "name": "qwen"\n  }\n}\n');
  expect(statSync(home.file('settings.json')).mode & 0o777).toBe(0o600);
  expect(statSync(home.path).mode & 0o777).toBe(0o700);
});

test('a project’s file is made in .lathe, and nothing else is left there', async () => {
  const root = tempDirectory();
  await saveSetting(newHome(), projectSettings(root), ['permissions', 'allow'], add('run_shell_command(npm test)'));
  expect(JSON.parse(read(join(root, '.lathe/settings.json')))).toEqual({
    permissions: { allow: ['run_shell_command(npm test)'] },
  });
  expect(readdirSync(join(root, '.lathe'))).toEqual(['settings.json']);
});

test('comments, mode and everything else stay; the spelling in the file is used', async () => {
  const root = tempDirectory({ '.lathe/settings.json': '{\n\t// mine\n\t"excludeTools": ["a"], // why\n}' });
  await saveSetting(newHome(), projectSettings(root), ['tools', 'exclude'], add('b'));
  expect(read(join(root, '.lathe/settings.json'))).toBe('{\n\t// mine\n\t"excludeTools": ["a", "b"], // why\n}');
});

test('a server with a dot in its name is added and removed', async () => {
  const home = newHome();
  await saveSetting(home, userSettings(home), ['mcpServers', 'git.hub'], () => ({ command: 'x' }));
  expect(JSON.parse(read(home.file('settings.json')))).toEqual({ mcpServers: { 'git.hub': { command: 'x' } } });
  await saveSetting(home, userSettings(home), ['mcpServers', 'git.hub'], () => undefined);
  expect(JSON.parse(read(home.file('settings.json')))).toEqual({ mcpServers: {} });
});

test('without a change nothing is written', async () => {
  const root = tempDirectory();
  await saveSetting(newHome(), projectSettings(root), ['mcpServers', 'x'], () => undefined);
  expect(readdirSync(root)).toEqual([]);
  const text = '{ "permissions": { "allow": [\n  "a" // mine\n] } }';
  const written = tempDirectory({ '.lathe/settings.json': text });
  await saveSetting(newHome(), projectSettings(written), ['permissions', 'allow'], () => ['a']);
  expect(read(join(written, '.lathe/settings.json'))).toBe(text);
});

// RP07
test.each(['{ "a": 1', 'rubbish', '[]', '{"permissions": 5}'])('%j is never overwritten', async (text) => {
  const root = tempDirectory({ '.lathe/settings.json': text });
  await expect(saveSetting(newHome(), projectSettings(root), ['permissions', 'allow'], add('a'))).rejects.toThrow(
    /Nothing was saved|not an object/,
  );
  expect(read(join(root, '.lathe/settings.json'))).toBe(text);
});

test.each<[[string, ...string[]], JsonValue]>([
  [['tools', 'approvalMode'], 'all'],
  [['permissions', 'allow'], ['']],
  [['mcpServers', 'x'], { command: 5 }],
  [['mcpServers', '__proto__'], 'x'],
  [['no', 'such'], 1],
])('%j is not saved as %j', async (path, value) => {
  const home = newHome();
  await expect(saveSetting(home, userSettings(home), path, () => value)).rejects.toThrow(
    /Nothing was saved|no setting/,
  );
  expect(() => statSync(home.file('settings.json'))).toThrow('ENOENT');
});

// RP12
test('a symlinked file in the home folder stays a symlink and keeps its mode', async () => {
  const home = newHome();
  const dotfiles = tempDirectory({ 'lathe.json': '{}' });
  mkdirSync(home.path);
  symlinkSync(join(dotfiles, 'lathe.json'), home.file('settings.json'));
  const before = statSync(join(dotfiles, 'lathe.json')).mode;
  await saveSetting(home, userSettings(home), ['model', 'name'], () => 'x');
  expect(lstatSync(home.file('settings.json')).isSymbolicLink()).toBe(true);
  expect(JSON.parse(read(join(dotfiles, 'lathe.json')))).toEqual({ model: { name: 'x' } });
  expect(statSync(join(dotfiles, 'lathe.json')).mode).toBe(before);
});

test('a project cannot symlink its file to the user’s', async () => {
  const home = newHome();
  await saveSetting(home, userSettings(home), ['model', 'name'], () => 'mine');
  const [linkedFile, linkedFolder] = [tempDirectory({ '.lathe/keep': '' }), tempDirectory()];
  symlinkSync(home.file('settings.json'), join(linkedFile, '.lathe/settings.json'));
  symlinkSync(home.path, join(linkedFolder, '.lathe'));
  const before = read(home.file('settings.json'));
  for (const root of [linkedFile, linkedFolder]) {
    await expect(saveSetting(home, projectSettings(root), ['permissions', 'allow'], add('a'))).rejects.toThrow(
      'points outside',
    );
  }
  expect(read(home.file('settings.json'))).toBe(before);
});

// RP13
test('changes of an editor in the meantime are kept', async () => {
  const home = newHome();
  await saveSetting(home, userSettings(home), ['model', 'name'], () => 'x');
  let turns = 0;
  await saveSetting(home, userSettings(home), ['permissions', 'deny'], (list) => {
    if (turns++ === 0) writeFileSync(home.file('settings.json'), '{ "model": { "name": "edited" } }');
    return add('a')(list);
  });
  expect(JSON.parse(read(home.file('settings.json')))).toEqual({
    model: { name: 'edited' },
    permissions: { deny: ['a'] },
  });
  expect(turns).toBe(2);
});

// RP13
test('four processes at once lose nothing', async () => {
  const home = newHome();
  const bundle = await bundleText(`
    import { LatheHome } from '${import.meta.dirname}/../files/lathe-home.ts';
    import { saveSetting, userSettings } from '${import.meta.dirname}/save-setting.ts';
    const home = new LatheHome(process.argv[2]);
    for (let i = 0; i < 10; i++)
      await saveSetting(home, userSettings(home), ['permissions', 'allow'], (list) => [...(list ?? []), 'p' + process.argv[3] + '_' + i]);`);
  const run = promisify(execFile);
  await Promise.all([0, 1, 2, 3].map((name) => run(process.execPath, [bundle, home.path, `${name}`])));
  const { permissions } = JSON.parse(read(home.file('settings.json'))) as { permissions: { allow: string[] } };
  const expected = [0, 1, 2, 3].flatMap((name) => Array.from({ length: 10 }, (_, i) => `p${name}_${i}`));
  expect(permissions.allow.sort()).toEqual(expected.sort());
  expect(readdirSync(home.path).sort()).toEqual(['locks', 'settings.json']);
});
