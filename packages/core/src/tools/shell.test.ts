import { existsSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hasProgram } from '../../../../testing/programs.js';
import { outsideDirectory, tempDirectory } from '../../../../testing/temp-directory.js';
import { textOf } from '../contract/content.js';
import { ToolError } from '../contract/errors.js';
import { directCall } from '../contract/tool-call.js';
import { LatheHome } from '../files/lathe-home.js';
import { Workspace } from '../files/workspace.js';
import { BackgroundCommands } from '../process/run/background.js';
import { childEnvironment, unattendedVariables } from '../process/run/environment.js';
import { KeptCommands } from '../process/run/kept-commands.js';
import { CommandRunner } from '../process/run/run-command.js';
import { PutAside } from '../process/sandbox/put-aside.js';
import { Sandbox, type SandboxMode } from '../process/sandbox/sandbox.js';
import { allRights, type Right } from '../process/sandbox/sandbox-rights.js';
import { analyzeCommand } from '../process/shell/analyze-command.js';
import type { CommandAnalysis } from '../process/shell/command-analysis.js';
import { ShellTool, type ShellToolOptions } from './shell.js';

const never = new AbortController().signal;

/** An analysis that proves nothing, unless a test knows better. */
function unproven(command: string): CommandAnalysis {
  const words = command.split(' ');
  return {
    segments: [{ words, text: command, isReadOnly: false }],
    reads: [],
    searches: [],
    contents: [],
    recorded: [],
    writes: [],
    redirections: [],
    network: false,
    needsNetwork: false,
    hosts: [],
    hasUnnamedHost: false,
    offline: [],
    doubts: [],
    isReadOnly: false,
    rules: [`${words[0]} *`],
    rootCommand: words[0] ?? '',
  };
}

async function shellTool(options: Partial<ShellToolOptions> & { mode?: SandboxMode; root?: string } = {}) {
  const root = options.root ?? tempDirectory();
  const latheHome = new LatheHome(tempDirectory());
  const workspace = await Workspace.open(root);
  const runner = new CommandRunner(latheHome);
  const sandbox = new Sandbox({
    mode: options.mode ?? 'off',
    roots: workspace.roots,
    latheHome,
    userHome: tempDirectory(),
  });
  const background = new BackgroundCommands(runner, new KeptCommands(latheHome));
  const env = childEnvironment(process.env, { set: unattendedVariables });
  const aside = new PutAside(latheHome.file('put-aside'));
  const tool = new ShellTool({ workspace, runner, sandbox, background, aside, analyze: unproven, env, ...options });
  const run = (command: string, more: object = {}) => tool.execute({ command, ...more }, never);
  return { tool, run, root, latheHome, background };
}

test('a command answers with the labelled lines that models know', async () => {
  const { run, root } = await shellTool();
  const { llmContent, returnDisplay, error } = await run('echo hello; pwd');
  expect(textOf(llmContent).replace(/PGID: \d+/, 'PGID: 1')).toBe(`Command: echo hello; pwd
Directory: (root)
Output: hello
${root}
Error: (none)
Exit Code: 0
Signal: (none)
Background PIDs: (none)
Process Group PGID: 1`);
  expect(returnDisplay).toBe(`hello\n${root}`);
  expect(error).toBeUndefined();
});

test.each([
  ['grep nothing /dev/null', 1, undefined],
  ['diff /etc/passwd /dev/null >/dev/null', 1, undefined],
  ['test -e /nowhere', 1, undefined],
  ['grep x /nowhere', 2, 'shell_execute_error'],
  ['bash -c "exit 1"', 1, 'shell_execute_error'],
  ['exit 126', 126, 'shell_execute_error'],
  ['no-such-program-at-all', 127, 'shell_execute_error'],
])('%s exits with %i, error %s', async (command, code, type) => {
  const { run } = await shellTool();
  const { llmContent, error } = await run(command);
  expect(textOf(llmContent)).toContain(`\nExit Code: ${code}\n`);
  expect(error?.type).toBe(type);
});

test('death by a signal names the signal', async () => {
  const { run } = await shellTool();
  const { llmContent, error, returnDisplay } = await run('kill -SEGV $$');
  expect(textOf(llmContent)).toContain('\nError: Killed by SIGSEGV.\nExit Code: (none)\nSignal: 11\n');
  expect(error?.type).toBe('shell_execute_error');
  expect(returnDisplay).toBe('killed by SIGSEGV');
});

