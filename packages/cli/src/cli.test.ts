import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { runProgram } from '../../../testing/lathe-program.js';
import { modelServer } from '../../../testing/model-server.js';
import { processesWith, uniqueSleep } from '../../../testing/processes.js';
import { canSeeProcesses } from '../../../testing/running.js';
import { tempDirectory } from '../../../testing/temp-directory.js';
import { terminal } from '../../../testing/terminal.js';
import { webServer } from '../../../testing/web-server.js';

const program = join(import.meta.dirname, '..', 'dist', 'main.cjs');

/** Runs the built program in its own process and home directory. */
function lathe(
  args: string[],
  options: { cwd?: string; home?: string; input?: string; env?: Record<string, string> } = {},
) {
  const home = options.home ?? tempDirectory();
  const child = spawn(process.execPath, [program, ...args], {
    cwd: options.cwd ?? home,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, ...options.env },
  });
  // Some commands end before they read anything.
  child.stdin.on('error', () => undefined).end(options.input ?? '');
  const chunks = { stdout: '', stderr: '' };
  child.stdout.on('data', (data) => (chunks.stdout += data));
  child.stderr.on('data', (data) => (chunks.stderr += data));
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) =>
    child.on('close', (code) => resolve({ code, ...chunks })),
  );
}

beforeAll(() => {
  execFileSync(process.execPath, [join(import.meta.dirname, '../../../scripts/setup.mjs')], { stdio: 'ignore' });
}, 300_000);

test('--version and --help answer on stdout', async () => {
  expect(await lathe(['--version'])).toEqual({ code: 0, stdout: '0.1.0\n', stderr: '' });
  expect((await lathe(['--help'])).stdout).toContain('lathe call <tool>');
});

test.each(['audit', 'call', 'clean', 'mcp', 'serve', 'trust', 'undo', 'view'])(
  '%s has its own help page',
  async (command) => {
    const { code, stdout } = await lathe([command, '--help']);
    expect({ code, first: stdout.split('\n')[0] }).toEqual({
      code: 0,
      first: expect.stringMatching(`^lathe .*${command}`),
    });
  },
);

test('call --json prints the documented object', async () => {
  const cwd = tempDirectory({ 'b.txt': 'hi', 'a/c.ts': '' });
  const { code, stdout, stderr } = await lathe([
    'call',
    'list_directory',
    JSON.stringify({ path: cwd }),
    '--json',
    '--cwd',
    cwd,
  ]);
  const answer: unknown = JSON.parse(stdout);
  expect(answer).toEqual({
    tool: 'list_directory',
    status: 'success',
    llmContent: expect.stringMatching(/\[DIR\] a[\s\S]*b\.txt/),
    returnDisplay: expect.any(String),
    durationMs: expect.any(Number),
  });
  expect([code, stderr]).toEqual([0, '']);
});

test('call reads parameters from stdin and prints text for people', async () => {
  const cwd = tempDirectory({ 'b.txt': 'hello\u001b[31m' });
  const input = JSON.stringify({ absolute_path: join(cwd, 'b.txt') });
  expect(await lathe(['call', 'read_file', '-', '--cwd', cwd], { input })).toEqual({
    code: 0,
    stdout: 'hello\\x1b[31m\n',
    stderr: '',
  });
});

test.each([
  ['an unknown tool', ['call', 'reed_file', '{}', '--json'], 2, 'tool_not_registered'],
  ['wrong parameters', ['call', 'read_file', '{"absolute_path": 7}', '--json'], 2, 'invalid_tool_params'],
  [
    'a missing file',
    ['call', 'read_file', '{"absolute_path": "/nowhere/x"}', '--json', '--allowed-tools', 'read_file'],
    1,
    'file_not_found',
  ],
  [
    'a call that nobody can approve',
    ['call', 'read_file', '{"absolute_path": "/etc/hostname"}', '--json'],
    3,
    'execution_denied',
  ],
])('%s has its own exit code', async (_title, args, exitCode, type) => {
  const { code, stdout } = await lathe(args);
  expect(JSON.parse(stdout)).toMatchObject({ status: exitCode === 3 ? 'denied' : 'error', error: { type } });
  expect(code).toBe(exitCode);
});

