import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildProgram, modelVariables, runProgram } from '../../../../testing/lathe-program.js';
import { modelServer } from '../../../../testing/model-server.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { terminal, think } from '../../../../testing/terminal.js';
import { webServer } from '../../../../testing/web-server.js';

beforeAll(buildProgram, 300_000);

test.each(['openai', 'anthropic', 'gemini'] as const)(
  'a recording over %s is replayed without a key or a server, and reports a difference',
  async (format) => {
    const cwd = tempDirectory({ 'a.txt': 'alpha\n' });
    const read = { name: 'read_file', args: { absolute_path: join(cwd, 'a.txt') } };
    const server = await modelServer([{ reasoning: 'hm', text: 'I look.', calls: [read] }, { text: 'It is alpha.' }]);
    const env = modelVariables(format, server.url);
    const recorded = await runProgram(['-p', 'what is it?', '--record', 'recording.jsonl'], { cwd, env });
    expect(recorded).toEqual({ code: 0, stdout: 'It is alpha.\n', stderr: '' });
    await server.close();
    const replay = (prompt: string) => runProgram(['-p', prompt, '--replay', 'recording.jsonl'], { cwd });
    expect(await replay('what is it?')).toEqual(recorded);
    const other = await replay('who is it?');
    expect(other).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('differs from the recording at request 1'),
    });
  },
);

test('a subagent is recorded and replayed with its parent', async () => {
  const cwd = tempDirectory({ 'a.txt': 'alpha\n' });
  const task = { name: 'task', args: { description: 'look', prompt: 'Look.', subagent_type: 'general-purpose' } };
  const server = await modelServer([
    { calls: [task] },
    { calls: [{ name: 'read_file', args: { absolute_path: join(cwd, 'a.txt') } }] },
    { text: 'alpha' },
    { text: 'It says alpha.' },
  ]);
  const env = modelVariables('openai', server.url);
  const recorded = await runProgram(['-p', 'go', '--record', 'recording.jsonl'], { cwd, env });
  expect(recorded).toMatchObject({ code: 0, stdout: 'It says alpha.\n' });
  expect(await runProgram(['-p', 'go', '--replay', 'recording.jsonl'], { cwd })).toEqual(recorded);
});

test('the side model that reads a page is recorded and replayed too', async () => {
  const page = await webServer((_request, response) => {
    response.setHeader('content-type', 'text/plain').end('The rate is 42.');
  });
  const home = tempDirectory({
    '.lathe/settings.json': JSON.stringify({
      model: { sideModel: 'small' },
      permissions: { allow: [`web_fetch(127.0.0.1:${page.port})`] },
    }),
  });
  const server = await modelServer([
    { calls: [{ name: 'web_fetch', args: { url: page.url, prompt: 'What is the rate?' } }] },
    { text: 'The page says 42.' },
    { text: 'It is 42.' },
  ]);
  const env = modelVariables('openai', server.url);
  const recorded = await runProgram(['-p', 'go', '--record', 'recording.jsonl'], { cwd: home, home, env });
  expect(recorded).toEqual({ code: 0, stdout: 'It is 42.\n', stderr: '' });
  expect(server.requests.map(({ body }) => body['model'])).toEqual(['scripted', 'small', 'scripted']);
  await server.close();
  expect(await runProgram(['-p', 'go', '--replay', 'recording.jsonl'], { cwd: home, home })).toEqual(recorded);
});

test('an interactive session is recorded, and replayed without a server', async () => {
  const cwd = tempDirectory({ 'a.txt': 'alpha\n' });
  const edit = { name: 'edit', args: { file_path: join(cwd, 'a.txt'), old_string: 'alpha', new_string: 'beta' } };
  const server = await modelServer([{ text: 'I change it.', calls: [edit] }, { text: 'It is beta now.' }]);
  const play = async (args: string[], env = {}) => {
    writeFileSync(join(cwd, 'a.txt'), 'alpha\n');
    const { type, shows, visible, exited } = terminal(['make it beta', ...args], { cwd, env });
    await shows('Confirm Edit');
    await think();
    type('y');
    await shows('It is beta now.');
    // Before the end of the turn, Ctrl+C would cancel it.
    await expect.poll(visible, { timeout: 25_000 }).toContain('Ask for anything.');
    type('\u0003');
    await shows('Ctrl+C again');
    type('\u0003');
    expect(await exited()).toBe(0);
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('beta\n');
  };
  await play(['--record', 'recording.jsonl'], modelVariables('openai', server.url));
  await server.close();
  await play(['--replay', 'recording.jsonl']);
}, 120_000);

