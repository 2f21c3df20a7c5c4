import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bundleChild } from '../../../../testing/bundle.js';
import { report } from '../../../../testing/long-run.js';
import { canMount } from '../../../../testing/programs.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import type { Message } from '../models/model.js';
import { type ReadLimits, readTranscript } from './read-transcript.js';
import type { SessionRecord } from './record.js';
import { Transcript } from './transcript.js';

const opening: SessionRecord = { type: 'session', version: 1, id: 'id', cwd: '/x', model: 'm', time: '' };
const message = (text: string): Message => ({ role: 'user', parts: [{ text }] });
const say = (text: string): SessionRecord => ({ type: 'message', message: message(text) });

function write(path: string, records: readonly SessionRecord[], first: SessionRecord = opening) {
  const problems: string[] = [];
  const transcript = new Transcript({ path, opening: first, secrets: [], onProblem: (text) => problems.push(text) });
  for (const record of records) transcript.append(record);
  return { transcript, problems };
}

async function texts(path: string, limits?: ReadLimits): Promise<(string | undefined)[]> {
  return (await readTranscript(path, limits)).messages.map(({ parts }) => parts[0]?.text);
}

const resume = (writer: string, number: number): SessionRecord => ({
  type: 'resume',
  writer,
  number,
  model: 'm',
  time: '',
});

// RP01
test('whatever byte a write ends at, all earlier records are there and the next writer continues cleanly', async () => {
  const path = join(tempDirectory(), 's.jsonl');
  write(path, [say('one'), say('two'), say('thr\u00e9e')]);
  const whole = readFileSync(path);
  const ends = [...whole.entries()].flatMap(([at, byte]) => (byte === 0x0a ? [at] : []));
  for (let length = 0; length < whole.length; length++) {
    writeFileSync(path, whole.subarray(0, length));
    const complete = ends.filter((end) => end < length).length;
    const expected = ['one', 'two', 'thr\u00e9e'].slice(0, Math.max(0, complete - 1));
    const stored = await readTranscript(path);
    expect(stored.messages.map(({ parts }) => parts[0]?.text)).toEqual(expected);
    expect(stored.lost).toBe(length === 0 || whole[length - 1] === 0x0a ? 0 : 1);
    write(path, [say('four')], resume(stored.last?.writer ?? '', stored.last?.number ?? 0));
    expect(await texts(path)).toEqual([...expected, 'four']);
    expect(readFileSync(path).subarray(0, length).equals(whole.subarray(0, length))).toBe(true);
  }
});

// RP01
test('a process killed in the middle loses at most the record it was writing', { timeout: 600_000 }, async () => {
  const child = await bundleChild('append-records');
  const directory = tempDirectory();
  for (let round = 0; round < (process.env['LATHE_LONG'] ? 50 : 6); round++) {
    const path = join(directory, `${round}.jsonl`);
    const writer = spawn(process.execPath, [child, path, 'a', '20000']);
    let seen = '';
    writer.stdout.on('data', (data) => {
      seen += data;
      if (seen.length > 40 * (round + 1)) writer.kill('SIGKILL');
    });
    const [, signal] = await once(writer, 'close');
    const confirmed = Number(seen.trimEnd().split('\n').at(-2) ?? 0);
    const { messages, lost } = await readTranscript(path);
    expect(messages.length).toBeGreaterThanOrEqual(confirmed);
    expect(messages.map(({ parts }) => parts[0]?.text?.split(' ')[1])).toEqual(messages.map((_, n) => String(n)));
    expect(lost).toBeLessThanOrEqual(1);
    if (signal === 'SIGKILL') report('kills while a transcript is written', 1);
  }
});