test.each([
  ['an unknown tool', ['call', 'nothing', '{}'], 'lathe tools lists the tools'],
  ['text instead of JSON', ['call', 'glob', 'pattern=x'], `such as '{"path": "/tmp"}'`],
  [
    'an edit that nobody can approve',
    ['call', 'write_file', '{"file_path": "/made-by-nobody", "content": "x"}', '--cwd', '/'],
    'or with --approval-mode auto',
  ],
])('%s: the message says what to do next', async (_title, args, advice) => {
  expect((await lathe(args)).stderr).toContain(advice);
});

// SF10
describe('without a person to ask, a call is denied at once with a reason', () => {
  const args = ['call', 'run_shell_command', '{"command": "touch made"}'];
  const denied = {
    status: 'denied',
    error: { type: 'execution_denied', message: expect.stringContaining('nobody is there') },
  };

  test.each([
    ['stdin is silent', undefined, {}],
    ['stdin is at its end', '', {}],
    ['stdin says yes', 'y\n', {}],
    ['it is a job of a service', undefined, { CI: '1' }],
  ])('%s', async (_title, input, env) => {
    const cwd = tempDirectory();
    const { code, stdout } = await runProgram([...args, '--json'], { cwd, input, env });
    expect(JSON.parse(stdout)).toMatchObject(denied);
    expect([code, existsSync(join(cwd, 'made'))]).toEqual([3, false]);
  });

  test('stdin is closed', async () => {
    const cwd = tempDirectory();
    const command = [process.execPath, program, ...args, '--json'].map((word) => `'${word}'`).join(' ');
    const env = { PATH: process.env['PATH'] ?? '', HOME: tempDirectory() };
    const { status, stdout } = spawnSync('sh', ['-c', `exec ${command} <&-`], { cwd, env, encoding: 'utf8' });
    expect(JSON.parse(stdout)).toMatchObject(denied);
    expect([status, existsSync(join(cwd, 'made'))]).toEqual([3, false]);
  });

  test('a CI service provides a terminal', async () => {
    const cwd = tempDirectory();
    const job = terminal(args, { cwd, env: { CI: 'true' } });
    expect(await job.exited()).toBe(3);
    await expect.poll(() => job.text()).toContain('nobody is there');
    expect(existsSync(join(cwd, 'made'))).toBe(false);
  });
});

test.each([
  [['call']],
  [['call', 'read_file', 'not json']],
  [['call', 'read_file', '[]']],
  [['call', 'read_file', '{}', 'extra']],
  [['--nonsense']],
  [['tools', '--cwd', '/nowhere/at/all']],
])('the usage error %j exits with 2 and a hint', async (args) => {
  const { code, stdout, stderr } = await lathe(args);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain('lathe --help');
});

test.skipIf(!canSeeProcesses)('the program exits although a process started by a hook survives', async () => {
  const seconds = uniqueSleep();
  onTestFinished(() => {
    for (const pid of processesWith(seconds)) process.kill(pid);
  });
  const runaway = `env -i setsid sh -c 'touch away; exec sleep ${seconds}'`;
  const command = `${runaway} & until [ -e away ]; do sleep 0.05; done`;
  const hooks = { PreToolUse: [{ hooks: [{ type: 'command', command }] }] };
  const home = tempDirectory({ '.lathe/settings.json': JSON.stringify({ hooks }) });
  const cwd = tempDirectory({});
  const { code } = await lathe(['call', 'list_directory', JSON.stringify({ path: cwd })], { home, cwd });
  expect(code).toBe(0);
  expect(processesWith(seconds)).toHaveLength(1);
});

