import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { LatheHome } from '../lathe-home.js';
import { FileLocks } from './file-lock.js';

const signal = new AbortController().signal;

// RW23
test('two holders of one file take turns, also through different lock objects', async () => {
  const home = new LatheHome(tempDirectory());
  const log: string[] = [];
  const work = (name: string) => async () => {
    log.push(`${name} in`);
    await delay(5);
    log.push(`${name} out`);
  };
  const [one, two] = [new FileLocks(home), new FileLocks(home)];
  await Promise.all([
    one.hold('/x', signal, work('a')),
    one.hold('/x', signal, work('b')),
    two.hold('/x', signal, work('c')),
  ]);
  const turns = log.map((entry) => entry.split(' ')[0]);
  expect(log.filter((_, index) => index % 2 === 0).every((entry) => entry.endsWith(' in'))).toBe(true);
  expect(turns.filter((_, index) => index % 2 === 0)).toEqual(turns.filter((_, index) => index % 2 === 1));
});

test('different files do not wait for each other', async () => {
  const locks = new FileLocks(new LatheHome(tempDirectory()));
  expect(await locks.hold('/x', signal, () => locks.hold('/y', signal, async () => 'both'))).toBe('both');
});

test('a failure inside releases the lock', async () => {
  const home = tempDirectory();
  const locks = new FileLocks(new LatheHome(home));
  await expect(locks.hold('/x', signal, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await locks.hold('/x', signal, async () => 'free')).toBe('free');
  expect(readdirSync(join(home, 'locks'))).toEqual([]);
});

test('who waits too long gets a typed error, who is aborted stops waiting', async () => {
  const home = new LatheHome(tempDirectory());
  const aborted = AbortSignal.timeout(10);
  await new FileLocks(home).hold('/x', signal, async () => {
    const other = new FileLocks(home, { patienceMs: 20 });
    await expect(other.hold('/x', signal, async () => {})).rejects.toMatchObject({ type: 'file_write_failure' });
    await expect(other.hold('/x', aborted, async () => {})).rejects.toThrow(/abort|timeout/i);
  });
});

test('waiting ends in time although garbage is collected meanwhile', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const home = new LatheHome(tempDirectory());
  await new FileLocks(home).hold('/x', signal, async () => {
    const timer = setInterval(collect, 5);
    const waiting = new FileLocks(home, { patienceMs: 200 }).hold('/x', signal, async () => {});
    await expect(waiting).rejects.toMatchObject({ type: 'file_write_failure' });
    clearInterval(timer);
  });
});

// RW29, RP09
test('the lock of a dead process is taken over and its temporary file swept, whatever file is locked next', async () => {
  const root = tempDirectory();
  const home = new LatheHome(join(root, 'home'));
  const [token, dead] = ['a'.repeat(32), await deadProcess()];
  await new FileLocks(home).hold('/probe', signal, async () => {
    const [mine = ''] = readdirSync(home.file('locks'));
    const holder = readlinkSync(join(home.file('locks'), mine)).split('|');
    symlinkSync([dead, ...holder.slice(1, 4), token, join(root, 'f.txt')].join('|'), home.file('locks', 'left'));
  });
  writeFileSync(join(root, `.lathe-tmp-${token}`), 'half');
  writeFileSync(join(root, `.lathe-tmp-${'b'.repeat(32)}`), 'of a live process');
  await new FileLocks(home).hold('/elsewhere', signal, async () => {});
  expect(readdirSync(home.file('locks'))).toEqual([]);
  expect(existsSync(join(root, `.lathe-tmp-${token}`))).toBe(false);
  expect(existsSync(join(root, `.lathe-tmp-${'b'.repeat(32)}`))).toBe(true);
});

// RP09
test('a crash while taking over a dead lock is taken over too', async () => {
  const home = new LatheHome(tempDirectory());
  const dead = await deadProcess();
  await new FileLocks(home).hold('/probe', signal, async () => {
    const [mine = ''] = readdirSync(home.file('locks'));
    const holder = readlinkSync(join(home.file('locks'), mine)).split('|');
    const identity = [dead, ...holder.slice(1, 4), 'c'.repeat(32), ''].join('|');
    const { createHash } = await import('node:crypto');
    symlinkSync(identity, home.file('locks', 'left'));
    symlinkSync(
      identity,
      home.file('locks', `left.${createHash('sha256').update(identity).digest('hex').slice(0, 16)}`),
    );
  });
  const locks = new FileLocks(home);
  await locks.hold('/a', signal, async () => {});
  await locks.hold('/b', signal, async () => {});
  expect(readdirSync(home.file('locks'))).toEqual([]);
});

async function deadProcess(): Promise<number> {
  const child = spawn('true');
  await once(child, 'exit');
  return child.pid ?? 0;
}
