import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { buildSync } from 'esbuild';
import { describe, expect, onTestFinished, test } from 'vitest';
import { processesWith, uniqueSleep } from '../../../../testing/processes.js';
import { hasProgram } from '../../../../testing/programs.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { LatheHome } from '../files/lathe-home.js';
import { CommandRunner } from './run-command.js';
import type { CommandRequest } from './running-command.js';
import { Sandbox } from './sandbox.js';
import type { SandboxRights } from './sandbox-rights.js';

const env = { PATH: '/usr/bin:/bin', HOME: '/nonexistent', LANG: 'C.UTF-8', TMPDIR: '/tmp', size: '1', REPLY: 'a' };

/** Not in the temporary directory, of which the sandbox has its own. */
function outsideDirectory(): string {
  const directory = mkdtempSync('/var/tmp/lathe-test-');
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** The processes of bubblewrap around what waits for a command in `root`. */
function waiting(root: string): number[] {
  const waiters = processesWith('LATHE_LENGTH');
  return processesWith(root).filter((pid) => waiters.includes(pid));
}

/** How many wait in `root`: the program inside sleeps only when it waits for its command. */
function readyIn(root: string): number {
  return waiting(root)
    .map((pid) => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim())
    .filter((pid) => pid !== '' && /^\d+ \(bash\) S/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))).length;
}

interface Options {
  readyMs?: number;
  files?: Record<string, string>;
}

type More = Partial<Omit<CommandRequest, 'command'>> & { rights?: Partial<SandboxRights>; signal?: AbortSignal };

function session({ readyMs = 60_000, files = {} }: Options = {}) {
  const root = tempDirectory({ '.git/config': '[core]\n', 'sub/file': '', ...files });
  const userHome = outsideDirectory();
  const latheHome = new LatheHome(tempDirectory());
  const runner = new CommandRunner(latheHome, { readyMs });
  const sandbox = new Sandbox({ mode: 'required', roots: [root], latheHome, userHome, lingerMs: 100 });
  const close = async () => {
    await runner.close();
    sandbox.close();
  };
  onTestFinished(close);
  const prepare = (cwd = root, rights: Partial<SandboxRights> = {}) =>
    sandbox.prepare(cwd, { workspace: true, network: false, files: false, secrets: false, ...rights });
  const run = async (command: string, { rights, signal = new AbortController().signal, ...more }: More = {}) => {
    const cwd = more.cwd ?? root;
    const wrap = await prepare(cwd, rights);
    const request = { command, cwd, env, ...(wrap && { wrap }), ...more };
    const { output, ...result } = await runner.run(request, { timeoutMs: 20_000, signal });
    return { ...result, text: output.text() };
  };
  /** Settles when the next sandboxes wait, with their processes. */
  const ready = async () => {
    await expect.poll(() => readyIn(root)).toBe(4);
    // What it said on its way is heard in the next turn.
    await nextTurn();
    await nextTurn();
    return waiting(root);
  };
  /** Runs a command after a sandbox was made for it. */
  const runReady = async (command: string, more?: More) => {
    await run('true');
    const pids = await ready();
    const result = await run(command, more);
    return { ...result, wasReady: pids.includes(result.pid) };
  };
  return { root, userHome, runner, prepare, run, ready, runReady, close };
}

