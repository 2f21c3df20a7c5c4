import { constants, existsSync, lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ordinaryPlaces } from '../../files/access/home-places.js';
import { secretNames } from '../../files/access/protected-names.js';
import { isWithin } from '../../files/workspace.js';
import type { GuardedPlaces } from './command-guard.js';
import { boundSockets, isReachable, isSocket } from './found-files.js';
import { canAccess, guardedNames, isDirectory, isOwn, realPathOf } from './guarded-names.js';
import { type Mount, pathOf, readOnly, writable } from './held-mounts.js';
import type { SandboxRights } from './sandbox-rights.js';
import { isTemporary, type SessionDirectory, temporaryDirectories } from './session-directory.js';
import type { FileView, ViewOptions } from './visible-files.js';
import {
  kernelSettings,
  openView,
  placesElsewhere,
  planView,
  runtimeDirectories,
  runtimeMounts,
} from './visible-files.js';

export interface BubblewrapOptions {
  /** The workspace's directories: real paths, writable inside. */
  roots: readonly string[];
  cwd: string;
  /** The user's home directory as it is spelled and as it really is, and what a command sees of it. */
  home: ViewOptions['home'];
  places: ViewOptions['places'];
  homeFiles: ViewOptions['files'];
  /** Real paths outside the workspace that were approved for this command. */
  reads: readonly string[];
  repositories: ViewOptions['repositories'];
  /** Real paths outside the workspace that every command sees. */
  readable: readonly string[];
  session: SessionDirectory;
  /** Real directories that the command must not see, such as Lathe's own state. */
  hidden: readonly string[];
  /** An empty directory that covers protected names which do not exist yet. */
  empty: string;
  /** Use a new user namespace. Root can do without one if the kernel refuses it. */
  hasUserNamespace: boolean;
  rights: SandboxRights;
  /** It starts in the network that commands of the session share. */
  isNetworkShared: boolean;
  /** Files of the system that are to be read like keys. */
  privateFiles: readonly string[];
  /** Sockets to cover. */
  sockets: readonly string[];
  /** Files of the workspace that must not change, besides those with protected names. */
  protectedFiles: readonly string[];
  /** Names of files at the top that the agent obeys. */
  obeyed: readonly string[];
  /** The command outlives Lathe, so nothing would clean up after it. */
  isKept: boolean;
  /** All of `.git` is read-only. */
  isGitFixed: boolean;
}

export interface BubblewrapPlan {
  arguments: string[];
  mounts: Mount[];
  /** What mounts cannot guard alone; see `CommandGuard`. */
  guarded: GuardedPlaces;
}

/**
 * What bubblewrap mounts: the file system is empty but for listed places, which are read-only, the workspace is writable
 * except for protected names, keys and control sockets are hidden. The command gets its own namespaces, no capabilities,
 * and no network unless granted. Planned again for every command, so that new files are protected too. A later mount
 * covers an earlier one.
 */
export function planBubblewrap(given: BubblewrapOptions): BubblewrapPlan {
  // Every mount costs time, so each root is mounted once; one that is missing or leads elsewhere by now cannot be mounted.
  const options = { ...given, roots: [...new Set(given.roots)].filter((root) => realPathOf(root) === root) };
  const { roots, rights } = options;
  const view = viewOf(options);
  const masks = maskedPaths(options, view);
  const containsRoot = (path: string) => roots.some((root) => isWithin(path, root));
  const isInRoots = (path: string) => roots.some((root) => isWithin(root, path));
  const names = canPlant(options) ? protectNames(options) : { mounts: [], fixed: [], reserved: [], forbidden: [] };
  const shown = [...temporaryMounts(options), ...view.mounts];
  const inner = [
    ...[options.cwd]
      .filter((cwd) => isTemporary(cwd) && !temporaryDirectories.includes(cwd) && !isInRoots(cwd))
      .map(readOnly),
    ...options.readable.filter((path) => existsSync(path)).map(readOnly),
    ...(view.isHidden(options.cwd) ? [['--dir', options.cwd]] : []),
    ...roots.filter((root) => root !== '/').map(rights.files || rights.workspace ? writable : readOnly),
  ];
  return {
    arguments: namespaceArguments(options),
    mounts: [
      ...(view === openView ? [wholeDisk(options)] : []),
      ['--dev', '/dev'],
      ['--proc', '/proc'],
      ...kernelSettings(),
      ...[...shown, ...waysTo([...shown, ...inner], options)].toSorted(byPath),
      ...runtimeMounts(),
      // A mask around the workspace comes before the workspace, all others after it.
      ...masks.filter(containsRoot).map(mask),
      ...inner,
      ...names.mounts,
      ...masks.filter((path) => !containsRoot(path)).map(mask),
      ...options.sockets.filter((path) => isSocket(path) && isReachable(path)).map(mask),
      ...view.seal,
    ],
    guarded: guardedPlaces(options, {
      ...names,
      // Programs remove and make their sockets as they like.
      masks: masks.filter((path) => !containsRoot(path) && !isSocket(path)),
    }),
  };
}

