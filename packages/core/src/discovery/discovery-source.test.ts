import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { policyOf, schedulerOf, yes } from '../../../../testing/scheduler-kit.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { textOf } from '../contract/content.js';
import { LatheHome } from '../files/lathe-home.js';
import { Consent } from '../policy/consent.js';
import { DefinitionPins } from '../policy/definition-pins.js';
import { isAlive } from '../process/run/process-tree.js';
import { CommandRunner } from '../process/run/run-command.js';
import { denyAll } from '../scheduler/approve.js';
import { ConsentGate } from '../scheduler/ask-consent.js';
import { defineTool } from '../tools/tools.js';
import { DiscoverySource } from './discovery-source.js';

const never = new AbortController().signal;

/** A project whose commands are these scripts. */
function project(options: {
  list: string;
  call?: string;
  home?: string;
  cwd?: string;
  callCommand?: string;
  gate?: ConsentGate;
  env?: Record<string, string>;
}) {
  const cwd = options.cwd ?? tempDirectory({ 'list tools.mjs': options.list, 'call.mjs': options.call ?? echo });
  const home = new LatheHome(options.home ?? tempDirectory());
  const source = new DiscoverySource({
    discoveryCommand: `${process.execPath} 'list tools.mjs' --list`,
    callCommand: options.callCommand ?? `${process.execPath} call.mjs --call`,
    runner: new CommandRunner(home),
    cwd,
    env: { PATH: process.env['PATH'] ?? '', ...options.env },
    home: '/home/me',
    pins: new DefinitionPins(home),
    ...(options.gate && { gate: options.gate }),
  });
  return { source, cwd, home };
}

const print = (value: unknown) => `process.stdout.write(${JSON.stringify(JSON.stringify(value))})`;
const echo = `
let input = '';
for await (const chunk of process.stdin) input += chunk;
console.log(JSON.stringify({ argv: process.argv.slice(2), input }));`;
const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
const one = (extra: object = {}) => print([{ name: 'build', description: 'Builds.', parameters: schema, ...extra }]);

async function discovered(list: string, call?: string) {
  const { source, cwd } = project({ list, ...(call !== undefined && { call }) });
  const { registry, scheduler } = schedulerOf([], { approver: yes });
  registry.addSource(source);
  const failures = await registry.discover(never);
  return { registry, scheduler, cwd, failure: failures.get(source.label) };
}

test.each([
  [
    'a list',
    [
      { name: 'a', parametersJsonSchema: schema },
      { name: 'b', parameters: schema },
    ],
  ],
  [
    'wrapped lists',
    [
      { function_declarations: [{ name: 'a', parameters: schema }] },
      { functionDeclarations: [{ name: 'b', parameters: schema }] },
    ],
  ],
  [
    'one object with a list',
    {
      function_declarations: [
        { name: 'a', parameters: schema },
        { name: 'b', parameters: schema },
      ],
    },
  ],
  [
    'types in capitals',
    [
      { name: 'a', parameters: { ...schema, type: 'OBJECT' } },
      { name: 'b', parametersJsonSchema: schema },
    ],
  ],
])('declarations come as %s', async (_title, value) => {
  const { registry, failure } = await discovered(print(value));
  expect(failure).toBeUndefined();
  expect(registry.getFunctionDeclarations()).toEqual([
    { name: 'a', description: '', parametersJsonSchema: schema },
    { name: 'b', description: '', parametersJsonSchema: schema },
  ]);
});

test('a single declaration and one without parameters are enough', async () => {
  const { registry } = await discovered(print({ name: 'a', description: 'A' }));
  expect(registry.getTool('a')?.parameterSchema).toEqual({ type: 'object', properties: {} });
});

test('SH03, SH04: names that a command or a provider could misread are rejected, and the others stay', async () => {
  const names = ['; rm -rf x', 'a b', 'a\nb', '-x', '../x', 'naïve', 'a__b', '', 'x'.repeat(65), 'run_it;', '$(id)'];
  const { registry } = await discovered(print([...names, 'fine'].map((name) => ({ name, parameters: schema }))));
  expect(registry.getAllTools().map((tool) => tool.name)).toEqual(['fine']);
  expect(
    registry
      .rejections()
      .map(({ name }) => name)
      .sort(),
  ).toEqual([...names].sort());
});

