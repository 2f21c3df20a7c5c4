import { readFile } from 'node:fs/promises';
import { type BytePath, toBytePath } from './byte-path.js';

// File systems that are no place for files of a project, or whose server may answer late or never.
const special =
  /^(?:proc|sysfs|devtmpfs|devpts|cgroup2?|mqueue|debugfs|tracefs|securityfs|configfs|fusectl|pstore|bpf|binfmt_misc|hugetlbfs|autofs|rpc_pipefs|nsfs|efivarfs)$/;
const remote = /^(?:fuse(?:\..*|blk)?|nfs4?|cifs|smb3?|smbfs|9p|afs|ceph|glusterfs|lustre|sshfs|davfs)$/;

/**
 * Mount points below `directory` that a walk does not enter unless a call names them, with their kind. Read from the
 * kernel's table, because asking the mount itself is what may hang.
 */
export async function mountsToSkip(directory: BytePath): Promise<Map<BytePath, string>> {
  const table = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
  const prefix = directory === '/' ? '/' : `${directory}/`;
  const mounts = new Map<BytePath, string>();
  for (const line of table.split('\n')) {
    const [before = '', after = ''] = line.split(' - ');
    const point = toBytePath((before.split(' ')[4] ?? '').replace(/\\([0-7]{3})/g, octal));
    const kind = after.split(' ')[0] ?? '';
    if (point.startsWith(prefix) && (special.test(kind) || remote.test(kind))) mounts.set(point, kind);
  }
  return mounts;
}

/** The table writes spaces and the like as `\040`. */
function octal(_: string, digits: string): string {
  return String.fromCharCode(Number.parseInt(digits, 8));
}