function namespaceArguments({ rights, ...options }: BubblewrapOptions): string[] {
  return [
    ...(options.isKept ? [] : ['--die-with-parent']),
    '--unshare-pid',
    '--unshare-ipc',
    ...(options.hasUserNamespace ? ['--unshare-user'] : []),
    ...(rights.network || options.isNetworkShared ? [] : ['--unshare-net']),
    '--cap-drop',
    'ALL',
    '--chdir',
    options.cwd,
  ];
}

function guardedPlaces(
  options: BubblewrapOptions,
  { mounts, masks, ...names }: ReturnType<typeof protectNames> & { masks: readonly string[] },
): GuardedPlaces {
  const gits = canPlant(options) ? options.roots.map((root) => join(root, '.git')) : [];
  // Where `.git` must not change, it must not appear either.
  const newGits = gits.filter((path) => !existsSync(path));
  const covers = [...mounts.map(pathOf), ...names.fixed, ...(options.isGitFixed ? newGits : []), ...masks];
  return {
    ...names,
    roots: options.roots,
    covers: [...new Set(covers)],
    gits: options.isGitFixed ? newGits : gits,
  };
}

/** Whether the command may write in the workspace, but not to protected names. */
function canPlant({ rights }: Pick<BubblewrapOptions, 'rights'>): boolean {
  return rights.workspace && !rights.files;
}

function mask(path: string): Mount {
  return isDirectory(path) ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path];
}

/** If `/` is the workspace, it must be mounted first, or it would cover the later mounts. */
function wholeDisk({ rights, roots }: BubblewrapOptions): Mount {
  return [rights.files || (rights.workspace && roots.includes('/')) ? '--bind' : '--ro-bind', '/', '/'];
}

/** The right to keys opens everything, and so does the right to files, with the keys covered. */
function viewOf({ rights, homeFiles, isKept, session, ...options }: BubblewrapOptions): FileView {
  if (rights.files || rights.secrets) return openView;
  const own = { session: isKept ? undefined : session, hasNetwork: rights.network };
  const reads = [
    ...options.reads,
    ...(rights.home ? [...ordinaryPlaces(options.home.real), ...placesElsewhere()] : []),
  ];
  return planView({ ...options, ...own, reads, files: homeFiles });
}

/** The commands of a session share one `/tmp`. One that outlives the session has its own. */
function temporaryMounts({ session, isKept }: BubblewrapOptions): Mount[] {
  const directories = temporaryDirectories.filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory());
  return directories.map((path) => (isKept ? ['--tmpfs', path] : ['--bind', session.tmp, path]));
}

/**
 * The directories between a directory of the session, in which commands write, and a mount inside it. They become mounts
 * too, of a directory that no command sees otherwise: a command could replace any other by a symlink, and bubblewrap would
 * make the next directory where that leads.
 */
function waysTo(mounts: readonly Mount[], { session }: BubblewrapOptions): Mount[] {
  const real = mounts.filter(([kind]) => kind !== '--dir' && kind !== '--symlink').toSorted(byPath);
  const ways = mounts.map(pathOf).flatMap((path) => {
    const outer = real.findLast((one) => pathOf(one) !== path && isWithin(pathOf(one), path));
    const isSessions = outer?.[0] === '--bind' && session.contains(outer[1] ?? '');
    return isSessions ? directoriesBetween(pathOf(outer), path) : [];
  });
  return [...new Set(ways)].map((path) => ['--bind', session.makeOwnVersionOf(path), path]);
}