test('a command does not run without its hook, and both the model and the person learn why', async () => {
  const guard = { matcher: 'Bash', hooks: [{ type: 'command', command: './check-command.sh' }] };
  const remark = { hooks: [{ type: 'command', command: 'echo "odd day" >&2; exit 1' }] };
  const hooks = { PreToolUse: [guard, remark] };
  const home = tempDirectory({ '.lathe/settings.json': JSON.stringify({ hooks }) });
  const command = JSON.stringify({ command: 'echo hey' });
  const { code, stdout, stderr } = await lathe(['call', 'run_shell_command', command], { home });
  expect([code, stdout]).toEqual([3, '']);
  expect(stderr).toMatch(/^lathe: The PreToolUse hook ".\/check-command.sh" exited with code 127: /m);
  expect(stderr).toMatch(/^lathe: The PreToolUse hook .* exited with code 1: odd day$/m);
  expect(stderr).toContain('check-command.sh" could not run) and nobody is there');
});

test('mcp add replaces no server and says when the folder must be trusted first', async () => {
  const [cwd, home] = [tempDirectory(), tempDirectory()];
  const add = (...args: string[]) => lathe(['mcp', 'add', ...args], { cwd, home });
  const added = await add('--scope', 'project', 'docs', 'docs-server');
  expect({ code: added.code, stdout: added.stdout }).toEqual({
    code: 0,
    stdout: `Added docs to ${join(cwd, '.lathe/settings.json')}.
This folder is not trusted, so its servers are not used yet: lathe trust
Test it with: lathe mcp test docs
`,
  });
  const again = await add('--scope', 'project', 'docs', 'other-server');
  expect(again.code).toBe(2);
  expect(again.stderr).toContain('already has a server named docs; remove it first: lathe mcp remove docs');
  expect(readFileSync(join(cwd, '.lathe/settings.json'), 'utf8')).toContain('docs-server');
});

test('mcp add for all folders asks for the full path of a file', async () => {
  const cwd = tempDirectory({ 'server.js': '' });
  const add = (...args: string[]) => lathe(['mcp', 'add', ...args], { cwd, home: tempDirectory() });
  expect((await add('mine', '--', 'node', 'server.js')).stdout).toContain('use the full path of server.js.');
  const full = await add('mine', '--', 'node', join(cwd, 'server.js'));
  expect([full.code, full.stdout.includes('full path')]).toEqual([0, false]);
});

test('doctor asks the model and says why it does not answer', async () => {
  const { url } = await modelServer([{ text: 'ok' }, { fault: { kind: 'status', status: 401 } }]);
  const env = { OPENAI_API_KEY: 'wrong', OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: 'some-model' };
  const good = await lathe(['doctor'], { env });
  expect(good.stdout).toMatch(/^ok {4}model: some-model from openai at \S+ answers \(\d+ ms\)$/m);
  const bad = await lathe(['doctor'], { env });
  expect(bad.code).toBe(1);
  expect(bad.stdout).toMatch(/^BAD {3}model: some-model from openai at \S+ does not answer: .*OPENAI_API_KEY/m);
});

test('doctor reports rules that match no tool and suggests the right name', async () => {
  const permissions = { deny: ['run_shel_command(rm *)', 'nosuch_tool(x)', 'Bash(dd *)'], ask: ['absent__tool'] };
  const home = tempDirectory({ '.lathe/settings.json': JSON.stringify({ permissions }) });
  const { code, stdout } = await lathe(['doctor'], { home });
  expect(code).toBe(0);
  expect(stdout.match(/the .* rule .* no tool.*(?:\n {8}.*)?/g)).toEqual([
    'the deny rule "run_shel_command(rm *)" matches no tool\n        did you mean run_shell_command?',
    'the deny rule "nosuch_tool(x)" matches no tool',
  ]);
});

test('tools --json has the documented shape', async () => {
  const { stdout } = await lathe(['tools', '--json']);
  const tools = JSON.parse(stdout) as Record<string, unknown>[];
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['list_directory', 'read_file']));
  for (const tool of tools)
    expect(Object.keys(tool)).toEqual(['name', 'displayName', 'description', 'kind', 'source', 'parameterSchema']);
});

