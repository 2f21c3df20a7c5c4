import { accessSync, constants, existsSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { secretNames } from '../../files/access/protected-names.js';
import { isWithin } from '../../files/workspace.js';
import { guardedNames } from './guarded-names.js';
import type { SandboxRights } from './sandbox-rights.js';

export interface BubblewrapOptions {
  /** The workspace's directories: real paths, writable inside. */
  roots: readonly string[];
  cwd: string;
  /** The user's home directory. */
  home: string;
  /** Directories that nobody inside may see, such as our own state. */
  hidden: readonly string[];
  /** An empty directory, shown where a protected name does not exist yet. */
  empty: string;
  /** Names that are only there because another command is running. */
  placeholders: { has(path: string): boolean };
  /** A new user namespace; as root it can be left out where the kernel refuses it. */
  hasUserNamespace: boolean;
  rights: SandboxRights;
  /** Sockets in the workspace, to be covered. */
  sockets: readonly string[];
  /** It outlives us, so that nobody can tidy up after it. */
  isKept: boolean;
  /** Number of the descriptor with the system call filter. */
  seccompDescriptor?: number;
}

export interface BubblewrapPlan {
  arguments: string[];
  /** Names that bubblewrap creates as empty directories on the real disk, to be removed afterwards. */
  placeholders: string[];
  /** Names that are missing and must not appear: to be removed afterwards. */
  forbidden: string[];
}

/**
 * The arguments of bubblewrap: the whole file system read-only, the workspace writable except for protected names, keys
 * and control sockets out of sight, namespaces of its own, no capabilities, no network unless granted. Looked up anew
 * for every command, so that what appeared since is protected too. A later argument wins over an earlier one.
 */
export function planBubblewrap(given: BubblewrapOptions): BubblewrapPlan {
  // Every mount costs time: a directory that is named twice needs but one, and one that is missing could not be mounted.
  const options = { ...given, roots: [...new Set(given.roots)].filter((root) => existsSync(root)) };
  const { roots, rights } = options;
  const masks = maskedPaths(options);
  const containsRoot = (path: string) => roots.some((root) => isWithin(path, root));
  const names =
    rights.files || !rights.workspace ? { mounts: [], placeholders: [], forbidden: [] } : protectNames(options);
  const isInRoots = (path: string) => roots.some((root) => isWithin(root, path));
  const mounts: Mount[] = [
    // The root itself as a workspace must not cover what is put into it afterwards.
    [rights.files || (rights.workspace && roots.includes('/')) ? '--bind' : '--ro-bind', '/', '/'],
    ['--dev', '/dev'],
    ['--proc', '/proc'],
    ['--tmpfs', '/tmp'],
    ...runtimeMounts(),
    // A mask around the workspace comes before it, every other one after it.
    ...masks.filter(containsRoot).map(mask),
    ...[options.cwd].filter((cwd) => isWithin('/tmp', cwd) && !isInRoots(cwd)).map(readOnly),
    ...roots.filter((root) => root !== '/').map(rights.files || rights.workspace ? writable : readOnly),
    ...names.mounts,
    ...masks.filter((path) => !containsRoot(path)).map(mask),
    ...options.sockets.map(mask),
  ];
  return {
    arguments: [
      ...(options.isKept ? [] : ['--die-with-parent']),
      '--unshare-pid',
      '--unshare-ipc',
      ...(options.hasUserNamespace ? ['--unshare-user'] : []),
      ...(rights.network ? [] : ['--unshare-net']),
      '--cap-drop',
      'ALL',
      ...mounts.flat(),
      ...(options.seccompDescriptor === undefined ? [] : ['--seccomp', `${options.seccompDescriptor}`]),
      '--chdir',
      options.cwd,
    ],
    placeholders: names.placeholders,
    forbidden: names.forbidden,
  };
}

/** An argument and its values, of which the last one is where. */
type Mount = string[];

function mask(path: string): Mount {
  return isDirectory(path) ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path];
}

/** Where keys lie and where other programs take orders. */
function maskedPaths({ home, hidden, roots, rights }: BubblewrapOptions): string[] {
  const secrets = rights.secrets ? [] : secretPaths(home);
  const directories = [...secrets, ...hidden].filter(hasContent);
  const isCovered = (path: string) =>
    ['/tmp', ...runtimeDirectories, ...directories].some((directory) => isWithin(directory, path)) ||
    roots.some((root) => isWithin(root, path));
  return [...new Set([...directories, ...boundSockets().filter((path) => !isCovered(path))])];
}

