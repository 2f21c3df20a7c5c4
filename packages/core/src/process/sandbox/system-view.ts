import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isWithin } from '../../files/workspace.js';

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