test('undo restores changes in this directory only', async () => {
  const home = tempDirectory();
  const cwd = tempDirectory({ 'a.txt': 'one\n' });
  const other = tempDirectory({ 'b.txt': 'one\n' });
  const write = (directory: string, name: string, content: string) =>
    lathe(
      [
        'call',
        'write_file',
        JSON.stringify({ file_path: join(directory, name), content }),
        '--yolo',
        '--cwd',
        directory,
      ],
      { home },
    );
  for (const [directory, name, content] of [
    [cwd, 'a.txt', 'two\n'],
    [cwd, 'new.txt', 'x\n'],
    [other, 'b.txt', 'two\n'],
  ] as const)
    expect((await write(directory, name, content)).code).toBe(0);
  expect((await lathe(['undo', '--list', '--cwd', cwd], { home })).stdout).toMatch(
    /write_file {2}created new\.txt\n.*write_file {2}a\.txt\n$/,
  );
  expect((await lathe(['undo', '2', '--cwd', cwd], { home })).stdout).toBe(
    'new.txt: removed, because it did not exist before\na.txt: restored to its state before write_file\n',
  );
  expect([
    readFileSync(join(cwd, 'a.txt'), 'utf8'),
    existsSync(join(cwd, 'new.txt')),
    readFileSync(join(other, 'b.txt'), 'utf8'),
  ]).toEqual(['one\n', false, 'two\n']);
  expect((await lathe(['undo', '--cwd', cwd], { home })).stdout).toBe('Nothing to undo here.\n');
  writeFileSync(join(other, 'b.txt'), 'mine\n');
  const skipped = await lathe(['undo', '--cwd', other], { home });
  expect([skipped.code, readFileSync(join(other, 'b.txt'), 'utf8')]).toEqual([1, 'mine\n']);
});

