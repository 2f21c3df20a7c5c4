import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { bundleChild } from '../../../../../testing/bundle.js';
import { processesWith, uniqueSleep } from '../../../../../testing/processes.js';
import { hasProgram } from '../../../../../testing/programs.js';
import { canSeeProcesses } from '../../../../../testing/running.js';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { LatheHome } from '../../files/lathe-home.js';
import type { SandboxMode } from '../sandbox/sandbox.js';
import { BackgroundCommands } from './background.js';
import { runBackgroundCommand } from './background-command.js';
import { childEnvironment } from './environment.js';
import { KeptCommands } from './kept-commands.js';
import { CommandRunner } from './run-command.js';

let program = '';
beforeAll(async () => {
  program = await bundleChild('keeping-lathe', afterAll);
});

/** A session in this process; whatever it kept is ended with the test. */
function session({ firstLookMs }: { firstLookMs?: number } = {}) {
  const home = tempDirectory();
  const latheHome = new LatheHome(home);
  const kept = new KeptCommands(latheHome);
  const background = new BackgroundCommands(new CommandRunner(latheHome), kept, firstLookMs);
  const cwd = tempDirectory();
  const start = (command: string) =>
    background.start({ command, cwd, env: childEnvironment(process.env), isKept: true });
  onTestFinished(async () => {
    // A command may end between the list and its stop.
    for (const { id } of await kept.list())
      await kept.stop(id).catch((error: unknown) => expect(String(error)).toContain(`Nothing called ${id} is running`));
  });
  return { home, kept, background, cwd, start };
}

/** A Lathe of its own that runs commands in the background; `true` for those that are kept. */
async function startLathe(mode: SandboxMode, commands: [command: string, isKept: boolean][]) {
  const { home, kept } = session();
  const root = tempDirectory({ '.git/HEAD': 'ref: refs/heads/main\n' });
  const requests = commands.map(([command, isKept]) => ({ command, isKept }));
  const child = spawn(process.execPath, [program, JSON.stringify({ root, home, mode, commands: requests })], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ids: string[] = JSON.parse(String((await once(child.stdout, 'data'))[0]));
  const kill = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await once(child, 'exit');
  };
  return { child, ids, kept, root, home, kill };
}

const ways: Record<string, (child: ChildProcess) => unknown> = {
  'an exit': (child) => child.stdin?.end(),
  SIGTERM: (child) => child.kill('SIGTERM'),
  SIGHUP: (child) => child.kill('SIGHUP'),
  SIGKILL: (child) => child.kill('SIGKILL'),
};

describe.skipIf(!canSeeProcesses).each(['off', 'required'] as const)('sandbox %s', (mode) => {
  const isMissing = mode === 'required' && !hasProgram('bwrap');

  // RS09 RS10
  test.skipIf(isMissing).each(Object.keys(ways))('only kept commands survive %s of Lathe', async (way) => {
    const [kept, other] = [uniqueSleep(), uniqueSleep()];
    const lathe = await startLathe(mode, [
      [`while :; do echo tick; sleep 0.1; done & sleep ${kept}`, true],
      [`setsid sleep ${other} & sleep ${other}`, false],
    ]);
    await expect.poll(() => processesWith(other).length).toBeGreaterThan(1);
    const exit = once(lathe.child, 'exit');
    ways[way]?.(lathe.child);
    await exit;
    await expect.poll(() => processesWith(other)).toEqual([]);
    const [known] = await lathe.kept.list();
    expect(known).toMatchObject({ id: lathe.ids[0], cwd: lathe.root });
    const size = () => statSync(known?.output ?? '').size;
    const before = size();
    await expect.poll(size).toBeGreaterThan(before);
    await expect.poll(() => processesWith(`sleep\0${kept}`)).not.toEqual([]);
    expect(await lathe.kept.stop(known?.id ?? '')).toEqual([]);
    // What takes its output ends by itself, when the last byte is written.
    await expect.poll(() => processesWith(kept)).toEqual([]);
    expect(await lathe.kept.list()).toEqual([]);
  });

  test.skipIf(isMissing)('a kept command that ends after Lathe leaves no placeholder behind', async () => {
    const lathe = await startLathe(mode, [['touch begun; until [ -e end ]; do sleep 0.05; done', true]]);
    await lathe.kill('SIGKILL');
    await expect.poll(() => readdirSync(lathe.root)).toContain('begun');
    writeFileSync(join(lathe.root, 'end'), '');
    await expect.poll(() => lathe.kept.list()).toEqual([]);
    await expect.poll(() => readdirSync(lathe.root).sort()).toEqual(['.git', 'begun', 'end']);
  });
});