/** Outer mounts come first. */
function byPath(a: Mount, b: Mount): number {
  const [one, other] = [pathOf(a), pathOf(b)];
  return one === other ? 0 : one < other ? -1 : 1;
}

/** Places with keys, and control sockets of other programs. */
function maskedPaths(
  { home, hidden, roots, rights, reads, privateFiles }: BubblewrapOptions,
  view: FileView,
): string[] {
  const keys = [...homePlaces.map((place) => join(home.real, place)), ...systemPlaces, ...privateFiles];
  const isApproved = (path: string) => reads.some((read) => isWithin(path, read));
  const secrets = rights.secrets ? [] : keys.filter((path) => !isApproved(path));
  const directories = [...new Set([...secrets, ...hidden])].filter((path) => !view.isHidden(path) && hasContent(path));
  const isCovered = (path: string) =>
    view.isHidden(path) ||
    [...temporaryDirectories, ...runtimeDirectories, ...directories].some((directory) => isWithin(directory, path)) ||
    roots.some((root) => isWithin(root, path));
  return [...new Set([...directories, ...boundSockets().filter((path) => !isCovered(path))])];
}

/** If a name contains a pattern, its whole directory is hidden. */
const secretPlaces = secretNames.map((name) =>
  name.includes('*') ? name.slice(0, name.lastIndexOf('/', name.indexOf('*'))) : name,
);

const systemPlaces = secretPlaces.filter((place) => place.startsWith('/etc/') && secretNames.includes(place));

const wholeDirectories = new Map([
  ['.aws/credentials', '.aws'],
  ['.kube/config', '.kube'],
  ['.docker/config.json', '.docker'],
  ['.config/gh/hosts.yml', '.config/gh'],
]);

const homePlaces = [
  ...new Set(
    secretPlaces
      .filter((place) => /^[._]/.test(place) && place !== '.lathe')
      .map((place) => wholeDirectories.get(place) ?? place),
  ),
];

/**
 * Outer mounts come first. A parent of a protected name must not be renamed, or another directory could replace it. A mount
 * follows symlinks, which a command can make: where one leads out of the workspace, nothing is mounted.
 */
function protectNames(
  options: BubblewrapOptions,
): { mounts: Mount[] } & Pick<GuardedPlaces, 'fixed' | 'reserved' | 'forbidden'> {
  const names = options.roots.map((root) => {
    const { forbidden, links, ...found } = guardedNames(root, options);
    return { root, fixed: found.fixed.filter(isOwn), reserved: found.reserved.filter(isOwn), links, forbidden };
  });
  const fixed = names.flatMap((found) => found.fixed);
  const reserved = names.flatMap((found) => found.reserved);
  const ways = names.flatMap(({ root, ...found }) =>
    [...found.fixed, ...found.reserved].flatMap((path) => directoriesBetween(root, path)),
  );
  const isInside = (path: string) => options.roots.some((root) => isWithin(root, path));
  return {
    mounts: [
      ...[...new Set(ways)].map(writable),
      ...fixed
        .flatMap((path) => realPathOf(path) ?? [])
        .filter(isInside)
        .map(readOnly),
      ...reserved.map((path) => ['--ro-bind', options.empty, path]),
    ],
    fixed: [...fixed, ...names.flatMap(({ links }) => links)],
    reserved,
    forbidden: names.flatMap(({ forbidden }) => forbidden),
  };
}

/** The parents of `path` below `root`, outermost first. */
function directoriesBetween(root: string, path: string): string[] {
  const parent = dirname(path);
  return parent === root || parent === path ? [] : [...directoriesBetween(root, parent), parent];
}

/** `undefined` also where a file stands in the place of a directory. */
function infoOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Every mount costs time, so a place that is empty or unreadable is not masked; it stays read-only. */
function hasContent(path: string): boolean {
  const info = infoOf(path);
  if (!info?.isDirectory()) return info !== undefined && canAccess(path, constants.R_OK);
  try {
    return readdirSync(path).length > 0;
  } catch {
    return true;
  }
}