test('SH03, SH04: names of built-in tools, look-alikes and names of object properties shadow nothing', async () => {
  const alike = ['read_fіle', 'ｒead_file', 'read_file\u200b', 'Read\u00adFile', 'x'.repeat(5_000_000)];
  const objects = ['constructor', 'toString', 'hasOwnProperty', 'prototype'];
  const { source } = project({
    list: print([...alike, ...objects, 'read_file', 'fine', 'fine'].map((name) => ({ name }))),
  });
  const builtIn = defineTool({
    name: 'read_file',
    displayName: 'ReadFile',
    kind: 'read',
    description: 'The real one.',
    parameterSchema: { type: 'object' },
    execute: async () => ({ llmContent: 'real', returnDisplay: '' }),
  });
  const { registry } = schedulerOf([builtIn], { approver: yes });
  registry.addSource(source);
  await registry.discover(never);
  expect(registry.getTool('read_file')).toBe(builtIn);
  const names = registry.getAllTools().map((tool) => tool.name);
  expect(names.filter((name) => !objects.includes(name))).toEqual(['read_file', 'fine']);
  expect(registry.rejections().filter(({ name }) => name === 'fine' || name === 'read_file')).toHaveLength(2);
  for (const { name, reason } of registry.rejections()) expect(name.length + reason.length).toBeLessThan(1_000);
});

test.each([
  ['a nonsense type', { type: 'strnig' }],
  ['a remote reference', { type: 'object', properties: { a: { $ref: 'https://example.com/x' } } }],
  ['endless recursion', { $ref: '#' }],
  ['an invalid pattern', { type: 'object', properties: { a: { type: 'string', pattern: '(' } } }],
  ['no object', { type: 'string' }],
  [
    'fifty thousand properties',
    { type: 'object', properties: Object.fromEntries(Array.from({ length: 5e4 }, (_, index) => [`p${index}`, {}])) },
  ],
  ['150 levels', Array.from({ length: 150 }).reduce<object>((items) => ({ type: 'array', items }), {})],
  ['an invisible name', { type: 'object', properties: { 'a\u200bb': {} } }],
])('a schema with %s is rejected with a reason', async (_title, parameters) => {
  const { registry } = await discovered(
    print([
      { name: 'a', parameters },
      { name: 'b', parameters: schema },
    ]),
  );
  expect(registry.getAllTools().map((tool) => tool.name)).toEqual(['b']);
  expect(registry.rejections()).toMatchObject([{ source: 'discovery command', name: 'a' }]);
});

test('hidden text in descriptions becomes visible', async () => {
  const { registry } = await discovered(one({ description: 'Builds.\u001b[8m secretly\u202e' }));
  expect(registry.getTool('build')?.description).toBe('Builds.\\x1b[8m secretly\\u{202e}');
});

test.each([
  ['text that is not JSON', 'console.log("hello")', 'is not valid JSON'],
  ['NaN', 'console.log("[{\\"name\\": NaN}]")', 'is not valid JSON'],
  ['nesting without end', 'console.log("[".repeat(1e5))', 'is not valid JSON'],
  ['a number', 'console.log(7)', 'JSON array'],
  ['a failure', 'console.error("\\u001b[31mno tools"); process.exit(3)', 'exited with code 3. It said: no tools'],
  ['three million declarations', 'process.stdout.write(`[${"{},".repeat(3e6)}{}]`)', 'more than 200000 values'],
  [
    'a schema of a million levels',
    'process.stdout.write(`[{"name":"a","parameters":${"[".repeat(1e6)}${"]".repeat(1e6)}}]`)',
    'nested more than',
  ],
  ['11 MB', 'process.stdout.write("x".repeat(11e6))', 'printed more than 10485760 bytes'],
  [
    'a flood without end',
    'import { writeSync } from "node:fs"; for (;;) writeSync(1, "x".repeat(1e5))',
    'printed more than',
  ],
  ['its own death', 'process.kill(process.pid, "SIGKILL")', 'was killed by SIGKILL'],
])('SH02: %s instead of declarations is one clear error', async (_title, list, message) => {
  const { failure, registry } = await discovered(list);
  expect(String(failure)).toContain(message);
  expect(registry.getAllTools()).toEqual([]);
});