test('the demo runs unattended and says that it is scripted', async () => {
  const { code, stdout } = await lathe(['demo', '--yes']);
  expect(stdout).toMatch(/This is a script, not a model[\s\S]*-.*let i = 1;[\s\S]*[#ℹ] pass 1[\s\S]*## Done/);
  expect(code).toBe(0);
});

test('trust is granted, listed and removed', async () => {
  const home = tempDirectory();
  const project = tempDirectory({ '.lathe/settings.json': '{"permissions": {"allow": ["read_file(//etc/**)"]}}' });
  const read = () => lathe(['call', 'read_file', '{"absolute_path": "/etc/hostname"}', '--cwd', project], { home });
  expect((await read()).code).toBe(3);
  expect((await lathe(['trust', project], { home })).code).toBe(0);
  expect((await read()).code).toBe(0);
  expect((await lathe(['trust', '--list'], { home })).stdout).toContain(project);
  expect((await lathe(['trust', '--remove', project], { home })).code).toBe(0);
  expect((await read()).code).toBe(3);
});

test('a rule added to a trusted folder later is reported and applies only after approval', async () => {
  const home = tempDirectory();
  const project = tempDirectory({ '.lathe/settings.json': '{}' });
  const read = () => lathe(['call', 'read_file', '{"absolute_path": "/etc/hostname"}', '--cwd', project], { home });
  await lathe(['trust', project], { home });
  writeFileSync(join(project, '.lathe/settings.json'), '{"permissions": {"allow": ["read_file(//etc/**)"]}}');
  expect(await read()).toMatchObject({ code: 3, stderr: expect.stringContaining('have not agreed to this rule') });
  expect((await lathe(['trust', project], { home })).stdout).toContain('read_file(//etc/**)');
  expect(await read()).toMatchObject({ code: 0, stderr: '' });
});

test('invalid settings are reported on stderr, and the program continues with stricter ones', async () => {
  const home = tempDirectory({ '.lathe/settings.json': '{\n  // a comment\n  "approvalMode": "sometimes",\n}' });
  const { code, stderr } = await lathe(['tools'], { home });
  expect(code).toBe(0);
  expect(stderr).toMatch(/settings\.json[\s\S]*approvalMode/);
});

test('RA06 a reader that closes early is not an error', async () => {
  const home = tempDirectory();
  mkdirSync(join(home, 'x'));
  const child = spawn('sh', ['-c', `"${process.execPath}" "${program}" tools --json | head -c 1`], {
    env: { PATH: process.env['PATH'] ?? '', HOME: home },
  });
  let stderr = '';
  child.stderr.on('data', (data) => (stderr += data));
  const code = await new Promise((resolve) => child.on('close', resolve));
  expect([code, stderr]).toEqual([0, '']);
});

test('a server is added, listed without secrets, tested, called and removed', async () => {
  const home = tempDirectory();
  const server = join(import.meta.dirname, '../../../testing/children/bad-mcp-server.mjs');
  const run = (...args: string[]) => lathe(args, { home });
  expect((await run('mcp', 'add', '-e', 'TOKEN=hunter2hunter2', 'good', process.execPath, server, 'none')).code).toBe(
    0,
  );
  const listed = await run('mcp', 'list');
  expect(listed.stdout).toMatch(/^good {2}\(user\) {2}connected, 1 tool$/m);
  expect(listed.stdout).not.toContain('hunter2');
  expect((await run('mcp', 'test', 'good')).stdout).toContain('good__echo');
  expect((await run('call', 'good__echo', '{}')).code).toBe(3);
  const called = await run('call', 'good__echo', '{}', '--json', '--allowed-tools', 'good__echo');
  expect(JSON.parse(called.stdout)).toMatchObject({ tool: 'good__echo', status: 'success', llmContent: 'ok' });
  expect((await run('doctor')).stdout).toMatch(/ok\s+MCP server good: none 1, protocol 2025-11-25/);
  const again = await run('mcp', 'add', 'good', process.execPath);
  expect([again.code, again.stderr]).toEqual([
    2,
    expect.stringContaining('already has a server named good; remove it'),
  ]);
  await run('mcp', 'add', 'gone', '/nowhere/server');
  const locked = await webServer((_, response) => void response.writeHead(401).end());
  await run('mcp', 'add', 'locked', `${locked.url}/mcp`);
  const states = (await run('mcp', 'list')).stdout;
  expect(states).toMatch(/^gone {2}\(user\) {2}not connected: .*\/nowhere\/server/m);
  expect(states).toMatch(/^locked {2}\(user\) {2}not connected: .*lathe mcp auth locked/m);
  expect((await run('mcp', 'remove', 'good')).code).toBe(0);
  expect((await run('mcp', 'test', 'good')).code).toBe(2);
});

test('the commands of a project run only after trust and approval', async () => {
  const home = tempDirectory();
  const settings = {
    tools: {
      toolDiscoveryCommand: `${process.execPath} 'tools.mjs' --list`,
      toolCallCommand: `${process.execPath} tools.mjs --call`,
    },
  };
  const script = `
    const declaration = { name: 'greet', parameters: { type: 'object', properties: { who: { type: 'string' } } } };
    if (process.argv[2] === '--list') console.log(JSON.stringify([declaration]));
    else process.stdin.on('data', (data) => console.log('hello ' + JSON.parse(data).who));`;
  const cwd = tempDirectory({ '.lathe/settings.json': JSON.stringify(settings), 'tools.mjs': script });
  const greet = () => lathe(['call', 'greet', '{"who": "you"}', '--cwd', cwd, '--allowed-tools', 'greet'], { home });
  expect((await greet()).code).toBe(2);
  await lathe(['trust', cwd], { home });
  expect((await greet()).stderr).toContain('lathe trust');
  expect((await lathe(['trust', cwd, '--yes'], { home })).stdout).toContain('tools.mjs');
  expect(await greet()).toMatchObject({ code: 0, stdout: 'hello you\n' });
});

test('the built program reaches the web, and this machine only with a rule that names the port', async () => {
  const { url, port } = await webServer((request, response) => {
    if (request.url?.startsWith('/search')) response.end('{"results":[{"title":"Found","url":"https://a.example/"}]}');
    else response.setHeader('content-type', 'text/html').end('<main><h1>Hi</h1></main>');
  });
  const fetchArgs = ['call', 'web_fetch', JSON.stringify({ url, prompt: 'what' })];
  expect(await lathe(fetchArgs)).toMatchObject({ code: 2, stderr: expect.stringContaining('private network') });
  expect(await lathe([...fetchArgs, '--allowed-tools', `web_fetch(127.0.0.1:${port})`])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('# Hi'),
  });
  const env = { SEARXNG_URL: url };
  const search = ['call', 'web_search', '{"query":"anything"}', '--allowed-tools', 'web_search'];
  expect(await lathe(search, { env })).toMatchObject({ code: 0, stdout: expect.stringContaining('1. Found') });
  expect((await lathe(['doctor'], { env })).stdout).toContain(`web search: searxng (127.0.0.1:${port})`);
});

test('trust shows the hooks of a project, and they run once it is agreed to them', async () => {
  const hooks = { PreToolUse: [{ hooks: [{ type: 'command', command: 'echo not today >&2; exit 2' }] }] };
  const cwd = tempDirectory({ '.lathe/settings.json': JSON.stringify({ hooks }) });
  const home = tempDirectory();
  const list = async () =>
    (await lathe(['call', 'list_directory', JSON.stringify({ path: cwd })], { cwd, home })).stderr;
  const shown = [
    'Let this project run its PreToolUse hooks?',
    'echo not today >&2; exit 2',
    `in ${cwd}`,
    `Defined in ${join(cwd, '.lathe/settings.json')}. They run without a sandbox whenever PreToolUse happens.`,
  ];
  expect((await lathe(['trust', cwd], { home })).stdout).toContain(
    [...shown, 'will not start until you approve it: lathe trust --yes'].join('\n  '),
  );
  expect(await list()).toContain('Run `lathe trust` to see it and agree');
  expect(await lathe(['trust', cwd, '--yes'], { home })).toMatchObject({
    stdout: expect.stringContaining([...shown, 'may start'].join('\n  ')),
    stderr: '',
  });
  expect(await list()).toContain('not today');
});

test('tools new writes a short tool that answers once it is trusted, with a test that passes', async () => {
  const [cwd, home] = [tempDirectory(), tempDirectory()];
  const run = (...args: string[]) => lathe(args, { cwd, home });
  expect((await run('tools', 'new', 'hello')).code).toBe(0);
  expect(readFileSync(join(cwd, '.lathe/tools/hello.ts'), 'utf8').split('\n').length).toBeLessThanOrEqual(16);
  expect((await run('call', 'hello', '{}')).stderr).toContain('not loaded, because the folder is not trusted');
  await run('trust', '--yes');
  expect(await run('call', 'hello', '{}')).toEqual({ code: 0, stdout: 'Hello, world!\n', stderr: '' });
  const bin = tempDirectory({ lathe: `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n` });
  chmodSync(join(bin, 'lathe'), 0o755);
  const env = { PATH: `${bin}:${process.env['PATH']}`, HOME: tempDirectory() };
  const checked = spawnSync(process.execPath, ['--test', '.lathe/tools/hello.test.mjs'], {
    cwd,
    env,
    encoding: 'utf8',
  });
  expect([checked.status, checked.stdout]).toEqual([0, expect.stringContaining('hello greets by name')]);
});

test.each([
  ['hello', /^lathe: \.lathe\/tools\/hello\.ts exists; choose another name$/m],
  ['tested', /^lathe: \.lathe\/tools\/tested\.test\.mjs exists; choose another name$/m],
  ['../x', /cannot name a tool/],
  ['a__b', /cannot name a tool: use letters, digits, - and single _/],
  ['read_file', /read_file is a built-in tool; choose another name/],
])('tools new %s writes nothing and says why', async (name, reason) => {
  const cwd = tempDirectory({ '.lathe/tools/hello.ts': 'mine', '.lathe/tools/tested.test.mjs': 'mine' });
  const { code, stderr } = await lathe(['tools', 'new', name], { cwd });
  expect([code, stderr]).toEqual([2, expect.stringMatching(reason)]);
  expect(readdirSync(join(cwd, '.lathe/tools')).toSorted()).toEqual(['hello.ts', 'tested.test.mjs']);
  expect(readFileSync(join(cwd, '.lathe/tools/hello.ts'), 'utf8')).toBe('mine');
});
