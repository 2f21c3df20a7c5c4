import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { bundleText } from '../../../../testing/bundle.js';
import { report } from '../../../../testing/long-run.js';
import { hasProgram } from '../../../../testing/programs.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { readWhole, withReadableFile } from './open-file.js';
import { Workspace } from './workspace.js';

const contentOf = (path: string) =>
  withReadableFile(path, async ({ fd, stat }) => (await readWhole(fd, stat.size)).toString());

/** Turns `link` to and fro between an inside and an outside directory, as fast as a thread can. */
function flip(program: string, paths: Record<string, string>): Worker {
  const worker = new Worker(
    `const { renameSync, symlinkSync, rmSync } = require('node:fs');
     const { parentPort, workerData: p } = require('node:worker_threads');
     const step = () => { ${program} };
     step(); parentPort.postMessage('running');
     for (;;) step();`,
    { eval: true, workerData: paths },
  );
  onTestFinished(async () => {
    await worker.terminate();
  });
  return worker;
}

const attacks = [
  [
    'a link that turns',
    `symlinkSync(p.outside, p.temp); renameSync(p.temp, p.link);
     symlinkSync(p.inside, p.temp); renameSync(p.temp, p.link);`,
  ],
  [
    'a directory that a link replaces',
    `rmSync(p.link, { force: true }); renameSync(p.inside, p.link);
     renameSync(p.link, p.inside); symlinkSync(p.outside, p.link);`,
  ],
] as const;

const reads = process.env['LATHE_LONG'] === '1' ? 500_000 : 10_000;

/** Judges a path and reads it, the way every tool does; names what came of it. */
async function attempt(workspace: Workspace, path: string): Promise<string> {
  try {
    const location = await workspace.locate(path);
    return location.inside ? await contentOf(location.path) : 'judged outside';
  } catch {
    return 'refused';
  }
}

// SC06
test.each(attacks)('%s never leads a read outside', { timeout: 3_600_000 }, async (_, program) => {
  const base = tempDirectory({ 'app/inside/f.txt': 'inside', 'outside/f.txt': 'LEAK' });
  const app = join(base, 'app');
  const workspace = await Workspace.open(app);
  const link = join(app, 'link');
  const worker = flip(program, {
    inside: join(app, 'inside'),
    outside: join(base, 'outside'),
    link,
    temp: join(app, 'temp'),
  });
  await new Promise((resolve) => worker.once('message', resolve));
  const outcomes = new Map<string, number>();
  const isMixed = () => outcomes.has('inside') && (outcomes.has('refused') || outcomes.has('judged outside'));
  const readOn = async () => {
    // On a busy machine the other side may stand still for thousands of reads.
    for (let count = 0; count < reads / 8 || (!isMixed() && count < reads * 10); count++) {
      const outcome = await attempt(workspace, join(link, 'f.txt'));
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: 8 }, readOn));
  report('reads while a link is swapped', reads);
  expect(outcomes.get('LEAK')).toBeUndefined();
  expect(outcomes.get('inside')).toBeGreaterThan(0);
  expect((outcomes.get('refused') ?? 0) + (outcomes.get('judged outside') ?? 0)).toBeGreaterThan(0);
});

// SC06
test('a link in the place of a judged file is not followed', async () => {
  const root = tempDirectory({ 'target.txt': 'x' });
  symlinkSync('target.txt', join(root, 'link'));
  await expect(contentOf(join(root, 'link'))).rejects.toMatchObject({ type: 'read_content_failure' });
});

// RR01, SC13
test('a named pipe, a socket and a directory are refused without being opened', async () => {
  const root = tempDirectory();
  execFileSync('mkfifo', [join(root, 'pipe')]);
  mkdirSync(join(root, 'dir'));
  const server = createServer().listen(join(root, 'socket'));
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const answers = await Promise.allSettled(
    ['pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'socket', 'dir'].map((name) => contentOf(join(root, name))),
  );
  expect(answers.map((answer) => (answer.status === 'rejected' ? answer.reason.type : answer.value))).toEqual([
    ...Array.from({ length: 6 }, () => 'target_not_regular_file'),
    'target_is_directory',
  ]);
});

const special = ['/dev/zero', '/dev/urandom', '/dev/tty', '/proc/kcore', '/proc/self/mem', '/proc/kmsg'];

// RR02 RR03
test.each(special.filter((path) => existsSync(path)))('%s is refused', async (path) => {
  const { path: real } = await (await Workspace.open(tempDirectory())).locate(path);
  await expect(contentOf(real)).rejects.toMatchObject({ type: 'target_not_regular_file' });
});

// RR02
test.skipIf(process.platform !== 'linux').each(['/dev/stdin', '/dev/fd/0', '/proc/self/fd/1'])(
  '%s is refused, whatever it is',
  async (path) => {
    const { path: real } = await (await Workspace.open(tempDirectory())).locate(path);
    await expect(contentOf(real)).rejects.toMatchObject({ name: 'ToolError' });
  },
);

// RR06
test('a file that an editor keeps replacing is read whole, old or new', async () => {
  const root = tempDirectory({ 'f.txt': 'old' });
  const path = join(root, 'f.txt');
  const worker = flip(
    `const { writeFileSync } = require('node:fs'); writeFileSync(p.temp, 'new'); renameSync(p.temp, p.path);`,
    { path, temp: join(root, 'temp') },
  );
  await new Promise((resolve) => worker.once('message', resolve));
  const contents = new Set<string>();
  for (let count = 0; count < 300; count++) contents.add(await contentOf(path).catch((error) => error.type));
  contents.delete('read_content_failure');
  expect([...contents]).toEqual(['new']);
});

test('what is open is closed again, also after an error', async () => {
  const root = tempDirectory({ 'f.txt': 'x' });
  const error = new Error('stop');
  let descriptor = -1;
  const fail = async ({ fd }: { fd: number }) => {
    descriptor = fd;
    throw error;
  };
  await expect(withReadableFile(join(root, 'f.txt'), fail)).rejects.toBe(error);
  await expect(readFile(`/proc/self/fd/${descriptor}`, 'utf8')).rejects.toMatchObject({ code: 'ENOENT' });
});

// RR17
test.skipIf(!hasProgram('prlimit'))('when descriptors run out, opening waits for its turn', async () => {
  const root = tempDirectory({ 'f.txt': 'content' });
  const program = await bundleText(`
    import { setImmediate } from 'node:timers/promises';
    import { readWhole, withReadableFile } from '${import.meta.dirname}/open-file.ts';
    const read = async ({ fd, stat }) => {
      await setImmediate();
      return (await readWhole(fd, stat.size)).toString();
    };
    const one = () => withReadableFile(${JSON.stringify(join(root, 'f.txt'))}, read);
    const all = await Promise.all(Array.from({ length: 300 }, one));
    console.log(all.filter((text) => text === 'content').length);`);
  const output = execFileSync('prlimit', ['--nofile=32', process.execPath, program], { encoding: 'utf8' });
  expect(output).toBe('300\n');
});
