import type { Stats } from 'node:fs';
import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { HomePlace } from '../../files/access/home-table.js';
import { isWithin } from '../../files/workspace.js';
import type { SessionDirectory } from './session-directory.js';

export interface ViewOptions {
  /** The user's home directory as it is spelled and as it really is. */
  home: { spelled: string; real: string };
  /** What of the home directory is shown. */
  places: readonly HomePlace[];
  roots: readonly string[];
  /** Paths outside the workspace that were approved for this command. */
  reads: readonly string[];
  /** Of the repository that the workspace belongs to, what lies outside the workspace. */
  repositories: readonly string[];
  /** Files to show in the home directory in place of its own. */
  files: readonly { source: string; path: string }[];
  hasNetwork: boolean;
  /** `undefined` for a command that outlives it. */
  session: SessionDirectory | undefined;
}

export interface FileView {
  mounts: string[][];
  /** What comes after all other mounts: a file that vanishes with the command helps nobody, so none can be added. */
  seal: string[][];
  /** Whether the command cannot see a path. */
  isHidden(path: string): boolean;
}

/**
 * The file system inside the sandbox is empty except for listed places: the system and installed programs, toolchains, the
 * workspace, and what was approved. So home directories, the data of services in `/var` and other disks are out of sight.
 */
export function planView(options: ViewOptions): FileView {
  const { home, roots, reads, repositories } = options;
  const isInRoots = (path: string) => roots.some((root) => isWithin(root, path));
  if (isInRoots('/')) return openView;
  const isInHome = (path: string) => home.real !== '/' && isWithin(home.real, path);
  const isSystem = (path: string) => isSystemView(path) && !isInHome(path);
  const places = [...options.places, ...systemPlaces].filter(({ path }) => !isSystem(path) && !isInRoots(path));
  // Showing a directory that contains the home directory would show all of it.
  const isReadable = (path: string) => places.some((place) => place.access === 'read' && isWithin(place.path, path));
  const isWanted = (path: string) => !isReadable(path) && !isWithin(path, home.real) && !isSocket(path);
  const shown = [
    ...repositories.filter((path) => isWanted(path) && !isOfSystem(path) && !madeDirectories.includes(path)),
    ...reads.filter((path) => isWanted(path) && !isSystem(path)),
  ];
  const isShown = (path: string) =>
    isInRoots(path) || isSystem(path) || isReadable(path) || shown.some((place) => isWithin(place, path));
  const homeMounts = isOfSystem(home.real) ? [['--tmpfs', home.real]] : [['--dir', home.real]];
  const mounts = [
    ...systemMounts(),
    ...usualDirectories.filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory()).map(emptyDirectory),
    ...(isInRoots(home.real) ? [] : homeMounts),
    ...places.flatMap((place) => mountsOf(place, options)),
    ...shown.map((path) => ['--ro-bind', path, path]),
    ...linksIn('/var'),
    ...linkOnTheWayTo(home.spelled),
    ...options.files.filter(({ path }) => !isInRoots(path)).map(({ source, path }) => ['--ro-bind', source, path]),
  ];
  return {
    mounts,
    seal: [['--remount-ro', '/'], ...homeMounts.filter(([kind]) => kind === '--tmpfs').map(seal)],
    isHidden: (path) => !isShown(path),
  };
}

/** Everything is there, except for what is covered. */
export const openView: FileView = { mounts: [], seal: [], isHidden: () => false };

/** Programs expect these directories. */
const usualDirectories = ['/home', '/root', '/var', '/var/lib', '/mnt', '/media', '/srv'];

const emptyDirectory = (path: string) => ['--dir', path];
const seal = (mount: string[]) => ['--remount-ro', mount.at(-1) ?? ''];

/** What programs read below `/var`, and Homebrew, which has a home directory of its own. */
const systemPlaces: readonly HomePlace[] = [
  '/home/linuxbrew/.linuxbrew',
  '/var/db/pkg',
  '/var/lib/alternatives',
  '/var/lib/apt',
  '/var/lib/dpkg',
  '/var/lib/flatpak',
  '/var/lib/ghc',
  '/var/lib/pacman',
  '/var/lib/rpm',
  '/var/lib/snapd/snap',
  '/var/lib/texmf',
  '/var/usrlocal',
].map((path) => ({ path, access: 'read' }));

function mountsOf(place: HomePlace, options: ViewOptions): string[][] {
  const { path, access } = place;
  const { session } = options;
  const isThere = isDirectory(path);
  if (session !== undefined && isOwnIn(session, place, { ...options, isThere })) {
    return [['--bind', session.makeOwnVersionOf(path), path]];
  }
  if (!isThere) return [];
  return access === 'own' ? [['--tmpfs', path]] : [['--ro-bind', path, path]];
}

