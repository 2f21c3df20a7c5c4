import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isLong } from '../../../../../testing/long-run.js';
import { hasProgram } from '../../../../../testing/programs.js';
import { outsideDirectory, tempDirectory } from '../../../../../testing/temp-directory.js';
import { LatheHome } from '../../files/lathe-home.js';
import { childEnvironment } from '../run/environment.js';
import { CommandRunner } from '../run/run-command.js';
import { socketsBelow } from './found-files.js';
import { Sandbox } from './sandbox.js';

const never = new AbortController().signal;

async function listen(path: string): Promise<() => number> {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.end();
  });
  server.listen(path);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return () => connections;
}

/** A server of another process: `where` is what it is given to bind, `cwd` where it does so. */
async function listenElsewhere(cwd: string, where: string, wrapper: readonly string[] = []): Promise<void> {
  const script = `require('net').createServer((s) => s.end('reached')).listen(${JSON.stringify(where)}, () => console.log('up'))`;
  const [program, ...args] = [...wrapper, process.execPath, '-e', script];
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
}

function directoryIn(parent: string): string {
  const directory = mkdtempSync(join(parent, 'lathe-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function sandboxed(root: string) {
  const latheHome = new LatheHome(tempDirectory());
  const runner = new CommandRunner(latheHome);
  const sandbox = new Sandbox({ mode: 'required', roots: [root], latheHome, userHome: tempDirectory() });
  return async (command: string, { workspace = true } = {}) => {
    const wrap = await sandbox.prepare(root, { workspace, network: false, home: false, files: false, secrets: false });
    const env = { ...childEnvironment(process.env), TMPDIR: '/tmp' };
    const request = { command, cwd: root, env, ...(wrap && { wrap }) };
    return (await runner.run(request, { timeoutMs: 20_000, signal: never })).output.text().trimEnd();
  };
}

/** Prints what comes back from a socket, or why nothing does. */
const connect = (path: string) =>
  `node -e "require('net').connect('${path}').on('data', d => console.log(d.toString())).on('error', e => console.log(e.code))"`;

const refused = /^(ECONNREFUSED|EACCES|ENOTSOCK|ENOENT|EPERM)$/;

describe.skipIf(!hasProgram('bwrap'))('sockets of other programs', () => {
  test.skipIf(!canWrite('/run'))('in /run are hidden, whatever else is in the list of sockets', async () => {
    const gone = outsideDirectory();
    mkdirSync(join(gone, 'd'));
    await listen(join(gone, 'd/s'));
    // Looking at the path that this one was bound to fails from now on.
    renameSync(join(gone, 'd'), join(gone, 'moved'));
    writeFileSync(join(gone, 'd'), '');
    const path = join(directoryIn('/run'), 'docker.sock');
    const count = await listen(path);
    const run = sandboxed(tempDirectory());
    expect(await run(connect(path))).toMatch(refused);
    expect(await run(connect(path.replace('/run/', '/var/run/')))).toMatch(refused);
    expect(await run('ls /run | grep -v -e systemd -e resolvconf -e NetworkManager')).toBe('');
    expect(count()).toBe(0);
  });

  // Not beside other tests: a socket that vanishes while a sandbox is being set up keeps its command from starting.
  test.skipIf(!isLong || !canWrite('/opt'))(
    'among installed programs cannot be reached, however they were created',
    async () => {
      const place = directoryIn('/opt');
      await listenElsewhere(place, 'relative.sock');
      await listenElsewhere(place, join(place, 'before.sock'));
      renameSync(join(place, 'before.sock'), join(place, 'renamed.sock'));
      const run = sandboxed(tempDirectory());
      for (const name of ['relative.sock', 'renamed.sock'])
        expect(await run(connect(join(place, name)))).toMatch(refused);
      // A path that is gone cannot be covered, nor one that root of a user namespace cannot enter.
      rmSync(join(place, 'renamed.sock'));
      if (process.getuid?.() === 0) chownSync(place, 54321, 54321);
      chmodSync(place, 0o700);
      expect(await run('echo went on')).toBe('went on');
    },
  );

  test('in the workspace cannot be reached, however they were created', async () => {
    const root = tempDirectory({ 'a b/.keep': '', 'node_modules/x/.keep': '' });
    await listenElsewhere(root, 'relative.sock');
    await listenElsewhere(root, join(root, 'a b/with blank.sock'));
    await listenElsewhere(root, join(root, 'before.sock'));
    renameSync(join(root, 'before.sock'), join(root, 'node_modules/x/renamed.sock'));
    const run = sandboxed(root);
    const paths = ['relative.sock', 'a b/with blank.sock', 'node_modules/x/renamed.sock'];
    for (const path of paths) {
      expect(await run(connect(path))).toMatch(refused);
      expect(await run(`mv '${path}' moved; ${connect('moved')}`)).toMatch(/\n(ENOENT|ENOTSOCK)$/);
      expect(await run(connect(path), { workspace: false })).toMatch(refused);
    }
  });

  test.skipIf(!hasProgram('unshare'))('of another network namespace cannot be reached in the workspace', async () => {
    const root = tempDirectory();
    await listenElsewhere(root, join(root, 'far.sock'), ['unshare', '-rn']);
    expect(await sandboxed(root)(connect(join(root, 'far.sock')))).toMatch(refused);
  });

  test('that a command creates itself can be used', async () => {
    const script =
      "require('net').createServer(c=>c.end('hi')).listen('own.sock',()=>require('net').connect('own.sock').on('data',d=>{console.log(d.toString());process.exit()}))";
    expect(await sandboxed(tempDirectory())(`node -e "${script}"`)).toBe('hi');
  });

  test('cannot be used at all if they cannot be listed', async () => {
    const root = tempDirectory({ 'closed/.keep': '' });
    await listenElsewhere(root, join(root, 'closed/s'));
    chmodSync(join(root, 'closed'), 0o300);
    onTestFinished(() => chmodSync(join(root, 'closed'), 0o700));
    expect(await socketsBelow([root], process.env['PATH'] ?? '')).toBeUndefined();
    expect(await sandboxed(root)(`chmod 700 closed; ${connect('closed/s')}`)).toBe('EPERM');
  });
});

describe.skipIf(!hasProgram('bwrap'))('what vanishes while the sandbox is set up', () => {
  async function runAndRemove(command: string, times: number) {
    const root = tempDirectory();
    const readable = tempDirectory({ 'shown.txt': 'shown' });
    const latheHome = new LatheHome(tempDirectory());
    const places = { roots: [root], readable: [readable, join(readable, 'shown.txt')], userHome: tempDirectory() };
    const sandbox = new Sandbox({ mode: 'required', ...places, latheHome });
    const rights = { workspace: true, network: false, home: false, files: false, secrets: false };
    const prepared = await sandbox.prepare(root, rights);
    let starts = 0;
    const wrap = (argv: readonly string[]) => {
      const launch = prepared?.(argv) ?? { argv };
      if (starts++ < times) rmSync(starts === 1 ? join(readable, 'shown.txt') : readable, { recursive: true });
      return launch;
    };
    const request = { command, cwd: root, env: childEnvironment(process.env), wrap };
    const result = await new CommandRunner(latheHome).run(request, { timeoutMs: 20_000, signal: never });
    return {
      root,
      starts,
      text: result.output.text().trimEnd(),
      ending: result.ending,
      isUnstarted: result.isUnstarted,
    };
  }

  test('is left out when it is set up once more', async () => {
    const result = await runAndRemove('echo went on', 1);
    expect(result).toMatchObject({ starts: 2, text: 'went on', ending: { type: 'exit', code: 0 }, isUnstarted: false });
  });

  test('is reported if that happens again', async () => {
    const result = await runAndRemove('echo went on', 2);
    expect(result).toMatchObject({ starts: 2, ending: { type: 'exit', code: 1 }, isUnstarted: true });
    expect(result.text).toContain("bwrap: Can't find source path");
  });

  test('is no reason to run a command twice that only says so', async () => {
    const said = "bwrap: Can't find source path /x: No such file or directory";
    for (const command of [`echo "${said}"; exit 1`, 'kill -KILL $$']) {
      const { root, isUnstarted } = await runAndRemove(`echo once >> runs; ${command}`, 0);
      expect([readFileSync(join(root, 'runs'), 'utf8'), isUnstarted]).toEqual(['once\n', false]);
    }
  });
});

function canWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
