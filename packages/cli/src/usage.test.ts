import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildProgram, runProgram } from '../../../testing/lathe-program.js';
import { tempDirectory } from '../../../testing/temp-directory.js';
import { commandNames } from './command-line/command-names.js';

beforeAll(buildProgram, 300_000);

test.each(commandNames)('lathe %s --help prints help', async (name) => {
  const { code, stdout, stderr } = await runProgram([name, '--help']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.startsWith(`lathe ${name === 'serve' ? '[flags] serve' : name}`)).toBe(true);
});

test.each([
  ['tools', 'extra'],
  ['doctor', 'extra'],
  ['sessions', 'extra'],
  ['demo', 'extra'],
  ['trust', '.', 'extra'],
  ['completion', 'bash', 'extra'],
])('lathe %s with an extra argument is a usage error', async (...args) => {
  const { code, stdout, stderr } = await runProgram(args);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain('does not take the argument "extra"');
});

test('removing an unknown server changes nothing', async () => {
  const cwd = tempDirectory();
  const { code, stderr } = await runProgram(['mcp', 'remove', 'x'], { cwd });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: "lathe: no server named x in your settings or in this project's\n",
  });
  expect(readdirSync(cwd)).toEqual([]);
});

test('the demo leaves no files in the home directory', async () => {
  const home = tempDirectory();
  expect((await runProgram(['demo', '--yes'], { home, cwd: tempDirectory() })).code).toBe(0);
  expect(existsSync(join(home, '.lathe'))).toBe(false);
});

test('leaving plan mode outside plan mode says so', async () => {
  const { code, stderr } = await runProgram(['call', 'exit_plan_mode', '{"plan": "x"}']);
  expect(code).toBe(3);
  expect(stderr).toContain('plan mode is not on');
});

test('the doctor reports an unapproved rule once', async () => {
  const home = tempDirectory();
  const cwd = tempDirectory({ '.lathe/settings.json': '{}' });
  await runProgram(['trust'], { home, cwd });
  writeFileSync(join(cwd, '.lathe/settings.json'), '{"permissions": {"allow": ["read_file(//etc/**)"]}}');
  expect((await runProgram(['doctor'], { home, cwd })).stdout.match(/not agreed/g)).toHaveLength(1);
});

test('trust indents every line of a command', async () => {
  const tools = { toolDiscoveryCommand: 'echo one\necho two', toolCallCommand: 'true' };
  const cwd = tempDirectory({ '.lathe/settings.json': JSON.stringify({ tools }) });
  const { stdout } = await runProgram(['trust', '--yes'], { cwd });
  expect(stdout).toContain(`\n  echo one\n  echo two\n  true <tool>\n  in ${cwd}\n  may start`);
});
