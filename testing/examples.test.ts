import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { buildProgram, modelVariables, runProgram } from './lathe-program.js';
import { modelServer } from './model-server.js';
import { hasProgram } from './programs.js';
import { tempDirectory } from './temp-directory.js';

const root = join(import.meta.dirname, '..');
const examples = join(root, 'examples');

beforeAll(buildProgram, 300_000);

/** A copy of an example with the built packages installed, and `lathe` in it. */
function project(name: string) {
  const [cwd, home] = [tempDirectory(), tempDirectory()];
  cpSync(join(examples, name), cwd, { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(cwd, 'node_modules'));
  return { cwd, home, lathe: (...args: string[]) => runProgram(args, { cwd, home }) };
}

/** A directory for PATH that has `lathe`. */
function latheOnPath(): string {
  const bin = tempDirectory({
    lathe: `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'packages/cli/dist/main.cjs')}' "$@"\n`,
  });
  chmodSync(join(bin, 'lathe'), 0o755);
  return bin;
}

const answer = (stdout: string) => ({ code: 0, stdout, stderr: '' });

test('every example is in the list and has a page', () => {
  const list = readFileSync(join(examples, 'README.md'), 'utf8');
  const names = readdirSync(examples, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [entry.name] : [],
  );
  expect(names.filter((name) => !list.includes(`| [${name}](${name}/README.md)`))).toEqual([]);
  for (const name of names) expect(readFileSync(join(examples, name, 'README.md'), 'utf8')).toMatch(/^# /);
});

test('tool-file', async () => {
  const { lathe } = project('tool-file');
  await lathe('trust', '--yes');
  expect(await lathe('call', 'list_todos', '{"path": "notes.txt"}')).toEqual(
    answer('2: TODO order paper\n4: TODO book the room\n'),
  );
});

test('class-tool', () => {
  const { cwd } = project('class-tool');
  const { status, stdout } = spawnSync(process.execPath, ['--test', '--test-reporter=tap'], { cwd, encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^[#ℹ] pass 2$/m) });
});

test.runIf(hasProgram('python3'))('discovery-command', async () => {
  const { lathe } = project('discovery-command');
  await lathe('trust', '--yes');
  expect(await lathe('call', 'describe_numbers', '{"numbers": [1, 2, 6]}')).toEqual(answer('mean 3, median 2\n'));
});

test('mcp-server', async () => {
  const { lathe } = project('mcp-server');
  await lathe('trust', '--yes');
  expect(await lathe('call', 'units__to_celsius', '{"fahrenheit": 212}')).toEqual(answer('100.0 °C\n'));
});

test('serve-tools', async () => {
  const { cwd, lathe } = project('serve-tools');
  await lathe('mcp', 'add', 'my-tools', process.execPath, join(cwd, 'server.mjs'));
  expect(await lathe('mcp', 'test', 'my-tools')).toMatchObject({ code: 0, stdout: expect.stringContaining('shout') });
  const call = ['call', 'my-tools__shout', '{"text": "hello"}'];
  expect(await lathe('--allowed-tools', 'my-tools__shout', ...call)).toEqual(answer('HELLO\n'));
});

test.each([
  ['docs/mcp-server.md', 'serve-tools/server.mjs'],
  ['docs/extending.md', 'discovery-command/tools.py'],
])('%s shows exactly %s', (page, file) => {
  const source = readFileSync(join(examples, file), 'utf8');
  expect(readFileSync(join(root, page), 'utf8')).toContain(`\n${source}\`\`\`\n`);
});

test('guard-hook', async () => {
  const { lathe } = project('guard-hook');
  await lathe('trust', '--yes');
  const run = (command: string) => lathe('call', 'run_shell_command', JSON.stringify({ command }));
  expect(await run('git push --force')).toMatchObject({ code: 3, stderr: expect.stringContaining('pull request') });
  expect(await run('echo fine')).toMatchObject({ code: 0, stdout: expect.stringContaining('fine') });
});

test.each(['own-model', 'ai-sdk-model'])('%s', (name) => {
  const { cwd, home } = project(name);
  const env = { PATH: process.env['PATH'], HOME: home };
  const { stdout, stderr } = spawnSync(process.execPath, ['main.mjs'], { cwd, env, encoding: 'utf8' });
  expect({ stdout, stderr }).toEqual({
    stdout: expect.stringMatching(/^glob: success\ndone: The tool said: .*main\.mjs/),
    stderr: '',
  });
});

test.each([
  ['once', 'success', ['hello.txt']],
  ['deny', 'cancelled', []],
])('web-approver, answered with %s', async (outcome, status, written) => {
  const { cwd, home } = project('web-approver');
  const workspace = tempDirectory();
  const env = { PATH: process.env['PATH'], HOME: home };
  const child = spawn(process.execPath, ['server.mjs', workspace], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill());
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const url = new URL(/http:\S+/.exec((await lines.next()).value ?? '')?.[0] ?? '');
  expect((await fetch(new URL('/', url))).status).toBe(404);
  const page = async () => (await fetch(url)).text();
  await expect.poll(page).toContain('Hello');
  const id = /name="id" value="([^"]+)"/.exec(await page())?.[1] ?? '';
  await fetch(url, { method: 'POST', body: new URLSearchParams({ id, outcome }), redirect: 'manual' });
  expect((await lines.next()).value).toMatch(new RegExp(`^${status}: `));
  expect(readdirSync(workspace)).toEqual(written);
});

test('acp-client', async () => {
  const { cwd, home } = project('acp-client');
  const file_path = join(cwd, 'haiku.txt');
  const call = { id: 'w1', name: 'write_file', args: { file_path, content: 'autumn' } };
  const server = await modelServer([{ calls: [call] }, { text: 'Written.' }]);
  const env = { PATH: `${latheOnPath()}:${process.env['PATH']}`, HOME: home, ...modelVariables('openai', server.url) };
  const child = spawn(process.execPath, ['client.mjs', 'write a haiku'], { cwd, env });
  onTestFinished(() => void child.kill());
  let output = '';
  child.stdout.on('data', (data) => {
    output += String(data);
    if (String(data).includes('Number: ')) child.stdin.write('1\n');
  });
  await new Promise((resolve) => child.on('close', resolve));
  expect(output).toMatch(/1 {2}Yes, once[^]*\[w1: done\][^]*Written\.\nend_turn/);
  expect(readFileSync(file_path, 'utf8')).toBe('autumn');
});

test('ci-job', () => {
  const { cwd, home } = project('ci-job');
  const env = { PATH: `${latheOnPath()}:${process.env['PATH']}`, HOME: home };
  const args = ['review.sh', 'change.diff', '--replay', 'recording.jsonl'];
  const { status, stdout, stderr } = spawnSync('sh', args, { cwd, env, encoding: 'utf8' });
  expect([status, JSON.parse(stdout), stderr]).toEqual([1, { summary: expect.any(String), risk: 'high' }, '']);
});
