import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { attempt } from '../../contract/errors.js';
import { asFolder, type BytePath, toBytePath } from '../byte-path.js';
import { isWithin } from '../workspace.js';

// Kernel file systems hold no project files; the server of a remote one may be slow or not respond.
const special =
  /^(?:proc|sysfs|devtmpfs|devpts|cgroup2?|mqueue|debugfs|tracefs|securityfs|configfs|fusectl|pstore|bpf|binfmt_misc|hugetlbfs|autofs|rpc_pipefs|nsfs|efivarfs)$/;
const remote = /^(?:fuse(?:\..*|blk)?|nfs4?|cifs|smb3?|smbfs|9p|afs|ceph|glusterfs|lustre|sshfs|davfs)$/;

/**
 * Mount points below `directory` that a walk does not enter unless a call names them, with their kind. Read from the
 * kernel's table, because a system call on the mount itself may hang.
 */
export function mountsToSkip(directory: BytePath): Map<BytePath, string> {
  const prefix = asFolder(directory);
  const mounts = parseMounts(readTable()).map(({ point, kind }) => [toBytePath(point), kind] as const);
  return new Map(
    mounts.filter(([point, kind]) => point.startsWith(prefix) && (special.test(kind) || remote.test(kind))),
  );
}

/** A path at which a mount shows all, or a part, of another directory. */
export interface OtherPlace {
  path: string;
  shows: 'all' | 'part';
}

/** Other paths of the files at this real path, through mounts. */
export function otherPlaces(realPath: string): OtherPlace[] {
  const mounts = parseMounts(readTable());
  const own = mounts
    .filter(({ point }) => isWithin(point, realPath))
    .toSorted((a, b) => a.point.length - b.point.length)
    .at(-1);
  if (own === undefined) return [];
  const inner = join(own.root, relative(own.point, realPath));
  return mounts.flatMap((mount): OtherPlace[] => {
    if (mount === own || mount.device !== own.device) return [];
    if (isWithin(mount.root, inner)) return [{ path: join(mount.point, relative(mount.root, inner)), shows: 'all' }];
    return isWithin(inner, mount.root) ? [{ path: mount.point, shows: 'part' }] : [];
  });
}

/** Empty where there is no such table: only Linux has one. */
const readTable = () => attempt(() => readFileSync('/proc/self/mountinfo', 'utf8')) ?? '';

interface Mount {
  /** Of the file system, and where in it the mount begins. */
  device: string;
  root: string;
  /** Where it is shown. */
  point: string;
  kind: string;
}

function parseMounts(table: string): Mount[] {
  return table.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const [, , device, root, point] = before.split(' ').map((field) => field.replace(/\\([0-7]{3})/g, octal));
    const [kind = ''] = after.split(' ');
    return device === undefined || root === undefined || point === undefined ? [] : [{ device, root, point, kind }];
  });
}

/** The table writes spaces and the like as `\040`. */
function octal(_: string, digits: string): string {
  return String.fromCharCode(Number.parseInt(digits, 8));
}