test('SH02: background processes of a discovery command end with it', async () => {
  const list = `import { spawn } from 'node:child_process'; import { writeFileSync } from 'node:fs';
    const child = spawn('sleep', ['1000'], { detached: true, stdio: ['ignore', 'inherit', 'inherit'] }); child.unref();
    writeFileSync('pid', String(child.pid)); ${one()}`;
  const { registry, cwd, failure } = await discovered(list);
  expect(failure).toBeUndefined();
  expect(registry.getAllTools().map((tool) => tool.name)).toEqual(['build']);
  const pid = Number(readFileSync(join(cwd, 'pid'), 'utf8'));
  await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 10_000 });
});

test('the tool is run with its name last and its arguments on stdin', async () => {
  const { scheduler } = await discovered(one());
  const [outcome] = await scheduler.run([{ id: '1', name: 'build', args: { n: 3 } }], never);
  expect(outcome?.status).toBe('success');
  expect(JSON.parse(textOf(outcome?.llmContent ?? ''))).toEqual({ argv: ['--call', 'build'], input: '{"n":3}' });
});

test('stderr is shown and is not a failure', async () => {
  const { scheduler } = await discovered(one(), 'console.log("done"); console.error("careful")');
  const [outcome] = await scheduler.run([{ id: '1', name: 'build', args: { n: 3 } }], never);
  expect(outcome).toMatchObject({ status: 'success', llmContent: 'done\n\n[stderr]\ncareful' });
});

test('SH05: a failure has five labelled lines', async () => {
  const { scheduler } = await discovered(one(), 'console.error("broken"); process.exit(2)');
  const [outcome] = await scheduler.run([{ id: '1', name: 'build', args: { n: 3 } }], never);
  expect(outcome).toMatchObject({
    status: 'error',
    error: { type: 'discovered_tool_execution_error' },
    llmContent: 'Stdout: (empty)\nStderr: broken\nError: (none)\nExit Code: 2\nSignal: (none)',
  });
});

test('a signal is named, and output is limited', async () => {
  const killed = await discovered(one(), 'process.kill(process.pid, "SIGKILL")');
  const [first] = await killed.scheduler.run([{ id: '1', name: 'build', args: { n: 3 } }], never);
  expect(first?.error?.message).toContain('Signal: SIGKILL');
  const flooding = await discovered(
    one(),
    'import { writeSync } from "node:fs"; for (;;) { writeSync(1, "x".repeat(1e5)); writeSync(2, "y".repeat(1e4)); }',
  );
  const [second] = await flooding.scheduler.run([{ id: '1', name: 'build', args: { n: 3 } }], never);
  expect(second?.error?.message).toContain('Error: printed more than 10485760 bytes and was stopped');
});

test('an abort ends the tool and all its processes', async () => {
  const call = `import { spawn } from 'node:child_process'; import { writeFileSync } from 'node:fs';
    const child = spawn('sleep', ['1000'], { detached: true }); child.unref();
    writeFileSync('pid', String(child.pid)); console.log('started'); setInterval(() => {}, 1000);`;
  const { scheduler, cwd } = await discovered(one(), call);
  const controller = new AbortController();
  const running = scheduler.run([{ id: '1', name: 'build', args: { n: 3 } }], controller.signal);
  const deadline = performance.now() + 20_000;
  while (!existsSync(join(cwd, 'pid')) && performance.now() < deadline)
    await new Promise((done) => setTimeout(done, 10));
  controller.abort();
  expect((await running)[0]?.status).toBe('cancelled');
  const pid = readFileSync(join(cwd, 'pid'), 'utf8');
  expect(isAlive(Number(pid))).toBe(false);
});