// RP08
test('two processes that append to one file lose and mix nothing', { timeout: 60_000 }, async () => {
  const child = await bundleChild('append-records');
  const path = join(tempDirectory(), 's.jsonl');
  const count = 500;
  await Promise.all(
    ['a', 'b'].map(async (name) => {
      const writer = spawn(process.execPath, [child, path, name, String(count)]);
      writer.stdout.resume();
      expect((await once(writer, 'close'))[0]).toBe(0);
    }),
  );
  // Who opens the file while the other one writes a long record begins with an empty line, to be safe.
  const lines = readFileSync(path, 'utf8').trimEnd().split(/\n+/);
  expect(lines).toHaveLength(2 * (count + 1));
  const stored = await readTranscript(path);
  expect(stored.lost).toBe(0);
  // Both went on from the same point; the one who wrote last is followed, undisturbed by the other.
  const names = stored.messages.map(({ parts }) => parts[0]?.text?.split(' ').slice(0, 2).join(' '));
  const last = names.at(-1)?.split(' ')[0];
  expect(names.slice(-count)).toEqual(Array.from({ length: count }, (_, n) => `${last} ${n}`));
});

// RP02
test.each<[string, (whole: Buffer) => Uint8Array, (string | undefined)[], number]>([
  ['an empty file', () => Buffer.alloc(0), [], 0],
  ['a byte order mark', (whole) => Buffer.concat([Buffer.from('\ufeff'), whole]), ['one', 'two', 'three'], 0],
  ['zeros at the end', (whole) => Buffer.concat([whole, Buffer.alloc(4096)]), ['one', 'two', 'three'], 1],
  ['lines twice', (whole) => Buffer.from(lineTwice(whole)), ['one', 'two', 'three'], 0],
  ['a flipped bit', (whole) => Buffer.from(whole.toString().replace('"two"', '"twp"')), ['one', 'three'], 1],
  ['a line that is gone', (whole) => Buffer.from(withoutLine(whole, 2)), ['one', 'three'], 1],
  ['foreign lines', (whole) => Buffer.from(`hello\n{}\n${whole.toString()}`), ['one', 'two', 'three'], 2],
  ['no text at all', () => Buffer.from([0xff, 0xfe, 0x0a, 0x80]), [], 2],
])('%s does no harm', async (_what, change, expected, lost) => {
  const path = join(tempDirectory(), 's.jsonl');
  write(path, [say('one'), say('two'), say('three')]);
  const changed = change(readFileSync(path));
  writeFileSync(path, changed);
  const stored = await readTranscript(path);
  expect([stored.messages.map(({ parts }) => parts[0]?.text), stored.lost]).toEqual([expected, lost]);
  expect(readFileSync(path).equals(changed)).toBe(true);
});

function lineTwice(whole: Buffer): string {
  return whole
    .toString()
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [line, line]))
    .join('\n')
    .concat('\n');
}

function withoutLine(whole: Buffer, index: number): string {
  return whole
    .toString()
    .split('\n')
    .filter((_, at) => at !== index)
    .join('\n');
}

test('a writer that continues from an earlier record ignores what others wrote meanwhile', async () => {
  const path = join(tempDirectory(), 's.jsonl');
  const first = write(path, [say('a1'), say('a2')]).transcript;
  const second = write(path, [say('b1')], resume(first.writer, 3)).transcript;
  first.append(say('a3'));
  expect(await texts(path)).toEqual(['a1', 'a2', 'a3']);
  second.append(say('b2'));
  expect(await texts(path)).toEqual(['a1', 'a2', 'b1', 'b2']);
});

test('a compacted history replaces the earlier one', async () => {
  const path = join(tempDirectory(), 's.jsonl');
  const summary: SessionRecord = { type: 'history', messages: [{ role: 'user', parts: [{ text: 'summary' }] }] };
  write(path, [say('one'), say('two'), summary, say('three')]);
  expect(await texts(path)).toEqual(['summary', 'three']);
});

// RP04
test('reading is bounded and keeps the end', async () => {
  const path = join(tempDirectory(), 's.jsonl');
  write(
    path,
    Array.from({ length: 1000 }, (_, n) => say(`${n} ${'x'.repeat(500)}`)),
  );
  const byFile = await readTranscript(path, { bytes: 100_000 });
  const byMemory = await readTranscript(path, { keptBytes: 100_000 });
  for (const { messages, isCut, lost } of [byFile, byMemory]) {
    expect(messages.length).toBeGreaterThan(100);
    expect(messages.length).toBeLessThan(200);
    expect(messages.at(-1)?.parts[0]?.text).toMatch(/^999 /);
    expect([isCut, lost]).toEqual([true, 0]);
  }
  const whole = await readTranscript(path);
  expect([whole.messages.length, whole.isCut]).toEqual([1000, false]);
});