/** A session without the network only reads what was downloaded before; with it, programs add to their caches. */
function isOwnIn(
  session: SessionDirectory,
  { path, access, isUsual = false }: HomePlace,
  { isThere, hasNetwork }: { isThere: boolean; hasNetwork: boolean },
): boolean {
  if (access === 'own') return isThere || hasNetwork || isUsual;
  return access === 'cache' && isThere && (hasNetwork || isDirectory(session.ownVersionOf(path)));
}

function isDirectory(path: string): boolean {
  return infoOf(path)?.isDirectory() ?? false;
}

function isSocket(path: string): boolean {
  return infoOf(path)?.isSocket() ?? true;
}

function infoOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Directories at the top of the file system that hold the system and installed programs; nothing else of `/` is shown. */
const systemDirectories = [
  '/bin',
  '/etc',
  '/gnu',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/nix',
  '/opt',
  '/sbin',
  '/snap',
  '/sys',
  '/usr',
];

/** What bubblewrap makes anew, or what has mounts of its own. */
export const madeDirectories = ['/dev', '/proc', '/run', '/tmp', '/var/tmp'];

/** Where sockets of programs may lie among what is shown. */
export const programDirectories = ['/etc', '/opt', '/usr/local'];

/** Where people and services keep what is theirs. */
const privateDirectories = ['/boot', '/home', '/lost+found', '/root', '/var'];

/** Whether a path is on another disk or in a directory that somebody made at the top, such as `/srv` or `/data`. */
export function isElsewhere(path: string): boolean {
  return path !== '/' && !isSystemView(path) && !privateDirectories.some((directory) => isWithin(directory, path));
}

/** Such directories, for the right to read there. */
export function placesElsewhere(): string[] {
  const entries = readdirSync('/', { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() && isElsewhere(`/${entry.name}`) ? `/${entry.name}` : []));
}

export function isOfSystem(path: string): boolean {
  return systemDirectories.some((directory) => isWithin(directory, path));
}

export function isSystemView(path: string): boolean {
  return isOfSystem(path) || madeDirectories.some((directory) => isWithin(directory, path));
}

/** The mounts that show the system, read-only, and the links at the top of the file system. */
export function systemMounts(): string[][] {
  const links = linksIn('/');
  const isLinked = (path: string) => links.some(([, , link]) => link === path);
  // A link to a place that is not shown becomes the place itself.
  const isBound = (path: string) => !isLinked(path) || !isOfSystem(realpathSync(path));
  const bound = systemDirectories.filter((path) => lstatSync(path, { throwIfNoEntry: false }) && isBound(path));
  return [
    ...bound.map((path) => ['--ro-bind', path, path]),
    ...links.filter(([, , link = '']) => !bound.includes(link)),
  ];
}

/** The symlinks in a directory, such as `/lib` and `/var/run`, which programs follow. */
export function linksIn(directory: string): string[][] {
  if (!lstatSync(directory, { throwIfNoEntry: false })?.isDirectory()) return [];
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isSymbolicLink())
    .map(({ name }) => ['--symlink', readlinkSync(join(directory, name)), join(directory, name)]);
}

/** The first symlink on the way to a path, unless it is at the top. */
export function linkOnTheWayTo(path: string): string[][] {
  const parent = dirname(path);
  if (parent === path || dirname(parent) === parent) return [];
  const before = linkOnTheWayTo(parent);
  if (before.length > 0 || !lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return before;
  return [['--symlink', realpathSync(path), path]];
}

/** Directories where services of the system and of the user's session listen. */
export const runtimeDirectories = ['/run', '/var/run'];

/** What programs need from these directories: name resolution, and the programs of NixOS. */
const runtimePlaces = [
  '/run/systemd/resolve/resolv.conf',
  '/run/systemd/resolve/stub-resolv.conf',
  '/run/NetworkManager/resolv.conf',
  '/run/resolvconf/resolv.conf',
  '/run/connman/resolv.conf',
  '/mnt/wsl/resolv.conf',
  '/run/current-system',
  '/run/booted-system',
  '/run/opengl-driver',
];

/** Empties these directories except for the listed places. */
export function runtimeMounts(): string[][] {
  const directories = runtimeDirectories.filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory());
  const places = runtimePlaces.filter((path) => statSync(path, { throwIfNoEntry: false })?.isSocket() === false);
  return [...directories.map((path) => ['--tmpfs', path]), ...places.map((path) => ['--ro-bind', path, path])];
}

/**
 * Settings of the kernel belong to root, who needs no capability to write them. Bubblewrap takes these directories for
 * read-only, because the directories themselves are.
 */
export function kernelSettings(): string[][] {
  if (process.getuid?.() !== 0) return [];
  return ['/proc/sys', '/proc/irq', '/proc/bus', '/proc/fs', '/proc/acpi']
    .filter((path) => existsSync(path))
    .map((path) => ['--ro-bind', path, path]);
}