test('a timeout keeps what was printed', async () => {
  const { run } = await shellTool();
  const { llmContent, error } = await run('echo early; sleep 30', { timeout: 200 });
  expect(llmContent).toBe('Command timed out after 200 ms. Output until then:\nearly');
  expect(error?.type).toBe('execution_timeout');
});

test('a question that nobody can answer is recognised', async () => {
  const { run } = await shellTool();
  const { llmContent } = await run('printf "Password: "; sleep 30', { timeout: 200 });
  expect(textOf(llmContent)).toContain('It seems to have asked for input');
});

test('cancelling before the start and during the run give different texts', async () => {
  const { tool, root } = await shellTool();
  const before = await tool.execute({ command: 'touch started' }, AbortSignal.abort());
  expect(before.llmContent).toBe('Command was cancelled before it could start.');
  expect(existsSync(join(root, 'started'))).toBe(false);
  const controller = new AbortController();
  const running = tool.execute({ command: 'echo begun; sleep 30' }, controller.signal, {
    ...directCall(),
    output: () => controller.abort(),
  });
  expect((await running).llmContent).toBe('Command was cancelled while it ran. Output until then:\nbegun');
});

// RS17
test.each(['', '  ', '# only a comment', 'echo \0'])('%j is refused before it runs', async (command) => {
  const { tool } = await shellTool();
  expect(tool.validateToolParams({ command })).toMatch(/^command /);
});

// SA21
test.each(['disableSandbox', 'is_safe', 'trusted', 'sandbox', 'approved'])(
  'the switch %s, which a model might invent, is refused',
  async (name) => {
    const { tool } = await shellTool();
    expect(tool.validateToolParams({ command: 'ls', [name]: true })).toContain(name);
  },
);

// RS17
test('a very long command is refused with the way out', async () => {
  const { tool } = await shellTool();
  expect(tool.validateToolParams({ command: `echo ${'x'.repeat(1_000_000)}` })).toMatch(/script file/);
});