// RP04
test('a huge line is skipped and not kept in memory', async () => {
  const path = join(tempDirectory(), 's.jsonl');
  write(path, [say('one')]);
  const size = statSync(path).size;
  // A hole in the file: a line of 100 MB that costs no disk.
  truncateSync(path, size + (100 << 20));
  write(path, [say('two')], resume('', 0));
  const stored = await readTranscript(path);
  expect([stored.messages.map(({ parts }) => parts[0]?.text), stored.lost]).toEqual([['one', 'two'], 1]);
});

// SL02
test('files and folders become private, even if they were not', async () => {
  const directory = join(tempDirectory(), 'open');
  mkdirSync(directory, { mode: 0o777 });
  const path = join(directory, 's.jsonl');
  writeFileSync(path, '', { mode: 0o644 });
  chmodSync(path, 0o644);
  write(path, [say('one')]);
  expect([statSync(directory).mode & 0o777, statSync(path).mode & 0o777]).toEqual([0o700, 0o600]);
});

test.skipIf(process.platform === 'win32')('files that other users could have written are rejected', async () => {
  const directory = tempDirectory();
  const path = join(directory, 's.jsonl');
  write(path, [say('one')]);
  symlinkSync(path, join(directory, 'link.jsonl'));
  await expect(readTranscript(join(directory, 'link.jsonl'))).rejects.toThrow('ELOOP');
  await expect(readTranscript(directory)).rejects.toThrow('regular file');
  chmodSync(path, 0o666);
  await expect(readTranscript(path)).rejects.toThrow('other users');
});

// RP05, RP06
test('if nothing can be written, work continues with one warning and records are written later', async () => {
  const directory = tempDirectory();
  // A file where the folder should be.
  writeFileSync(join(directory, 'sessions'), '');
  const path = join(directory, 'sessions', 's.jsonl');
  const { transcript, problems } = write(path, [say('one'), say('two')]);
  expect(problems).toHaveLength(1);
  rmSync(join(directory, 'sessions'));
  transcript.append(say('three'));
  expect(problems).toHaveLength(1);
  expect(await texts(path)).toEqual(['one', 'two', 'three']);
});

// RP06
test.skipIf(!canMount())('a full disk causes one warning and loses no record once there is space again', async () => {
  const mount = tempDirectory();
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', mount]);
  try {
    const path = join(mount, 's.jsonl');
    const { transcript, problems } = write(path, [say('one')]);
    writeFileSync(join(mount, 'filler'), '');
    const file = openSync(join(mount, 'filler'), 'a');
    expect(() => {
      for (;;) writeSync(file, Buffer.alloc(1024));
    }).toThrow('ENOSPC');
    for (const text of ['two', 'three']) transcript.append(say(text + 'x'.repeat(5_000)));
    expect(problems).toEqual([expect.stringContaining('ENOSPC')]);
    truncateSync(join(mount, 'filler'), 0);
    transcript.append(say('four'));
    expect((await texts(path)).map((text) => text?.slice(0, 5))).toEqual(['one', 'twoxx', 'three', 'four']);
    expect(problems).toHaveLength(1);
    closeSync(file);
    await transcript.close();
  } finally {
    execFileSync('umount', [mount]);
  }
});

test('a whole reading includes what compaction removed, once and in order', async () => {
  const path = join(tempDirectory(), 's.jsonl');
  const history: SessionRecord = { type: 'history', messages: ['summary', 'two'].map(message) };
  write(path, [say('one'), say('two'), history, say('three')]);
  expect(await texts(path)).toEqual(['summary', 'two', 'three']);
  expect(await texts(path, { isWhole: true })).toEqual(['one', 'two', 'summary', 'three']);
});
