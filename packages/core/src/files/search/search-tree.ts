import { existsSync, readdirSync } from 'node:fs';
import { attempt } from '../../contract/errors.js';
import type { GlobState } from '../../text/glob/compile-glob.js';
import type { Visibility } from '../access/visibility.js';
import { VisiblePaths } from '../access/visible-paths.js';
import { argumentFor, asFolder, type BytePath, fromBytePath, splitPath, systemPath } from '../byte-path.js';
import { agentFiles, type IgnoreLevel } from '../ignore/ignore-rules.js';
import { tempPrefix } from '../write/temp-name.js';
import { mountsToSkip } from './mounts.js';
import { hiddenByAgent, mountsNotEntered, unusedIgnoreFiles, type WalkNotes } from './walk-notes.js';

/** Which files to search. */
export interface SearchGlob {
  /** Seen from the directory that is searched. */
  start: GlobState;
  /** How many directories it names before its first wildcard. */
  fixed: number;
  /** The depth of the deepest file that can match, if there is a limit; 1 is right in the directory. */
  depth?: number | undefined;
  /** Equivalent patterns for file names in ripgrep's syntax, if there are any. */
  names?: readonly string[] | undefined;
}

export interface TreeOptions extends Visibility {
  /** A real path. */
  directory: BytePath;
  glob?: SearchGlob | undefined;
  notes: WalkNotes;
}

/** The part of a tree that one run of ripgrep walks. */
export interface SearchTree {
  /** Where it starts. */
  path: BytePath;
  flags: string[];
  /** What of its output is shown. */
  visible: VisiblePaths;
}

/** How ripgrep searches a directory, with its own reading of git's rules; `undefined` when there is nothing to show. */
export function openTree({ directory, glob, notes, ...visibility }: TreeOptions): SearchTree | undefined {
  const { rules, disregard } = visibility;
  const level = rules.in(directory, (path, reason) => {
    // ripgrep reads git's files itself.
    if (agentFiles.includes(splitPath(path)[1])) notes.add(unusedIgnoreFiles, path, reason);
  });
  if (level.ignoredBy === 'agent' && disregard?.has('agent') !== true) {
    notes.add(hiddenByAgent, directory);
    return undefined;
  }
  const mounts = mountsToSkip(directory);
  for (const [path, kind] of mounts) notes.add(mountsNotEntered, asFolder(path), kind);
  const start = startOf({ path: directory, level, depth: 0 }, glob, visibility);
  if (start === undefined || mounts.has(start.path)) return undefined;
  return {
    path: start.path,
    flags: [...walkFlags, ...ruleFlags(level, disregard), ...mountFlags(mounts), ...globFlags(start, glob)],
    visible: new VisiblePaths(directory, { ...visibility, level, glob: glob?.start }),
  };
}

const walkFlags = [
  '--hidden',
  '--no-ignore-dot',
  '--no-ignore-global',
  '--no-ignore-messages',
  '--glob=!.git',
  `--glob=!${tempPrefix}*`,
];

/** A directory that a call names is searched even if git ignores it. */
function ruleFlags({ ignoredBy, repository }: IgnoreLevel, disregard: Visibility['disregard']): string[] {
  if (disregard?.has('git') === true) return ['--no-ignore'];
  const excludes = (repository?.excludesFiles ?? []).filter((file) => existsSync(systemPath(file))).map(argumentFor);
  return [
    ...(ignoredBy === undefined ? [] : ['--no-ignore-parent', '--no-require-git']),
    ...(repository?.ignoresCase === true ? ['--ignore-file-case-insensitive'] : []),
    ...excludes.flatMap((file) => (file === undefined ? [] : [`--ignore-file=${file}`])),
  ];
}

function mountFlags(mounts: ReadonlyMap<BytePath, string>): string[] {
  const paths = [...mounts.keys()].map(argumentFor).filter((path) => path !== undefined);
  return paths.map((path) => `--glob=!${path.replace(/[*?[\]{}\\]/g, '\\$&')}`);
}

/** Names become a file type, because a positive `--glob` would bring back ignored files. */
function globFlags(start: Place, { depth, names = [] }: Partial<SearchGlob> = {}): string[] {
  // Mapped into memory, a line of 200 MB takes a tenth of the time: `npm run bench -- --only 'a line of 200 MB'`.
  const isNamed = names.length > 0 && !names.some((name) => name.includes('*'));
  return [
    ...(depth === undefined ? [] : [`--max-depth=${depth - start.depth}`]),
    ...names.map((name) => `--type-add=wanted:${name}`),
    ...(names.length > 0 ? ['--type=wanted'] : []),
    ...(isNamed ? ['--mmap'] : []),
  ];
}

interface Place {
  path: BytePath;
  level: IgnoreLevel;
  /** Below the directory that is searched. */
  depth: number;
}

/** The directory that a glob names, as far as only one matches; `undefined` when nothing can match. */
function startOf(top: Place, glob: SearchGlob | undefined, { disregard }: Visibility): Place | undefined {
  // If git ignores the directory itself, only its own rules count, and a run that starts deeper would miss them.
  const fixed = top.level.ignoredBy === undefined ? (glob?.fixed ?? 0) : 0;
  let [place, state] = [top, glob?.start];
  while (place.depth < fixed) {
    const look = { withFileTypes: true, encoding: 'latin1' } as const;
    const entries = attempt(() => readdirSync(systemPath(place.path), look)) ?? [];
    const next = entries.filter(({ name }) => state?.enter(fromBytePath(name)) !== undefined);
    const [only] = next;
    if (next.length > 1) return place;
    if (only?.isDirectory() !== true) return undefined;
    if (place.level.hiderOf(only.name, true, disregard) !== undefined) return undefined;
    const path = asFolder(place.path) + only.name;
    const level = place.level.enter(only.name);
    state = state?.enter(fromBytePath(only.name));
    place = { path, level, depth: place.depth + 1 };
  }
  return place;
}