test('output beyond the limit keeps head and tail and names a private file with all of it', async () => {
  const { run, latheHome } = await shellTool();
  const { llmContent } = await run('echo FIRST; seq 1 100000; echo LAST');
  const text = textOf(llmContent);
  expect(text).toMatch(/Output: FIRST\n1\n2\n/);
  expect(text).toMatch(/99999\n100000\nLAST\n\[Full output: /);
  expect(text.length).toBeLessThan(32_000);
  const path = /Full output: ([^;]+);/.exec(text)?.[1] ?? '';
  expect(path.startsWith(latheHome.path)).toBe(true);
  expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(100_003);
});

// SA17
test('an unproven command asks, showing the rule that always would save', async () => {
  const { tool, root } = await shellTool();
  expect(await tool.shouldConfirmExecute({ command: 'make all' })).toEqual({
    type: 'exec',
    title: 'Confirm Shell Command',
    command: 'make all',
    rootCommand: 'make',
    directory: root,
    rules: ['run_shell_command(make *)'],
    exactRules: ['run_shell_command(=make all)'],
  });
});

// SA21
test('a directory that leads outside the workspace asks, however it is spelled', async () => {
  const isReadOnly = (command: string): CommandAnalysis => ({ ...unproven(command), segments: [], isReadOnly: true });
  const { tool, root } = await shellTool({ analyze: isReadOnly });
  expect(await tool.shouldConfirmExecute({ command: 'ls', directory: '.' })).toBe(false);
  const outside = await tool.shouldConfirmExecute({ command: 'ls', directory: `${root}-evil/..` });
  expect(outside).toMatchObject({ warnings: [expect.stringContaining('outside the workspace')] });
});

test('a background command returns an id at once, can be read, searched, answered and stopped', async () => {
  const { run } = await shellTool();
  const started = await run('echo ready; while read -r line; do echo "got $line"; done', { is_background: true });
  expect(started.llmContent).toMatch(/^Started in the background as bg_1 \(pid \d+\)/);
  expect((await run('bg list')).llmContent).toMatch(/^bg_1 running: echo ready/);
  await run('bg send bg_1 hello there');
  await expect.poll(async () => (await run('bg read bg_1 GOT HELLO')).llmContent).toBe('got hello there');
  expect((await run('bg read bg_1')).llmContent).toBe('bg_1 running\nready\ngot hello there\n');
  expect((await run('bg stop bg_1')).llmContent).toBe('bg_1 cancelled\n(no new output)');
});

test('reading a background command never asks, sending it input does', async () => {
  const { tool } = await shellTool();
  expect(await tool.shouldConfirmExecute({ command: 'bg read bg_1' })).toBe(false);
  expect(await tool.shouldConfirmExecute({ command: 'bg send bg_1 rm -rf /' })).not.toBe(false);
});

test('with the sandbox required and none to be had, nothing runs', async () => {
  const { tool, root } = await shellTool({
    sandbox: new Sandbox({
      mode: 'required',
      roots: [],
      latheHome: new LatheHome(tempDirectory()),
      userHome: '/',
      platform: 'aix',
    }),
  });
  await expect(tool.execute({ command: 'touch ran' }, never)).rejects.toMatchObject({ type: 'sandbox_unavailable' });
  expect(existsSync(join(root, 'ran'))).toBe(false);
});

// SA24
test('what was to run unasked does not run when it would ask by then', async () => {
  const step = directCall();
  const { tool, root } = await shellTool({ analyze: analyzeCommand });
  const params = { command: 'cat *.txt' };
  writeFileSync(join(root, 'a.txt'), 'inside\n');
  expect(await tool.isReadOnly(params)).toBe(true);
  expect((await tool.getTargets(params, step)).some(({ asks }) => asks)).toBe(false);
  symlinkSync('/etc/hostname', join(root, 'z.txt'));
  await expect(tool.execute(params, never, step)).rejects.toMatchObject({ type: 'shell_execute_error' });
  // Judged anew, it asks.
  expect((await tool.getTargets({ ...params }, step)).some(({ asks }) => asks)).toBe(true);
});

// SA24
test.skipIf(!hasProgram('bwrap'))(
  'a proof that was wrong changes nothing: the sandbox keeps what was proven',
  async () => {
    const { tool, run, root } = await shellTool({
      mode: 'required',
      analyze: (command) => ({ ...unproven(command), segments: [], rules: [], isReadOnly: true }),
    });
    const params = { command: 'touch canary' };
    expect(await tool.shouldConfirmExecute(params)).toBe(false);
    expect((await run(params.command)).error?.type).toBe('shell_execute_error');
    expect(existsSync(join(root, 'canary'))).toBe(false);
    const again = { ...params, rights: ['workspace' as const] };
    expect(await tool.shouldConfirmExecute(again)).toMatchObject({
      warnings: [expect.stringContaining('write access to the workspace')],
    });
    expect((await tool.getTargets(again)).some(({ guarded }) => guarded)).toBe(false);
    await run(params.command, { rights: ['workspace'] });
    expect(existsSync(join(root, 'canary'))).toBe(true);
  },
);

test.skipIf(!hasProgram('bwrap'))('a right applies to the run that asks for it, and the hint names it', async () => {
  const directory = outsideDirectory();
  const { tool, run } = await shellTool({ mode: 'required', autoApprove: true });
  const command = `rm -f ${directory}/made; touch ${directory}/made`;
  expect(await tool.shouldConfirmExecute({ command })).toBe(false);
  const refused = await run(command);
  expect(refused.error?.message).toContain('send the call again with rights: ["files"]; the user will be asked.');
  const asked = await tool.shouldConfirmExecute({ command, rights: ['files'] });
  expect(asked).toMatchObject({ warnings: [expect.stringContaining('write access outside the workspace')] });
  expect(asked).not.toHaveProperty('rules');
  expect((await run(command, { rights: ['files'] })).error).toBeUndefined();
  expect(existsSync(join(directory, 'made'))).toBe(true);
  expect((await run(command)).error?.type).toBe('shell_execute_error');
});

test.skipIf(!hasProgram('bwrap'))('a command that ran once without a right runs again without a question', async () => {
  const { tool, run } = await shellTool({ mode: 'required', autoApprove: true });
  const command = 'echo EROFS ENOTFOUND ENEEDAUTH; exit 1';
  for (let round = 0; round < 4; round++) {
    expect(await tool.shouldConfirmExecute({ command })).toBe(false);
    await run(command);
  }
});

test.skipIf(!hasProgram('bwrap'))('every right but writing in the workspace is guarded', async () => {
  const { tool } = await shellTool({ mode: 'required' });
  const isGuarded = async (right: Right) =>
    (await tool.getTargets({ command: 'make', rights: [right] })).some(({ guarded }) => guarded !== undefined);
  expect(await Promise.all(allRights.map(isGuarded))).toEqual([false, true, true, true, true]);
  const open = await shellTool({ mode: 'off' });
  expect(await open.tool.getTargets({ command: 'make', rights: ['files'] })).toEqual(
    await open.tool.getTargets({ command: 'make' }),
  );
});

test.skipIf(!hasProgram('bwrap'))('a failure for want of network is recognised', async () => {
  const { run } = await shellTool({ mode: 'required' });
  const { llmContent } = await run('getent hosts example.com || { echo "could not resolve host"; exit 6; }');
  expect(textOf(llmContent)).toContain('rights: ["network"]');
});

test('a proven read-only command asks nothing and differs from one that writes', async () => {
  const { tool, root } = await shellTool({ analyze: analyzeCommand });
  const git = { command: 'git status && ls -la' };
  expect(await tool.isReadOnly({ command: 'ls -la' })).toBe(true);
  expect(await tool.shouldConfirmExecute({ command: 'ls -la' })).toBe(false);
  expect(await tool.isReadOnly({ command: 'ls -la', is_background: true })).toBe(false);
  expect(await tool.isReadOnly({ ...git, command: `${git.command} > list` })).toBe(false);
  expect(await tool.getTargets({ command: 'ls > list' })).toContainEqual({
    type: 'path',
    access: 'write',
    path: join(root, 'list'),
    asks: true,
    isInside: true,
    exact: '=ls > list',
  });
});

test.skipIf(!hasProgram('bwrap'))(
  'contained commands run unasked when the settings say so, protected files still ask',
  async () => {
    const { tool } = await shellTool({ mode: 'required', autoApprove: true, analyze: analyzeCommand });
    expect(await tool.shouldConfirmExecute({ command: 'make all' })).toBe(false);
    expect(await tool.shouldConfirmExecute({ command: 'echo x > .git/hooks/pre-commit' })).not.toBe(false);
    const plain = await shellTool({ mode: 'off', autoApprove: true, analyze: analyzeCommand });
    expect(await plain.tool.shouldConfirmExecute({ command: 'make all' })).not.toBe(false);
  },
);

test('a copy onto a file that exists is judged as that file', async () => {
  const { tool, root } = await shellTool({ analyze: analyzeCommand, root: tempDirectory({ a: '', b: '' }) });
  const paths = (await tool.getTargets({ command: 'cp a b' })).flatMap((target) =>
    target.type === 'path' && target.access === 'write' ? target.path : [],
  );
  expect(new Set(paths)).toEqual(new Set([join(root, 'b')]));
  expect(await tool.shouldConfirmExecute({ command: 'cat a/x/y' })).toBe(false);
});

test('secrets of the environment do not reach a command', async () => {
  const env = childEnvironment({ ...process.env, OPENAI_API_KEY: 'planted', SSH_AUTH_SOCK: '/planted' });
  const { run } = await shellTool({ env });
  expect(textOf((await run('env')).llmContent)).not.toContain('planted');
});

test.skipIf(!hasProgram('bwrap'))('one right leads to the next, and they add up', async () => {
  const { tool, run } = await shellTool({ mode: 'required' });
  const hasNetwork = `[ "$(readlink /proc/self/ns/net)" = '${readlinkSync('/proc/self/ns/net')}' ]`;
  const command = `${hasNetwork} || { echo "network is unreachable"; exit 1; }; echo "Permission denied (publickey)"; exit 1`;
  const rights = ['network' as const];
  expect(textOf((await run(command)).llmContent)).toContain('rights: ["network"]');
  expect(textOf((await run(command, { rights })).llmContent)).toContain('rights: ["network","secrets"]');
  expect(await tool.shouldConfirmExecute({ command, rights: [...rights, 'secrets'] })).toMatchObject({
    warnings: [expect.stringContaining('network access and your keys and stored credentials.')],
  });
});

// SB09
test.each(['loop', 'loop/a', 'a'.repeat(300), `${'a/'.repeat(2_500)}a`])(
  'a path that cannot be resolved is refused: %.20s',
  async (path) => {
    const { tool, root } = await shellTool({ analyze: analyzeCommand });
    symlinkSync('loop', join(root, 'loop'));
    await expect(tool.shouldConfirmExecute({ command: `cat ${path}` })).rejects.toThrow(ToolError);
    expect(await tool.shouldConfirmExecute({ command: 'cat a.txt' })).toBe(false);
  },
);

test.each([
  'grep -rh TOP .',
  'rg TOP',
  'git grep TOP',
  'find . -name plan.txt -type f -exec cat {} +',
  'cp -r . /tmp/x',
])('rules see that %s reads all that lies below a directory', async (command) => {
  const { tool, root } = await shellTool({ analyze: analyzeCommand });
  expect(await tool.getTargets({ command })).toContainEqual(
    expect.objectContaining({ type: 'path', access: 'read', path: root, isTree: true }),
  );
});
