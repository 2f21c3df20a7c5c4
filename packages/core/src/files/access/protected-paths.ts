import { lstatSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { osPath } from '../file-name.js';
import { executedNames, secretNames } from './protected-names.js';

/**
 * Paths whose content other programs execute or obey later, and paths that hold secrets. Names alone decide, so paths
 * are protected before they exist. Names are folded as the most forgiving file system does.
 */

/** Why writing `realPath` needs a person's approval in any mode; `undefined` for an ordinary path. */
export function protectionOf(realPath: string): string | undefined {
  const name = firstMatch(judgedNames(realPath), executed);
  return name === undefined ? undefined : `${name} is configuration that other programs execute or obey`;
}

/** Why reading `realPath` needs a person's approval in any mode; `undefined` for an ordinary path. */
export function secrecyOf(realPath: string): string | undefined {
  const segments = judgedNames(realPath);
  const copied = segments.at(-1)?.replace(backupEnding, '') ?? '';
  const name = firstMatch(segments, secrets) ?? firstMatch([...segments.slice(0, -1), copied], secrets);
  return name === undefined ? undefined : `${name} holds keys or credentials`;
}

/**
 * The names that say what a path holds. In a worktree that Lathe made, its own directory says nothing: nobody obeys what
 * is there, and `Workspace` guards the directory against other sessions.
 */
function judgedNames(realPath: string): string[] {
  const segments = foldPath(realPath);
  const at = segments.findIndex((name, index) => name === '.lathe' && segments[index + 1] === 'worktrees');
  return at < 0 || segments.length <= at + 3 ? segments : ['.', ...segments.slice(at + 3)];
}

/** Endings of backup copies: `/etc/shadow-`, `.netrc~`. */
const backupEnding = /(?:[-~]|\.(?:bak|old|orig|save|swp|\d+))$/;

/**
 * Git's own data under any name: a bare repository, a separate git directory, a submodule's, a worktree's. A file that
 * would turn its directory into one counts too, or a write could complete a planted repository.
 */
export function gitDirectoryOf(realPath: string): string | undefined {
  let name = basename(realPath);
  for (let directory = dirname(realPath); directory !== dirname(directory); directory = dirname(directory)) {
    const has = (wanted: string) => name === wanted || exists(directory, wanted);
    if (has('HEAD') && (has('commondir') || (has('objects') && has('refs'))))
      return `${directory} is a git directory, whose configuration and hooks git executes`;
    name = basename(directory);
  }
  return undefined;
}

function exists(directory: string, name: string): boolean {
  try {
    return lstatSync(osPath(join(directory, name)), { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/**
 * A path as a case-insensitive, Unicode-folding file system sees it: full-width letters, ignorable characters, trailing
 * dots and spaces, NTFS streams and short names all lead to the same file somewhere.
 */
export function foldPath(path: string): string[] {
  return path
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}|\\x(?:E2\\x80\\x[89A][0-9A-F]|EF\\xBB\\xBF)/gu, '')
    .toLowerCase()
    .normalize('NFKC')
    .split(/[\\/]/)
    .map((segment) => segment.replace(/:.*$/s, '').replace(/(?<![. ])[. ]+$/, ''))
    .map((segment) => (/^git~\d+$/.test(segment) ? '.git' : segment));
}

/** By their first segment, because every listed file is tested. */
type Patterns = Map<string, Pattern[]>;

interface Pattern {
  source: string;
  segments: RegExp[];
}

const anySegment = '*';

function compile(sources: readonly string[]): Patterns {
  const patterns: Patterns = new Map();
  for (const source of sources) {
    const [first = '', ...others] = source.split('/');
    const key = first.includes('*') ? anySegment : first;
    patterns.set(key, [...(patterns.get(key) ?? []), { source, segments: [first, ...others].map(segmentPattern) }]);
  }
  return patterns;
}

function segmentPattern(segment: string): RegExp {
  const literal = segment.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*');
  return new RegExp(`^${literal}$`, 'u');
}

function firstMatch(segments: readonly string[], patterns: Patterns): string | undefined {
  for (const [at, segment] of segments.entries()) {
    // Only the first is the root; folding leaves others of names such as `...`.
    if (at > 0 && segment === '') continue;
    const candidates = [...(patterns.get(segment) ?? []), ...(patterns.get(anySegment) ?? [])];
    const hit = candidates.find((pattern) => matchesAt(segments, at, pattern));
    if (hit !== undefined) return hit.source;
  }
  return undefined;
}

function matchesAt(segments: readonly string[], at: number, pattern: Pattern): boolean {
  return pattern.segments.every((expected, index) => expected.test(segments[at + index] ?? ''));
}

const executed = compile(executedNames);
const secrets = compile(secretNames);
