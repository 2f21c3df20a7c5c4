import { statSync } from 'node:fs';
import { ToolError } from '../../contract/errors.js';
import { failureOf } from '../network/failure-of.js';
import { trustedPath } from '../run/trusted-path.js';

/** Which sandbox this machine has. */
export interface Probe {
  kind: 'bubblewrap' | 'seatbelt' | 'none';
  program: string;
  hasUserNamespace: boolean;
  /** Why there is no sandbox. */
  reason?: string;
}

/** Tries the sandbox program of the platform. */
export async function probeSandbox(options: {
  roots: readonly string[];
  path?: string;
  platform?: NodeJS.Platform;
}): Promise<Probe> {
  const none = { kind: 'none', program: '', hasUserNamespace: false } as const;
  const platform = options.platform ?? process.platform;
  const [kind, name] =
    platform === 'darwin' ? (['seatbelt', 'sandbox-exec'] as const) : (['bubblewrap', 'bwrap'] as const);
  if (platform !== 'darwin' && platform !== 'linux') return { ...none, reason: `there is none for ${platform}` };
  const program = trustedPath(name, { outside: options.roots, path: options.path ?? '' });
  if (program === undefined) return { ...none, reason: `${name} is not installed outside the workspace` };
  if (kind === 'seatbelt') {
    const failure = await failureOf(program, ['-p', '(version 1)(allow default)', '/usr/bin/true']);
    return failure === undefined ? { kind, program, hasUserNamespace: false } : { ...none, reason: failure };
  }
  const namespaces = ['--die-with-parent', '--unshare-pid', '--unshare-ipc', '--unshare-net', '--cap-drop', 'ALL'];
  const mounts = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', '--', '/bin/true'];
  const failure = await failureOf(program, ['--unshare-user', ...namespaces, ...mounts]);
  if (failure === undefined) return { kind, program, hasUserNamespace: true };
  const withoutUser = await failureOf(program, [...namespaces, ...mounts]);
  return withoutUser === undefined ? { kind, program, hasUserNamespace: false } : { ...none, reason: failure };
}

/** Inside a user namespace root has no rights over the files of others, so that every write would fail. */
export function refuseForeignWorkspace(roots: readonly string[]): void {
  if (process.getuid?.() !== 0) return;
  for (const root of roots) {
    const info = statSync(root, { throwIfNoEntry: false });
    if (info === undefined || info.uid === 0 || (info.mode & 0o002) !== 0) continue;
    const message = `The sandbox cannot write in ${root}: it belongs to the user with the id ${info.uid}, and root has no rights over it inside. Run Lathe as that user, or with --sandbox off.`;
    throw new ToolError('sandbox_unavailable', message);
  }
}
