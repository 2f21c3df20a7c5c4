import { open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import type { LatheHome } from '../lathe-home.js';
import type { KeepRule, Removed } from './clean-files.js';

/**
 * Removes old records of the audit log. Others append to the current file at any time, so it is only ever renamed: it
 * becomes the older generation, from which records are removed by their time.
 */
export async function cleanAudit(home: LatheHome, rule: KeepRule, isDryRun = false): Promise<Removed> {
  const current = home.file('audit', 'calls.jsonl');
  const older = `${current}.1`;
  const before = await auditSize(home);
  const isTooLarge = before.bytes > rule.maxBytes;
  if (isDryRun) {
    const bytes = (await oldBytes(current, rule)) + (isTooLarge ? await sizeOf(older) : await oldBytes(older, rule));
    return { files: 0, bytes };
  }
  // The older generation is older than every record of the current one.
  if (timeOf(await firstLine(current)) < rule.since) await rename(current, older);
  else if (isTooLarge) await rm(older, { force: true });
  await removeOld(older, rule);
  const after = await auditSize(home);
  return { files: Math.max(0, before.files - after.files), bytes: Math.max(0, before.bytes - after.bytes) };
}

/** Bytes of the audit log. */
export async function auditSize(home: LatheHome): Promise<Removed> {
  const current = home.file('audit', 'calls.jsonl');
  const sizes = await Promise.all([sizeOf(current), sizeOf(`${current}.1`)]);
  return { files: sizes.filter((size) => size > 0).length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

async function oldBytes(path: string, rule: KeepRule): Promise<number> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return Buffer.byteLength(text) - Buffer.byteLength(newer(text, rule));
}

/** Removes the old records of a file to which nobody begins to append any more. */
async function removeOld(path: string, rule: KeepRule): Promise<void> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const kept = newer(text, rule);
  if (kept === text) return;
  if (kept === '') return rm(path, { force: true });
  const temp = `${path}.new`;
  await writeFile(temp, kept, { mode: 0o600 });
  // A process that had opened the file before it was renamed may have added a record.
  if ((await sizeOf(path)) !== Buffer.byteLength(text)) return removeOld(path, rule);
  await rename(temp, path);
}

function newer(text: string, { since }: KeepRule): string {
  return text
    .split(/(?<=\n)/)
    .filter((line) => timeOf(line) >= since)
    .join('');
}

/** A record without a readable time counts as new. */
function timeOf(line: string): number {
  const [, time = ''] = /"time":"([^"]{10,40})"/.exec(line.slice(0, 200)) ?? [];
  return Date.parse(time) || Number.POSITIVE_INFINITY;
}

async function firstLine(path: string): Promise<string> {
  const file = await open(path).catch(() => undefined);
  if (!file) return '';
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(400), 0, 400, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}
