import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { LatheHome } from '../files/lathe-home.js';
import { AuditLog } from './audit-log.js';

const record = { callId: '1', tool: 'write_file', proposed: {}, status: 'success', durationMs: 1 } as const;

function openLog(directory: string) {
  const log = new AuditLog(new LatheHome(directory), ['hunter2-secret']);
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
    proposed: {
      content: expect.stringMatching(/^x{2000}… \(5000 characters, sha256 [0-9a-f]{64}\)$/),
      key: '[redacted]',
    },
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('a full log becomes the older one', () => {
  const { log, file } = openLog(tempDirectory());
  mkdirSync(dirname(file));
  writeFileSync(file, 'x'.repeat(11 * 1024 * 1024));
  log.record(record);
  expect([existsSync(`${file}.1`), readFileSync(file, 'utf8').split('\n').length]).toEqual([true, 2]);
});

test('a home that cannot be written gives one warning and no error', async () => {
  const directory = tempDirectory({ audit: 'a file where the directory should be' });
  const warnings: string[] = [];
  const onWarning = (warning: Error) => warnings.push(warning.message);
  process.on('warning', onWarning);
  const { log } = openLog(directory);
  log.record(record);
  log.record(record);
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', onWarning);
  expect(warnings).toEqual([expect.stringContaining('audit log cannot be written')]);
});
