import { join } from 'node:path';
import { ordinaryPlaces } from '../../files/access/home-places.js';
import type { HomePlace } from '../../files/access/home-table.js';
import { executedNames, secretNames } from '../../files/access/protected-names.js';
import { isWithin } from '../../files/workspace.js';
import type { SandboxRights } from './sandbox-rights.js';

export interface SeatbeltOptions {
  roots: readonly string[];
  home: string;
  /** What of the home directory can be read. */
  places: readonly HomePlace[];
  /** Real paths outside the workspace that were approved for this command. */
  reads: readonly string[];
  hidden: readonly string[];
  /** Files of the workspace that must not change, besides those with protected names. */
  fixed: readonly string[];
  rights: SandboxRights;
}

/** The arguments of `sandbox-exec` on macOS. Paths are passed as parameters, never inside the text of the profile. */
export function seatbeltArguments(options: SeatbeltOptions): string[] {
  const roots = options.roots.map((root, index) => [`ROOT_${index}`, root] as const);
  const hidden = [...hiddenPaths(options)].map((path, index) => [`HIDDEN_${index}`, path] as const);
  const home = [['HOME', options.home]] as const;
  const shown = shownPaths(options).map((path, index) => [`SHOWN_${index}`, path] as const);
  const fixed = options.fixed.map((path, index) => [`FIXED_${index}`, path] as const);
  const definitions = [...roots, ...hidden, ...home, ...shown, ...fixed].flatMap(([name, path]) => [
    '-D',
    `${name}=${path}`,
  ]);
  const profile = seatbeltProfile(
    roots.map(([name]) => name),
    hidden.map(([name]) => name),
    {
      rights: options.rights,
      fixed: fixed.map(([name]) => name),
      reads: homeRules(
        options,
        [...shown, ...roots].map(([name]) => name),
      ),
    },
  );
  return ['-p', profile, ...definitions, '--'];
}

/** In a profile, the last rule that matches wins. */
function seatbeltProfile(
  roots: readonly string[],
  hidden: readonly string[],
  { rights, fixed, reads }: Pick<SeatbeltOptions, 'rights' | 'fixed' | 'reads'>,
): string {
  const writes = [
    '(allow file-write* (subpath "/private/tmp") (subpath "/private/var/folders") (literal "/dev/null") (literal "/dev/tty") (subpath "/dev/fd"))',
    ...roots.map((name) => `(${rights.workspace ? 'allow' : 'deny'} file-write* (subpath (param "${name}")))`),
    ...roots.flatMap((name) =>
      protectedPatterns.map(
        (pattern) => `(deny file-write* (require-all (subpath (param "${name}")) (regex #"${pattern}")))`,
      ),
    ),
    ...fixed.map((name) => `(deny file-write* (subpath (param "${name}")))`),
  ];
  return [
    '(version 1)',
    '(allow default)',
    ...(rights.files ? [] : ['(deny file-write*)', ...writes]),
    ...reads,
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

/** Home directories cannot be read except for these; that something exists can be seen, or no path could be followed. */
function homeRules({ rights, roots, home }: SeatbeltOptions, shown: readonly string[]): string[] {
  if (rights.files || rights.secrets || roots.some((root) => isWithin(root, home))) return [];
  return [
    '(deny file-read* (subpath "/Users") (subpath (param "HOME")))',
    '(allow file-read-metadata (subpath "/Users") (subpath (param "HOME")))',
    ...shown.map((name) => `(allow file-read* (subpath (param "${name}")))`),
  ];
}

function shownPaths({ places, reads, rights, home }: SeatbeltOptions): string[] {
  const approved = reads.filter((path) => !isWithin(path, home));
  return [...places.map(({ path }) => path), ...approved, ...(rights.home ? ordinaryPlaces(home) : [])];
}

function* hiddenPaths({ home, hidden, rights, reads }: SeatbeltOptions): Generator<string> {
  yield* hidden;
  if (rights.secrets) return;
  const names = secretNames.filter((name) => name.startsWith('.') && !name.includes('*'));
  for (const path of ['.ssh', 'Library/Keychains', ...names].map((name) => join(home, name)))
    if (!reads.some((read) => isWithin(path, read))) yield path;
}

/** Regular expressions for whole path segments. In `.git`, only hooks and configuration are protected. */
const protectedPatterns = executedNames
  .filter((name) => !name.startsWith('/'))
  .map((name) => (name === '.git' ? '\\.git/(hooks|config|config\\.worktree|commondir)' : escapeName(name)))
  .map((name) => `/${name}(/|$)`);

function escapeName(name: string): string {
  return name.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '[^/]*');
}