/** One look at the home directory saves one for every name that is not in it. */
function secretPaths(home: string): string[] {
  const names = namesIn(home);
  const isThere = (place: string) => names?.has(place.split('/', 1)[0] ?? '') ?? true;
  return [...homePlaces.filter(isThere).map((place) => join(home, place)), ...systemPlaces];
}

/** In lower case, as they might be found; `undefined` when nobody may look. */
function namesIn(directory: string): Set<string> | undefined {
  try {
    return new Set(readdirSync(directory).map((name) => name.toLowerCase()));
  } catch {
    return undefined;
  }
}

/** Of a name with a pattern in it the whole directory is hidden. */
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

/** Where services of the system and of the user's session listen. */
const runtimeDirectories = ['/run', '/var/run'];

/** What programs need of them: where names are looked up, and the programs of NixOS. */
const runtimePlaces = [
  '/run/systemd/resolve/resolv.conf',
  '/run/systemd/resolve/stub-resolv.conf',
  '/run/NetworkManager/resolv.conf',
  '/run/resolvconf/resolv.conf',
  '/run/connman/resolv.conf',
  '/run/current-system',
  '/run/booted-system',
  '/run/opengl-driver',
];

/** Empty but for what is listed. */
function runtimeMounts(): Mount[] {
  const directories = runtimeDirectories.filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory());
  const places = runtimePlaces.filter((path) => statSync(path, { throwIfNoEntry: false })?.isSocket() === false);
  return [...directories.map((path) => ['--tmpfs', path]), ...places.map(readOnly)];
}

/**
 * Read-only mounts do not stop a connection, so sockets in other places are covered as well, those of this network
 * namespace at least, which the kernel lists by the path they were bound to.
 */
function boundSockets(): string[] {
  try {
    const lines = readFileSync('/proc/net/unix', 'utf8').split('\n');
    const paths = lines.map((line) => /^(?:\S+\s+){7}(\/.*)$/.exec(line)?.[1] ?? '').filter((path) => path !== '');
    return [...new Set(paths)].filter(isSocket);
  } catch {
    return [];
  }
}

/** One in a directory that nobody here may enter cannot be reached either. */
function isSocket(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSocket() ?? false;
  } catch {
    return false;
  }
}

/** The mounts, outer ones first: on the way to a name no directory may be renamed, or another could take its place. */
function protectNames(
  options: BubblewrapOptions,
): { mounts: Mount[] } & Pick<BubblewrapPlan, 'placeholders' | 'forbidden'> {
  const names = options.roots.map((root) => ({ root, ...guardedNames(root, options) }));
  const fixed = names.flatMap((found) => found.fixed);
  const reserved = names.flatMap((found) => found.reserved);
  const ways = names.flatMap(({ root, ...found }) =>
    [...found.fixed, ...found.reserved].flatMap((path) => directoriesBetween(root, path)),
  );
  return {
    mounts: [
      ...[...new Set(ways)].map(writable),
      ...fixed.map(readOnly),
      ...reserved.map((path) => ['--ro-bind', options.empty, path]),
    ],
    placeholders: reserved,
    forbidden: names.flatMap(({ forbidden }) => forbidden),
  };
}

/** From the outermost on. */
function directoriesBetween(root: string, path: string): string[] {
  const parent = dirname(path);
  return parent === root || parent === path ? [] : [...directoriesBetween(root, parent), parent];
}

function readOnly(path: string): Mount {
  return ['--ro-bind', path, path];
}

function writable(path: string): Mount {
  return ['--bind', path, path];
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Every mount costs time, so what holds nothing, or cannot be read anyway, is left as it is: read-only. */
function hasContent(path: string): boolean {
  const info = statSync(path, { throwIfNoEntry: false });
  if (!info?.isDirectory()) return info !== undefined && can(path, constants.R_OK);
  try {
    return readdirSync(path).length > 0;
  } catch {
    return true;
  }
}

function can(path: string, access: number): boolean {
  try {
    accessSync(path, access);
    return true;
  } catch {
    return false;
  }
}
