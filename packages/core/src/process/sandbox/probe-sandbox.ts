import { randomBytes } from 'node:crypto';
import { openSync, rmSync } from 'node:fs';
import type { LatheHome } from '../../files/lathe-home.js';
import { failureOf } from '../network/failure-of.js';
import { trustedPath } from '../run/trusted-path.js';
import { seccompFilter } from './seccomp.js';

/** Which sandbox this machine has. */
export interface Probe {
  kind: 'bubblewrap' | 'seatbelt' | 'none';
  program: string;
  hasUserNamespace: boolean;
  /** Bubblewrap mounts what a descriptor leads to, since version 0.10. */
  holdsMounts: boolean;
  /** Why there is no sandbox. */
  reason?: string;
}

const none = { kind: 'none', program: '', hasUserNamespace: false, holdsMounts: false } as const;

/** Tries the sandbox program of the platform. */
export async function probeSandbox(options: {
  roots: readonly string[];
  path?: string;
  platform?: NodeJS.Platform;
}): Promise<Probe> {
  const platform = options.platform ?? process.platform;
  const [kind, name] =
    platform === 'darwin' ? (['seatbelt', 'sandbox-exec'] as const) : (['bubblewrap', 'bwrap'] as const);
  if (platform !== 'darwin' && platform !== 'linux') return { ...none, reason: `there is none for ${platform}` };
  const program = trustedPath(name, { outside: options.roots, path: options.path ?? '' });
  if (program === undefined) return { ...none, reason: `${name} is not installed outside the workspace` };
  if (kind === 'seatbelt') {
    const failure = await failureOf(program, ['-p', '(version 1)(allow default)', '/usr/bin/true']);
    return failure === undefined ? { ...none, kind, program } : { ...none, reason: failure };
  }
  return probeBubblewrap(program);
}

/** Tries the newest and safest way first. */
async function probeBubblewrap(program: string): Promise<Probe> {
  const namespaces = ['--die-with-parent', '--unshare-pid', '--unshare-ipc', '--unshare-net', '--cap-drop', 'ALL'];
  const mounts = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp'];
  // Its stdin is /dev/null.
  const held = ['--ro-bind-fd', '0', '/dev/null'];
  let reason = '';
  for (const hasUserNamespace of [true, false])
    for (const holdsMounts of [true, false]) {
      const user = hasUserNamespace ? ['--unshare-user'] : [];
      const args = [...user, ...namespaces, ...mounts, ...(holdsMounts ? held : []), '--', '/bin/true'];
      const failure = await failureOf(program, args);
      if (failure === undefined) return { kind: 'bubblewrap', program, hasUserNamespace, holdsMounts };
      // An old version only says that it does not know the option.
      if (!holdsMounts) reason ||= failure;
    }
  return { ...none, reason };
}

/** Files that bubblewrap needs. */
export interface SandboxFiles {
  /** An empty directory. */
  empty: string;
  /** For files that live as long as a command. */
  run: string;
  /** The system call filters that allow sockets in the file system, and that do not. */
  filters?: Record<'withSockets' | 'withoutSockets', string>;
}

export async function makeSandboxFiles(home: LatheHome): Promise<SandboxFiles> {
  const empty = await home.directory('empty');
  const run = await home.directory('run');
  const withSockets = await makeFilter(home, { unixSockets: true });
  const withoutSockets = await makeFilter(home, { unixSockets: false });
  return { empty, run, ...(withSockets && withoutSockets && { filters: { withSockets, withoutSockets } }) };
}

async function makeFilter(home: LatheHome, options: { unixSockets: boolean }): Promise<string | undefined> {
  const filter = seccompFilter(process.arch, options);
  if (filter === undefined) return undefined;
  const path = await home.createFile(['run', `seccomp-${randomBytes(6).toString('hex')}`], filter);
  // Unlinked, so only this descriptor reaches it: nothing is left behind, and no other process can change it.
  const descriptor = openSync(path, 'r');
  rmSync(path);
  return `/proc/self/fd/${descriptor}`;
}