// A socket of another program that comes or goes meanwhile makes another sandbox.
describe.skipIf(!hasProgram('bwrap'))('a sandbox that waits', { retry: 2 }, () => {
  // SB12 SB15 SB16 RS06 RS15
  test.each([
    'echo out; echo err >&2; echo out',
    'exit 3',
    'kill -TERM $$',
    'no-such-program',
    'true\nno-such-program',
    'if; then',
    'echo "unclosed',
    'echo "$0 $$ $PPID $SHLVL $- $# ${BASH_SUBSHELL} ${LATHE_COMMAND-unset} ${LATHE_LENGTH-unset}"',
    'env | grep -v LATHE_CALL | sort',
    // Without what changes, and what the shell remembers of the line before the command.
    'declare -p | grep -vE "LATHE_CALL|RANDOM|SECONDS|EPOCH|BASH_EXECUTION_STRING|PIPESTATUS| _=" | sort',
    'set -o; shopt; trap -p; umask; pwd; echo "$PWD $OLDPWD"',
    'ulimit -a | grep -v "real-time non"',
    'grep -E "^(Sig|Shd|Cap|NoNewPrivs|Seccomp|Groups|NSpid)" /proc/self/status',
    'ls /proc/self/fd; readlink /proc/self/fd/0; ls /proc | grep -E "^[0-9]+$"',
    'read -r line; echo "$? $line"; cat',
    'tty; (echo x > /dev/tty) 2>/dev/null || echo refused',
    'cut -d" " -f4- /proc/self/mountinfo | sort',
    'ls -A / . /tmp /dev',
    'sleep 300 & echo started',
    "printf '%s' 'ünï \\ cödé \u0001 \u007f \t end' | od -c",
    'echo one \\\n  two   \n\n',
    ': trailing newlines\n\n\n',
    `echo ${'x'.repeat(60_000)} | wc -c`,
    ' ',
  ])('runs a command as one that is started for it would: %j', async (command) => {
    const { run, runReady } = session();
    const { pid: _, leftBehind, ...fresh } = await run(command);
    const { pid: __, leftBehind: left, wasReady, ...ready } = await runReady(command);
    expect(wasReady).toBe(true);
    expect({ ...ready, left: left.length }).toEqual({ ...fresh, left: leftBehind.length });
  });

  test('serves one command and no second', async () => {
    const { runReady } = session();
    const first = await runReady('echo trace > /tmp/trace; echo $$; (setsid sleep 300 &)');
    const second = await runReady('cat /tmp/trace; ls /proc | grep -cE "^[0-9]+$"');
    expect([first.wasReady, second.wasReady]).toEqual([true, true]);
    expect(second.pid).not.toBe(first.pid);
    expect(second.text).toBe('cat: /tmp/trace: No such file or directory\n4\n');
  });

  // SB06 SB07 SD03
  test.each<[string, (place: { root: string; userHome: string }) => void, string]>([
    [
      'a file with a protected name appeared',
      ({ root }) => writeFileSync(join(root, '.npmrc'), 'abc'),
      'echo x > .npmrc',
    ],
    [
      'a protected file was replaced',
      ({ root }) => {
        rmSync(join(root, '.envrc'));
        writeFileSync(join(root, '.envrc'), 'abc');
      },
      'echo x > .envrc',
    ],
    [
      'a protected file was renamed over',
      ({ root }) => {
        writeFileSync(join(root, 'new'), 'abc');
        renameSync(join(root, 'new'), join(root, '.envrc'));
      },
      'echo x > .envrc',
    ],
    ['a protected file is gone', ({ root }) => rmSync(join(root, '.envrc')), 'cat .envrc'],
    [
      'the repository was made anew',
      ({ root }) => {
        rmSync(join(root, '.git'), { recursive: true });
        mkdirSync(join(root, '.git'));
        writeFileSync(join(root, '.git/config'), '[core]\n');
      },
      'echo x > .git/config',
    ],
    [
      'the workspace was moved and made anew',
      ({ root }) => {
        renameSync(root, `${root}-old`);
        mkdirSync(root);
        writeFileSync(join(root, 'new'), 'abc');
      },
      '[ ! -e new ]',
    ],
    [
      'keys were replaced',
      ({ userHome }) => {
        rmSync(join(userHome, '.ssh'), { recursive: true });
        mkdirSync(join(userHome, '.ssh'));
        writeFileSync(join(userHome, '.ssh/id'), 'planted');
      },
      'cat HOME/.ssh/id',
    ],
    [
      'new keys appeared',
      ({ userHome }) => {
        mkdirSync(join(userHome, '.aws'));
        writeFileSync(join(userHome, '.aws/credentials'), 'planted');
      },
      'cat HOME/.aws/credentials',
    ],
    ['a covered name was removed', ({ root }) => rmSync(join(root, '.lathe'), { recursive: true }), 'mkdir .lathe/x'],
  ])('is not used when %s', async (_, change, attempt) => {
    const { root, userHome, run, ready } = session({ files: { '.envrc': 'abc' } });
    mkdirSync(join(userHome, '.ssh'));
    writeFileSync(join(userHome, '.ssh/id'), 'planted');
    await run('true');
    const pids = await ready();
    change({ root, userHome });
    const result = await run(attempt.replaceAll('HOME', userHome));
    expect(pids).not.toContain(result.pid);
    expect(result.text).not.toContain('planted');
    expect(result.ending).not.toEqual({ type: 'exit', code: 0 });
    await expect.poll(() => waiting(root).filter((pid) => pids.includes(pid))).toEqual([]);
  });

  // SB06 SD03
  test('is not used when a protected file was replaced while it was made', async () => {
    const { root, prepare, run } = session({ files: { '.envrc': 'abc' } });
    const plain = await prepare();
    const go = `go-${uniqueSleep()}`;
    const until = ['/bin/bash', '-c', `until [ -e ${go} ]; do sleep 0.01; done; exec "$@"`, 'until'];
    const isWaiter = (argv: readonly string[]) => argv.some((word) => word.includes('LATHE_LENGTH'));
    const wrap = (argv: readonly string[]) => plain?.(isWaiter(argv) ? [...until, ...argv] : argv) ?? { argv };
    await run('true', { wrap });
    // The shell is there after all mounts.
    const isShell = (pid: number) => readFileSync(`/proc/${pid}/comm`, 'utf8') === 'bash\n';
    await expect.poll(() => processesWith(go).filter(isShell).length).toBe(4);
    rmSync(join(root, '.envrc'));
    writeFileSync(join(root, '.envrc'), 'abc');
    writeFileSync(join(root, go), '');
    const { ending } = await run('echo x > .envrc', { wrap });
    expect([ending, readFileSync(join(root, '.envrc'), 'utf8')]).toEqual([{ type: 'exit', code: 1 }, 'abc']);
  });

  test.each<[string, (root: string) => More]>([
    ['directory', (root) => ({ cwd: join(root, 'sub') })],
    ['variable', () => ({ env: { ...env, OTHER: '1' } })],
    ['right to the network', () => ({ rights: { network: true } })],
    ['right to files', () => ({ rights: { files: true } })],
    ['right to keys', () => ({ rights: { secrets: true } })],
  ])('is not used for another %s', async (kind, change) => {
    const { root, userHome, runReady } = session();
    mkdirSync(join(userHome, '.ssh'));
    writeFileSync(join(userHome, '.ssh/id'), 'planted');
    const result = await runReady('echo "$PWD ${OTHER-}"', change(root));
    expect(result.wasReady).toBe(false);
    expect(result.text).toBe(`${kind === 'directory' ? join(root, 'sub') : root} ${kind === 'variable' ? '1' : ''}\n`);
  });

  test('waits neither for commands outside the sandbox nor longer than it was told', async () => {
    const { root, run, ready, runner } = session({ readyMs: 1_000 });
    await runner.run({ command: 'true', cwd: root, env }, { timeoutMs: 5_000, signal: new AbortController().signal });
    expect(readdirSync(root)).not.toContain('.lathe');
    await run('true');
    await ready();
    await expect.poll(() => waiting(root)).toEqual([]);
    await expect.poll(() => readdirSync(root).toSorted()).toEqual(['.git', 'sub']);
    expect((await run('echo again')).text).toBe('again\n');
  });

  test('is not started by a command that ends after all was closed', async () => {
    const { root, run, close } = session();
    const running = run('read -t 0.3 x <> <(:); true');
    await expect.poll(() => processesWith(root).length).toBeGreaterThan(0);
    await close();
    await running;
    // Longer than the pause after which the next ones would be started.
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(waiting(root)).toEqual([]);
  });

  test('ends when nobody can say whether it fits', async () => {
    const { root, prepare, run, ready } = session();
    const plain = await prepare();
    let isBroken = false;
    const wrap = (argv: readonly string[]) => {
      if (isBroken) throw new Error('no descriptors left');
      return plain?.(argv) ?? { argv };
    };
    await run('true', { wrap });
    await ready();
    isBroken = true;
    await expect(run('true', { wrap })).rejects.toThrow('no descriptors left');
    await expect.poll(() => waiting(root)).toEqual([]);
  });

  test('is not waited for when it does not get ready', async () => {
    const { root, prepare, run } = session();
    const plain = await prepare();
    const isWaiter = (argv: readonly string[]) => argv.some((word) => word.includes('LATHE_LENGTH'));
    const wrap = (argv: readonly string[]) =>
      plain?.(isWaiter(argv) ? ['/bin/bash', '-c', 'exec sleep 300', ...argv] : argv) ?? { argv };
    await run('true', { wrap });
    await expect.poll(() => waiting(root).length).toBeGreaterThan(0);
    expect((await run('echo out', { wrap })).text).toBe('out\n');
  });

  // RS02
  test('leaves no process and no name behind when its command is aborted', async () => {
    const { root, run, ready, close } = session();
    for (let ms = 0; ms < 15; ms += 3) {
      await run('true');
      const pids = await ready();
      const sleep = uniqueSleep();
      const result = await run(`setsid sleep ${sleep} & sleep ${sleep}`, { signal: AbortSignal.timeout(ms) });
      expect([result.ending, result.survivors, pids.includes(result.pid)]).toEqual([{ type: 'abort' }, [], true]);
      expect(processesWith(sleep)).toEqual([]);
    }
    await close();
    expect(waiting(root)).toEqual([]);
    expect(readdirSync(root).toSorted()).toEqual(['.git', 'sub']);
  });

  // RS09 RS10
  test.each(['SIGKILL', 'SIGTERM', 'SIGHUP'] as const)(
    'ends when Lathe dies by %s, and its names go',
    async (signal) => {
      const { root, lathe } = startLathe('setInterval(() => {}, 1000)');
      await expect.poll(() => readyIn(root)).toBe(4);
      expect(readdirSync(root).toSorted()).toEqual(['.lathe', '.qwen']);
      lathe.kill(signal);
      await expect.poll(() => waiting(root)).toEqual([]);
      await expect.poll(() => readdirSync(root)).toEqual([]);
    },
  );

  test('does not keep Lathe alive, nor outlive its end', async () => {
    const { root, lathe } = startLathe('await new Promise((resolve) => setTimeout(resolve, 200))');
    expect(await once(lathe, 'exit')).toEqual([0, null]);
    await expect.poll(() => waiting(root)).toEqual([]);
    expect(readdirSync(root)).toEqual([]);
  });
});

