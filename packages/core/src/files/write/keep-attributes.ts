import { spawn } from 'node:child_process';
import { type BigIntStats, existsSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { ToolError } from '../../contract/errors.js';

/**
 * Gives `to` the owner, mode, access list and extended attributes of `from`. Throws when one cannot be kept: a file that
 * silently changes its owner or loses its access list is damaged too.
 */
export async function keepAttributes(from: { fd: number; stat: BigIntStats }, to: FileHandle): Promise<void> {
  await copyExtendedAttributes(from.fd, to.fd);
  const { uid, gid, mode } = from.stat;
  const current = await to.stat({ bigint: true });
  if (current.uid !== uid || current.gid !== gid) await keepOwner(to, Number(uid), Number(gid));
  // After the owner, because a change of owner clears the set-id bits.
  await to.chmod(Number(mode & 0o7777n));
}

async function keepOwner(to: FileHandle, uid: number, gid: number): Promise<void> {
  try {
    await to.chown(uid, gid);
  } catch (cause) {
    throw new ToolError(
      'permission_denied',
      `The file belongs to user ${uid}, group ${gid}, and replacing it would change that. Nothing was written.`,
      { cause },
    );
  }
}

const copyPrograms = ['/usr/bin/cp', '/bin/cp'];

/**
 * Node cannot read extended attributes, GNU cp can. It gets the two open descriptors, not names, so that it touches
 * exactly these files. Without GNU cp (other systems, minimal images) owner and mode are still kept.
 */
async function copyExtendedAttributes(from: number, to: number): Promise<void> {
  if (process.platform !== 'linux') return;
  const program = copyPrograms.find((path) => existsSync(path));
  if (program === undefined) return;
  const flags = ['--attributes-only', '--preserve=all', '--no-preserve=timestamps,ownership'];
  const child = spawn(program, [...flags, '/proc/self/fd/3', '/proc/self/fd/4'], {
    stdio: ['ignore', 'ignore', 'pipe', from, to],
    env: { LC_ALL: 'C' },
    timeout: 10_000,
  });
  let complaint = '';
  child.stderr?.on('data', (data: Buffer) => (complaint += data.toString('utf8').slice(0, 500)));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code === 0 || complaint.includes('unrecognized option')) return;
  throw new ToolError('file_write_failure', `The file's attributes cannot be kept: ${complaint.trim()}`);
}