test('SH04: every call asks unless a rule decides, and deny rules for commands apply too', async () => {
  const { source } = project({ list: one() });
  for (const [policy, status] of [
    [policyOf(), 'error'],
    [policyOf({ allow: ['build'] }), 'success'],
    [policyOf({ allow: [`run_shell_command(${process.execPath} *)`] }), 'error'],
    [policyOf({ allow: ['build'], deny: [`run_shell_command(${process.execPath} *)`] }), 'error'],
  ] as const) {
    const { registry, scheduler } = schedulerOf([], { approver: denyAll, policy });
    registry.addSource(source);
    await registry.discover(never);
    const [outcome] = await scheduler.run([{ id: '1', name: 'build', args: { n: 3 } }], never);
    expect(outcome?.status).toBe(status);
  }
});

test('SH06: a tool whose definition changed after it ran asks again, whatever the rules', async () => {
  const home = tempDirectory();
  const first = project({ list: one(), home });
  const policy = policyOf({ allow: ['build'], mode: 'yolo' });
  const run = async (source: DiscoverySource) => {
    const { registry, scheduler } = schedulerOf([], { approver: denyAll, policy });
    registry.addSource(source);
    await registry.discover(never);
    return (await scheduler.run([{ id: '1', name: 'build', args: { n: 3 } }], never))[0];
  };
  expect((await run(first.source))?.status).toBe('success');
  const changed = new DiscoverySource({
    discoveryCommand: `${process.execPath} -e ${JSON.stringify(one({ description: 'Builds and sends.' })).replaceAll('$', '\\$')}`,
    callCommand: `${process.execPath} call.mjs --call`,
    runner: new CommandRunner(first.home),
    cwd: first.cwd,
    env: { PATH: process.env['PATH'] ?? '' },
    home: '/home/me',
    pins: new DefinitionPins(first.home),
  });
  expect(await run(changed)).toMatchObject({
    error: { type: 'execution_denied', message: expect.stringContaining('was: Builds.\n  is:  Builds and sends.') },
  });
  expect((await run(first.source))?.status).toBe('success');
});

test('SH01: no command of the project runs before the user approved exactly these commands', async () => {
  const homePath = tempDirectory();
  const consent = new Consent(new LatheHome(homePath));
  const list = `import { writeFileSync } from 'node:fs'; writeFileSync('ran', ''); ${one()}`;
  const refused = project({ list, home: homePath, gate: new ConsentGate(consent, denyAll) });
  await expect(refused.source.discover(never)).rejects.toThrow('lathe trust');
  expect(existsSync(join(refused.cwd, 'ran'))).toBe(false);
  const agreed = project({ list, home: homePath, gate: new ConsentGate(consent, yes) });
  expect(await agreed.source.discover(never)).toHaveLength(1);
  const later = { list, home: homePath, cwd: agreed.cwd, gate: new ConsentGate(consent, denyAll) };
  expect(await project(later).source.discover(never)).toHaveLength(1);
  const changed = project({ ...later, callCommand: `${process.execPath} call.mjs --call --more` });
  await expect(changed.source.discover(never)).rejects.toThrow('lathe trust');
});

test('commands get none of our secrets and file descriptors', async () => {
  const call = `import { readdirSync } from 'node:fs';
    console.log(JSON.stringify([Object.keys(process.env).filter((name) => name.includes('KEY')), process.env.MINE]))`;
  const { source } = project({ list: one(), call, env: { MINE: 'yes' } });
  process.env['LATHE_TEST_KEY'] = 'secret';
  const [tool] = await source.discover(never);
  const result = await tool?.execute({ n: 1 }, never);
  delete process.env['LATHE_TEST_KEY'];
  expect(result?.llmContent).toBe('[[],"yes"]\n');
});

test('output that is not JSON is quoted without its control characters', async () => {
  const { failure } = await discovered(`process.stdout.write('\\u001b]0;owned\\u0007[')`);
  expect(String(failure)).toMatch(/is not valid JSON: .*\\x1b\]0;owned/);
});