/** A process of its own that runs one sandboxed command and then does something else. */
function startLathe(then: string) {
  const directory = tempDirectory({
    'entry.ts': `
      import { CommandRunner } from '${import.meta.dirname}/run-command.ts';
      import { Sandbox } from '${import.meta.dirname}/sandbox.ts';
      import { LatheHome } from '${import.meta.dirname}/../files/lathe-home.ts';
      const [root, home, env] = process.argv.slice(2);
      const latheHome = new LatheHome(home);
      const runner = new CommandRunner(latheHome, { readyMs: 60_000 });
      const sandbox = new Sandbox({ mode: 'required', roots: [root], latheHome, userHome: '/nonexistent', lingerMs: 100 });
      const wrap = await sandbox.prepare(root, { workspace: true, network: false, files: false, secrets: false });
      const signal = new AbortController().signal;
      await runner.run({ command: 'true', cwd: root, env: JSON.parse(env), wrap }, { timeoutMs: 20_000, signal });
      ${then}
    `,
  });
  const outfile = join(directory, 'entry.mjs');
  buildSync({ entryPoints: [join(directory, 'entry.ts')], outfile, bundle: true, platform: 'node', format: 'esm' });
  const root = tempDirectory();
  const args = [outfile, root, tempDirectory(), JSON.stringify(env)];
  const lathe = spawn(process.execPath, args, { stdio: 'inherit' });
  onTestFinished(() => void lathe.kill('SIGKILL'));
  return { root, lathe };
}
