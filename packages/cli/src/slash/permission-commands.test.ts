import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAgentLathe } from '@lathe/agent';
import { expect, onTestFinished, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { styleFor } from '../render/style.js';
import { managePermissions, setMode } from './permission-commands.js';

async function open({ isTrusted = true } = {}) {
  const settings = '{ "permissions": { "allow": ["run_shell_command(make *)"], "deny": ["read_file(.env)"] } }';
  const [root, home] = [tempDirectory(), tempDirectory({ '.lathe/settings.json': settings })];
  const lathe = await createAgentLathe({
    cwd: root,
    home,
    env: { PATH: process.env['PATH'], HOME: home },
    isTrusted,
    flags: { 'tools.allowed': ['edit(/src/**)'], 'tools.sandbox.mode': 'off' },
  });
  onTestFinished(() => lathe.close());
  const printed: string[] = [];
  const context = { lathe, style: styleFor({ NO_COLOR: '1' }), print: (text: string) => void printed.push(text) };
  const permissions = async (argument = '') => {
    await managePermissions(argument, context);
    return printed.at(-1) ?? '';
  };
  return { lathe, root, home, context, printed, permissions };
}

test('rules are listed as people read them, with their spelling and where they come from', async () => {
  const { lathe, root, home, permissions } = await open();
  await lathe.policy.grant(['run_shell_command(=node x.js)'], 'session');
  await lathe.policy.grant(['run_shell_command(npm test *)'], 'project');
  expect(await permissions()).toBe(
    [
      '  1  allow make …',
      `           run_shell_command(make *)  (${home}/.lathe/settings.json)`,
      '  2  allow exactly node x.js',
      '           run_shell_command(=node x.js)  (this session)',
      '  3  allow npm test …',
      `           run_shell_command(npm test *)  (${root}/.lathe/settings.json)`,
      '  4  allow edits in src',
      '           edit(/src/**)  (command line)',
      '  5  deny  reading of .env',
      `           read_file(.env)  (${home}/.lathe/settings.json)`,
      '  /permissions remove NUMBER removes one.',
    ].join('\n'),
  );
});

test('a rule is removed from the file it is in, and the others keep their numbers', async () => {
  const { lathe, root, home, permissions } = await open();
  await lathe.policy.grant(['run_shell_command(npm test *)'], 'project');
  await permissions();
  expect(await permissions('remove 1')).toBe('  Removed: make ….');
  expect(await permissions('remove 2')).toBe('  Removed: npm test ….');
  expect(await permissions('remove 3')).toBe(
    '  Removed: edits in src. The next start brings it back from: command line.',
  );
  expect(await permissions('remove 3')).toContain('no rule with that number');
  expect(await permissions()).toMatch(/^ {2}4 {2}deny {2}reading of \.env\n/);
  const read = (folder: string) => JSON.parse(readFileSync(join(folder, '.lathe/settings.json'), 'utf8'));
  expect(read(home)).toEqual({ permissions: { allow: [], deny: ['read_file(.env)'] } });
  expect(read(root)).toEqual({ permissions: { allow: [] } });
});

test('a rule for a folder that is not trusted is kept with the person, counts at the next start, and is removed', async () => {
  const { lathe, root, home, permissions } = await open({ isTrusted: false });
  await lathe.policy.grant(['run_shell_command(=node x.js)'], 'project');
  expect(existsSync(join(root, '.lathe'))).toBe(false);
  expect(await permissions()).toContain(`run_shell_command(=node x.js)  (${home}/.lathe/folder-rules.json)`);
  const rulesIn = async (cwd: string) => {
    const other = await createAgentLathe({ cwd, home, env: { HOME: home }, isTrusted: false });
    onTestFinished(() => other.close());
    return other.policy.rules().allow;
  };
  expect(await rulesIn(root)).toContain('run_shell_command(=node x.js)');
  expect(await rulesIn(tempDirectory())).not.toContain('run_shell_command(=node x.js)');
  expect(await permissions('remove 2')).toBe('  Removed: exactly node x.js.');
  expect(await rulesIn(root)).not.toContain('run_shell_command(=node x.js)');
});

test('the modes are explained, and auto is another name of auto-edit', async () => {
  const { lathe, context, printed } = await open();
  await setMode('', context);
  expect(printed.at(-1)).toContain('edits run; commands ask, because there is no sandbox');
  await setMode('auto', context);
  expect(lathe.policy.mode).toBe('auto-edit');
  await setMode('nonsense', context);
  expect(printed.at(-1)).toContain('plan, default, auto, yolo');
});
