import { lstatSync, mkdirSync, readdirSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import type { HomePlace } from '../../files/access/home-table.js';
import { isWithin } from '../../files/workspace.js';
import type { SessionDirectory } from './session-directory.js';

export interface HomeViewOptions {
  /** The user's home directory as it is spelled and as it really is. */
  home: { spelled: string; real: string };
  /** What of the home directory is shown. */
  places: readonly HomePlace[];
  roots: readonly string[];
  /** Paths outside the workspace that were approved for this command. */
  reads: readonly string[];
  /** Files to show in the home directory in place of its own. */
  files: readonly { source: string; path: string }[];
  hasNetwork: boolean;
  /** `undefined` for a command that outlives it. */
  session: SessionDirectory | undefined;
}

export interface HomeView {
  mounts: string[][];
  /** What comes after all other mounts: a file that vanishes with the command helps nobody, so none can be added. */
  seal: string[][];
  /** Whether the command cannot see a path. */
  isHidden(path: string): boolean;
}

/**
 * Directories that are empty inside the sandbox except for listed places: the home directory, those of others, and `/var`,
 * where services keep their data. A directory that belongs to the workspace stays as it is.
 */
export function planHome(options: HomeViewOptions): HomeView {
  const { home, roots, reads } = options;
  const isInRoots = (path: string) => roots.some((root) => isWithin(root, path));
  const areas = [...new Set(['/home', '/root', '/var', home.real])].filter(
    (area) => area !== '/' && !isInRoots(area) && lstatSync(area, { throwIfNoEntry: false })?.isDirectory(),
  );
  const isInAreas = (path: string) => areas.some((area) => isWithin(area, path));
  const places = [...options.places, ...systemPlaces].filter(({ path }) => isInAreas(path) && !isInRoots(path));
  // Showing a directory that contains the home directory would show all of it.
  const isReadable = (path: string) => places.some((place) => place.access === 'read' && isWithin(place.path, path));
  const shown = reads.filter(
    (path) => isInAreas(path) && !isReadable(path) && !isWithin(path, home.real) && !isSocket(path),
  );
  const isShown = (path: string) => isInRoots(path) || isReadable(path) || shown.some((place) => isWithin(place, path));
  const mounts = [
    ...areas.map((area) => ['--tmpfs', area]),
    ...places.flatMap((place) => mountsOf(place, options)),
    ...shown.map((path) => ['--ro-bind', path, path]),
    ...linksIn('/var', areas),
    ...(home.spelled !== home.real && isInAreas(home.spelled) ? [['--symlink', home.real, home.spelled]] : []),
    ...options.files.filter(({ path }) => isInAreas(path)).map(({ source, path }) => ['--ro-bind', source, path]),
  ];
  return {
    mounts,
    seal: areas.map((area) => ['--remount-ro', area]),
    isHidden: (path) => isInAreas(path) && !isShown(path),
  };
}

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
].map((path) => ({ path, access: 'read' }));

function mountsOf(place: HomePlace, options: HomeViewOptions): string[][] {
  const { path, access } = place;
  const { session } = options;
  const isThere = isDirectory(path);
  if (session !== undefined && isOwnIn(session, place, { ...options, isThere })) {
    const own = session.ownVersionOf(path);
    mkdirSync(own, { recursive: true, mode: 0o700 });
    return [['--bind', own, path]];
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

/** Links such as `/var/run`, which programs follow. */
function linksIn(directory: string, areas: readonly string[]): string[][] {
  if (!areas.includes(directory)) return [];
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isSymbolicLink())
    .map(({ name }) => ['--symlink', readlinkSync(join(directory, name)), join(directory, name)]);
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
