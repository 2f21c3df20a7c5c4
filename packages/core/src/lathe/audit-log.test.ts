import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { LatheHome } from '../files/lathe-home.js';
import { AuditLog } from './audit-log.js';

const record = { callId: '1', tool: 'write_file', proposed: {}, status: 'success', durationMs: 1 } as const;

function openLog(directory: string) {
  const log = new AuditLog(new LatheHome(directory), ['hunter2-secret'], '/work');
  return { log, file: join(directory, 'audit', 'calls.jsonl') };
}

test('each call is one line, secrets taken out, long texts shortened, for the owner only', () => {
  const { log, file } = openLog(tempDirectory());
  log.record({ ...record, proposed: { content: 'x'.repeat(5000), key: 'hunter2-secret' } });
  log.record(record);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  expect(lines).toHaveLength(2);
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    ...record,
    time: expect.any(String),
    cwd: '/work',
    proposed: {
      content: expect.stringMatching(/^x{2000}… \(5000 characters, sha256 [0-9a-f]{64}\)$/),
      key: '[redacted]',
    },
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

// RP14
test('a full log becomes the older one', () => {
  const { log, file } = openLog(tempDirectory());
  mkdirSync(dirname(file));
  writeFileSync(file, 'x'.repeat(11 * 1024 * 1024));
  log.record(record);
  expect([existsSync(`${file}.1`), readFileSync(file, 'utf8').split('\n').length]).toEqual([true, 2]);
});

// RP06
test('a home that cannot be written gives one warning and no error, and is written again when it can be', async () => {
  const directory = tempDirectory({ audit: 'a file where the directory should be' });
  const warnings: string[] = [];
  const onWarning = (warning: Error) => warnings.push(warning.message);
  process.on('warning', onWarning);
  const { log, file } = openLog(directory);
  log.record(record);
  log.record(record);
  rmSync(join(directory, 'audit'));
  log.record(record);
  log.record(record);
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', onWarning);
  expect(warnings).toEqual([expect.stringContaining('audit log cannot be written')]);
  expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(2);
});

test('a secret at the cut is not half shown, and a huge record is not written out', () => {
  const { log, file } = openLog(tempDirectory());
  log.record({ ...record, proposed: { content: `${'x'.repeat(1993)}hunter2-secret${'x'.repeat(100)}` } });
  log.record({ ...record, proposed: Array.from({ length: 100_000 }, () => 'short') });
  const text = readFileSync(file, 'utf8');
  expect(text).not.toContain('hunter2');
  expect(text.length).toBeLessThan(10_000);
  expect(text.trimEnd().split('\n')).toHaveLength(2);
});

test('a record that is not JSON is noted and the log continues', () => {
  const { log, file } = openLog(tempDirectory());
  log.record({ ...record, proposed: { count: 1n } });
  log.record(record);
  expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toHaveLength(2);
});

// SL02
test('a log that others could read is made private, and a link is not followed', () => {
  const directory = tempDirectory({ 'audit/calls.jsonl': '', victim: 'mine' });
  const { log, file } = openLog(directory);
  chmodSync(file, 0o644);
  log.record(record);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const other = tempDirectory({ victim: 'mine' });
  mkdirSync(join(other, 'audit'));
  symlinkSync(join(other, 'victim'), join(other, 'audit', 'calls.jsonl'));
  openLog(other).log.record(record);
  expect(readFileSync(join(other, 'victim'), 'utf8')).toBe('mine');
});
