import { readdirSync, realpathSync } from 'node:fs';
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path';
import { attempt } from '../../contract/errors.js';
import { isWithin } from '../workspace.js';
import { type HomePlace, toolchains } from './home-table.js';

export interface HomeOptions {
  /** The user's home directory. */
  home: string;
  /** The variables of commands: `PATH`, and those that move toolchains. */
  env: Readonly<Record<string, string | undefined>>;
  /** The workspace's directories. */
  roots?: readonly string[];
}

/** The places of toolchains in a home directory, outer ones first; whether they exist is not checked. */
export function homePlaces({ home, env, roots = [] }: HomeOptions): HomePlace[] {
  const rows = toolchains.flatMap(({ root, variable = '', ...row }) => {
    const value = env[variable] ?? '';
    const top = isAbsolute(value) ? value : root === undefined ? undefined : join(home, root);
    if (top === undefined) return [];
    return (['own', 'cache', 'read'] as const).flatMap((access) =>
      (row[access] ?? []).map((name): HomePlace => ({ path: join(top, name), access, isUsual: row.isUsual ?? false })),
    );
  });
  const known = rows.filter(({ path }) => !isWithin(path, home));
  const isKnown = (path: string) => known.some((place) => place.access === 'read' && isWithin(place.path, path));
  const onPath = (env['PATH'] ?? '')
    .split(delimiter)
    .filter((entry) => isAbsolute(entry))
    .flatMap((entry) => programRoot(entry, home, roots) ?? [])
    .filter((path) => !isKnown(path));
  const programs = [...new Set(onPath)].map((path): HomePlace => ({ path, access: 'read' }));
  return [...known, ...programs].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/**
 * What a `PATH` entry needs: `~/apps/node/bin` needs `~/apps/node`. Below a dot directory only what the table says, or else
 * the entry itself, because `~/.fly/bin` lies beside a token. The same where the workspace or a home directory is a neighbour.
 */
function programRoot(entry: string, home: string, roots: readonly string[]): string | undefined {
  const base = isWithin(home, entry) ? home : (/^\/(?:root|home\/[^/]+)(?=\/)/.exec(entry)?.[0] ?? '/');
  if (entry === base) return undefined;
  const managers = toolchains.flatMap(({ root, read }) => (root && read?.includes('.') ? join(base, root) : []));
  const manager = managers.find((path) => isWithin(path, entry));
  if (manager !== undefined) return manager;
  const parent = dirname(entry);
  const isPlain = (base === '/' || !entry.slice(base.length).includes('/.')) && parent !== base;
  const isOwn = ![home, ...roots].some((path) => isWithin(parent, path));
  return isPlain && isOwn && /^s?bin$/.test(basename(entry)) ? parent : entry;
}

/** Where a home directory really is; one that does not exist, where it would be. */
export function realHome(home: string): string {
  return attempt(() => realpathSync.native(home)) ?? home;
}

/** Where other people's home directories are. */
const homesOfOthers = ['/home', '/root', '/Users'];
/** Directories of a home that programs use for their state although their names start with no dot. */
const stateNames = ['snap', 'Library', 'AppData'];

/** Whether a name at the top of a home directory belongs to a program rather than to the person. */
function isProgramState(name: string): boolean {
  return name.startsWith('.') || stateNames.includes(name);
}

/** What a person put into their home directory themselves. */
export function ordinaryPlaces(home: string): string[] {
  return readdirSync(home)
    .filter((name) => !isProgramState(name))
    .map((name) => join(home, name));
}

/** Whether a path in the home directory is not, or below, something that belongs to a program. */
export function isOrdinary(home: string, path: string): boolean {
  return isWithin(home, path) && !isProgramState(path.slice(home.length + 1).split('/')[0] ?? '');
}

/** Tells why a path in somebody's home directory is private, whatever its name says: keys are kept in many places. */
export class PrivatePlaces {
  readonly #home: string;
  readonly #env: HomeOptions['env'];
  #places: string[] | undefined;

  constructor({ home, env }: HomeOptions) {
    this.#home = realHome(home);
    this.#env = env;
  }

  /** The reason for a real path; `undefined` for one that is not private. */
  reasonFor(real: string): string | undefined {
    if (!isWithin(this.#home, real)) {
      const homes = homesOfOthers.find((directory) => isWithin(directory, real));
      const isOther = homes !== undefined && !isWithin(real, this.#home) && !real.startsWith('/home/linuxbrew/');
      return isOther && (real !== homes || homes === '/root') ? `${real} is in another home directory` : undefined;
    }
    if (this.#home === '/') return undefined;
    if (isOrdinary(this.#home, real) || this.#shared.some((place) => isWithin(place, real))) return undefined;
    const [first = ''] = real.slice(this.#home.length + 1).split('/');
    return `${join(this.#home, first)} is a place where programs keep keys and settings`;
  }

  /** Places that programs share, found when a path in the home directory is first asked about. */
  get #shared(): readonly string[] {
    this.#places ??= homePlaces({ home: this.#home, env: this.#env })
      .filter(({ access }) => access !== 'own')
      .map(({ path }) => path);
    return this.#places;
  }
}