describe.skipIf(!hasProgram('bwrap'))('after Lathe', () => {
  // RS09 RS10
  test.each(['SIGKILL', 'SIGTERM', 'SIGHUP'] as const)(
    'placeholders are removed when Lathe dies by %s',
    async (signal) => {
      const lathe = await startLathe('required', [['touch begun; sleep 100', false]]);
      await expect.poll(() => readdirSync(lathe.root).sort()).toEqual(['.git', '.lathe', '.qwen', 'begun']);
      await lathe.kill(signal);
      await expect.poll(() => readdirSync(lathe.root).sort()).toEqual(['.git', 'begun']);
    },
  );

  test('placeholders stay while a kept command needs them', async () => {
    const lathe = await startLathe('required', [
      ['touch begun; until [ -e end ]; do sleep 0.05; done', true],
      ['sleep 100', false],
    ]);
    await expect.poll(() => readdirSync(lathe.root)).toContain('begun');
    await lathe.kill('SIGKILL');
    await expect.poll(() => processesWith(lathe.home).filter(isGuardian)).toEqual([]);
    expect(readdirSync(lathe.root).sort()).toEqual(['.git', '.lathe', '.qwen', 'begun']);
    writeFileSync(join(lathe.root, 'end'), '');
    await expect.poll(() => readdirSync(lathe.root).sort()).toEqual(['.git', 'begun', 'end']);
  });

  test('an empty directory that somebody made in place of a former placeholder is not removed', async () => {
    const lathe = await startLathe('required', [['true', false]]);
    await expect.poll(() => readdirSync(lathe.root)).toEqual(['.git']);
    mkdirSync(join(lathe.root, '.lathe'));
    await lathe.kill('SIGKILL');
    await expect.poll(() => processesWith(lathe.home).filter(isGuardian)).toEqual([]);
    expect(readdirSync(lathe.root).sort()).toEqual(['.git', '.lathe']);
  });
});

function isGuardian(pid: number): boolean {
  return existsSync(`/proc/${pid}`) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('lathe-guardian');
}

// SB06
test.skipIf(!hasProgram('bwrap'))('a kept command in the sandbox cannot change anything in .git', async () => {
  const lathe = await startLathe('required', [
    ['echo x > .git/commondir; echo x > .git/HEAD; mkdir .lathe/commands; touch done; sleep 100', true],
  ]);
  await expect.poll(() => existsSync(join(lathe.root, 'done'))).toBe(true);
  expect(readdirSync(join(lathe.root, '.git'))).toEqual(['HEAD']);
  expect(readFileSync(join(lathe.root, '.git', 'HEAD'), 'utf8')).toBe('ref: refs/heads/main\n');
  expect(existsSync(join(lathe.root, '.lathe', 'commands'))).toBe(false);
});

// RS04 SB14
test('the output of a kept command is bounded on disk, and the command continues', async () => {
  const { start, cwd, background } = session();
  const { id } = await start('head -c 80000000 /dev/zero && touch printed; sleep 100');
  await expect.poll(() => existsSync(join(cwd, 'printed')), { timeout: 20_000 }).toBe(true);
  const { path = '' } = background.get(id).running.output;
  expect(statSync(path).size).toBe(64 * 1024 * 1024);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('a kept command is read, searched and stopped like any other, but takes no input', async () => {
  const { start, background } = session();
  const { id } = await start('echo ready; echo odd >&2; cat; exec sleep 100');
  expect(await runBackgroundCommand({ action: 'list' }, background)).toMatch(/^kept_\d+ running: echo ready/);
  await expect.poll(() => runBackgroundCommand({ action: 'read', id, text: 'ODD' }, background)).toBe('odd');
  expect(await runBackgroundCommand({ action: 'read', id }, background)).toBe(`${id} running\nready\nodd\n`);
  await expect(runBackgroundCommand({ action: 'send', id, text: 'x' }, background)).rejects.toThrow('takes no input');
  expect(await runBackgroundCommand({ action: 'stop', id }, background)).toBe(`${id} cancelled\n(no new output)`);
});

test('a kept command that fails immediately reports its output and exit code', async () => {
  // However busy the machine is.
  const { start, kept } = session({ firstLookMs: 20_000 });
  const { result } = await start('echo broken >&2; exit 3');
  expect(result?.ending).toEqual({ type: 'exit', code: 3 });
  expect(result?.output.text()).toBe('broken\n');
  expect(await kept.list()).toEqual([]);
});

test('a kept command ends when its pid is killed', async () => {
  const { start, kept } = session();
  const sleep = uniqueSleep();
  const { running } = await start(`exec sleep ${sleep}`);
  process.kill(running.pid, 'SIGTERM');
  expect((await running.result).ending).toEqual({ type: 'signal', signal: 'SIGTERM' });
  expect(await kept.list()).toEqual([]);
});

test('a pid that now belongs to another process is neither listed nor killed', async () => {
  const { home, kept } = session();
  const stranger = spawn('sleep', ['100'], { detached: true, stdio: 'ignore' });
  onTestFinished(() => void stranger.kill());
  const id = `kept_${stranger.pid}`;
  mkdirSync(join(home, 'kept'));
  const record = { id, pid: stranger.pid, command: 'sleep 100', cwd: '/', output: '/x', mark: 2 ** 50, isLimit: true };
  writeFileSync(join(home, 'kept', `${id}.json`), JSON.stringify(record));
  await expect(kept.stop(id)).rejects.toThrow(`Nothing called ${id}`);
  expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
  expect(readdirSync(join(home, 'kept'))).toEqual([]);
});

test.each(['', '{', 'null', '{"id":"kept_1"}'])('a record that contains %j is ignored', async (text) => {
  const { home, kept } = session();
  mkdirSync(join(home, 'kept'));
  writeFileSync(join(home, 'kept', 'kept_1.json'), text);
  expect(await kept.list()).toEqual([]);
});

test('without bash a kept command is rejected and not started', async () => {
  const latheHome = new LatheHome(tempDirectory());
  const runner = new CommandRunner(latheHome, { shell: '/bin/sh' });
  const cwd = tempDirectory();
  const request = { command: 'touch started', cwd, env: {}, isFollowed: true, isKept: true };
  await expect(runner.start(request)).rejects.toThrow('needs bash');
  expect(readdirSync(cwd)).toEqual([]);
});
