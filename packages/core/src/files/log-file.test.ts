import { readdirSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { LogFile } from './log-file.js';

const platforms = process.platform === 'win32' ? [] : [...new Set([process.platform, 'darwin' as const])];

test.each(platforms)('as on %s: what is written is handed over once, in order, and no file is left', (platform) => {
  const before = readdirSync(tmpdir()).filter((name) => name.startsWith('lathe-log-'));
  const log = LogFile.open(platform);
  if (log === undefined) throw new Error('no log');
  const read: string[] = [];
  const take = () => log.readNew((chunk) => read.push(chunk.toString()));
  take();
  writeSync(log.fd, 'one');
  take();
  writeSync(log.fd, `${'x'.repeat(100_000)}two`);
  take();
  take();
  log.close();
  expect(read.join('')).toBe(`one${'x'.repeat(100_000)}two`);
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith('lathe-log-') && !before.includes(name))).toEqual([]);
});
