import { join } from 'node:path';
import { executedNames, secretNames } from '../../files/access/protected-names.js';
import type { SandboxRights } from './sandbox-rights.js';

export interface SeatbeltOptions {
  roots: readonly string[];
  home: string;
  hidden: readonly string[];
  rights: SandboxRights;
}

/** The arguments of `sandbox-exec` on macOS. Paths are passed as parameters, never inside the text of the profile. */
export function seatbeltArguments(options: SeatbeltOptions): string[] {
  const roots = options.roots.map((root, index) => [`ROOT_${index}`, root] as const);
  const hidden = [...hiddenPaths(options)].map((path, index) => [`HIDDEN_${index}`, path] as const);
  const definitions = [...roots, ...hidden].flatMap(([name, path]) => ['-D', `${name}=${path}`]);
  const profile = seatbeltProfile(
    roots.map(([name]) => name),
    hidden.map(([name]) => name),
    options.rights,
  );
  return ['-p', profile, ...definitions, '--'];
}

/** In a profile, the last rule that matches wins. */
function seatbeltProfile(roots: readonly string[], hidden: readonly string[], rights: SandboxRights): string {
  const writes = [
    '(allow file-write* (subpath "/private/tmp") (subpath "/private/var/folders") (literal "/dev/null") (literal "/dev/tty") (subpath "/dev/fd"))',
    ...roots.map((name) => `(${rights.workspace ? 'allow' : 'deny'} file-write* (subpath (param "${name}")))`),
    ...roots.flatMap((name) =>
      protectedPatterns.map(
        (pattern) => `(deny file-write* (require-all (subpath (param "${name}")) (regex #"${pattern}")))`,
      ),
    ),
  ];
  return [
    '(version 1)',
    '(allow default)',
    ...(rights.files ? [] : ['(deny file-write*)', ...writes]),
    ...hidden.map((name) => `(deny file-read* file-write* (subpath (param "${name}")))`),
    ...(rights.network
      ? []
      : [
          '(deny network*)',
          '(allow network* (local ip "localhost:*"))',
          '(allow network-outbound (remote ip "localhost:*"))',
        ]),
    '(deny process-info* (target others))',
    '(deny mach-lookup (global-name "com.apple.SecurityServer") (global-name "com.apple.securityd.xpc"))',
  ].join('\n');
}

function* hiddenPaths({ home, hidden, rights }: SeatbeltOptions): Generator<string> {
  yield* hidden;
  if (rights.secrets) return;
  yield join(home, '.ssh');
  yield join(home, 'Library/Keychains');
  for (const name of secretNames) if (name.startsWith('.') && !name.includes('*')) yield join(home, name);
}

/** Regular expressions for whole path segments. In `.git`, only hooks and configuration are protected. */
const protectedPatterns = executedNames
  .filter((name) => !name.startsWith('/'))
  .map((name) => (name === '.git' ? '\\.git/(hooks|config|config\\.worktree|commondir)' : escapeName(name)))
  .map((name) => `/${name}(/|$)`);

function escapeName(name: string): string {
  return name.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '[^/]*');
}