test.each([
  [['--replay', 'missing.jsonl'], /missing\.jsonl/],
  [['--replay', 'a.txt'], /not a recording/],
  [['--record', 'a.txt'], /not a recording/],
  [['--record', 'missing/x.jsonl'], /missing/],
  [['--record', 'x', '--replay', 'y'], /cannot be used together/],
])('%j is a usage error', async (flags, message) => {
  const cwd = tempDirectory({ 'a.txt': 'alpha\n' });
  const env = modelVariables('openai', 'http://127.0.0.1:9');
  expect(await runProgram(['-p', 'go', ...flags], { cwd, env })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(message),
  });
});

/** The content of all files in a directory. */
function everythingIn(directory: string): string {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

test('SL01, SL06: none of 200 planted secrets reaches a file we write', async () => {
  const home = tempDirectory();
  const value = (kind: string, index: number) => `${kind}Zq${index}x${(index * 7919).toString(36)}Kp9vLw3`;
  const kinds = { env: 40, header: 40, mcpEnv: 40, mcpHeader: 40, url: 40 };
  const secrets = Object.entries(kinds).flatMap(([kind, count]) =>
    Array.from({ length: count }, (_, index) => ({ kind, index, secret: value(kind, index) })),
  );
  const of = (kind: string) => secrets.filter((each) => each.kind === kind);
  const variables = Object.fromEntries(of('env').map(({ index, secret }) => [`SERVICE_${index}_TOKEN`, secret]));
  const map = (kind: string) => Object.fromEntries(of(kind).map(({ index, secret }) => [`X-Plain-${index}`, secret]));
  mkdirSync(join(home, '.lathe'));
  const server = { httpUrl: 'http://127.0.0.1:9/mcp', headers: map('mcpHeader') };
  const local = { command: 'false', env: map('mcpEnv') };
  const settings = { model: { headers: map('header') }, mcpServers: { far: server, near: local } };
  writeFileSync(join(home, '.lathe/settings.json'), JSON.stringify(settings));
  const told = secrets.map(({ kind, secret }) => (kind === 'url' ? `https://me:${secret}@host/` : secret));
  const cwd = tempDirectory({ 'all.txt': told.join('\n') });
  const echoed = of('header')
    .map(({ secret }) => secret)
    .join(' ');
  const model = await modelServer([
    { text: told.join(' '), calls: [{ name: 'read_file', args: { absolute_path: join(cwd, 'all.txt') } }] },
    { calls: [{ name: 'run_shell_command', args: { command: `echo ${told.slice(0, 50).join(' ')}` } }] },
    {
      fault: {
        kind: 'status',
        status: 400,
        body: JSON.stringify({
          error: {
            message: `${modelVariables('openai', '')['OPENAI_API_KEY']} ${echoed}`,
          },
        }),
      },
    },
  ]);
  const env = { ...modelVariables('openai', model.url), ...variables };
  const args = ['-p', `use ${told.join(' ')}`, '--record', join(home, 'recording.jsonl')];
  const { code, stderr } = await runProgram(args, { cwd, home, env });
  expect(code).toBe(1);
  writeFileSync(join(home, '.lathe/settings.json'), '');
  const written = everythingIn(home);
  expect(written).toContain('[redacted]');
  expect(secrets.filter(({ secret }) => written.includes(secret))).toEqual([]);
  // Credentials that a server echoes are not shown either.
  expect(of('header').filter(({ secret }) => stderr.includes(secret))).toEqual([]);
  expect(stderr).not.toContain(env['OPENAI_API_KEY']);
});
