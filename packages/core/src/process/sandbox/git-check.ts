import { type Dirent, lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isWithin } from '../../files/workspace.js';
import { hasForeignNames } from '../shell/git-index.js';
import { isInitialConfig } from './neutral-config.js';
import { isTemporaryName } from './put-aside.js';
import { entriesOf } from './read-entries.js';

/** Everything in a git directory that git obeys or writes to, by its path: what it is, and where git looks for it. */
type GitEntries = ReadonlyMap<string, GitEntry>;

export interface GitState {
  entries: GitEntries;
  /** Whether there were too many entries, so that those in bulky directories are left out. */
  isPartial: boolean;
}

interface GitEntry {
  /** `file`, `directory`, `socket`, a link and its target, or something else. */
  kind: string;
  owner: Owner;
  /** The path below the directory of its repository, submodule or linked worktree. */
  place: string;
  /** Changes with every write. Only of an index. */
  version?: string;
}

type Owner = 'repository' | 'submodule' | 'worktree';

const maxGitEntries = 20_000;

/** Thrown when there is too much to look at. */
class TooManyEntries extends Error {}

/** Objects are not looked at. If there are more entries than `most`, only those are that git may obey. */
export function readGitState(git: string, most = maxGitEntries): GitState {
  const top: Place = { directory: git, place: '', owner: 'repository' };
  try {
    const entries = new Map<string, GitEntry>();
    walk(top, { entries, most, skipped: data });
    return { entries, isPartial: false };
  } catch (error) {
    if (!(error instanceof TooManyEntries)) throw error;
    const entries = new Map<string, GitEntry>();
    walk(top, { entries, most: Number.POSITIVE_INFINITY, skipped: bulk });
    return { entries, isPartial: true };
  }
}

/** The entries that a command must not have created. `before` is empty if there was no repository. */
export function plantedIn(before: GitEntries, after: GitEntries): string[] {
  const planted: string[] = [];
  for (const [path, entry] of after) {
    const old = before.get(path);
    if (
      (old?.kind === entry.kind && old.version === entry.version) ||
      planted.some((parent) => path.startsWith(`${parent}/`))
    )
      continue;
    // Hooks that existed are covered, so what is new among them is the user's.
    const isCovered =
      entry.place.startsWith('hooks/') && before.has(path.slice(0, 'hooks'.length - entry.place.length));
    if (!isCovered && !mayAppear(path, entry)) planted.push(path);
  }
  return planted;
}

/** Files in the directory of a repository that git writes: HEAD, MERGE_MSG, index and their like, and locks on them. */
const gitFiles =
  /^(?:[A-Z][A-Z_]*|index|sharedindex\.\w+|packed-refs|shallow|description|gc\.(?:pid|log)|gitk\.cache)(?:\.lock|\.new|\.stash\.\d+(?:\.lock)?)?$|^(?:next-index-\d+|config)\.lock$/;
/** Files of editors and desktops that open these files. */
const editorFiles = /^\.?[A-Z][A-Z_]*(?:~|\.sw[a-p]|\.un~|\.patch)$|^addp-hunk-edit\.diff$|^\.DS_Store$/;
/** Directories that git makes, with what may be in them. */
const gitDirectories = [
  /^(?:refs|logs|rebase-merge|rebase-apply|sequencer|reftable)(?:\/.*)?$/,
  /^objects(?:\/(?:pack|[0-9a-f]{2}|info|tmp_\w+|incoming-\w+))?$/,
  /^objects\/info\/(?:packs|commit-graphs?|tmp_\w+|packs_\w+)(?:\.lock)?$/,
  /^info(?:\/(?:exclude|refs|sparse-checkout)(?:\.lock|_\w+)?)?$/,
  /^rr-cache(?:\/[0-9a-f]+(?:\/(?:preimage|postimage|thisimage)(?:\.\d+)?)?)?$/,
  /^(?:lfs|annex)(?:\/.*)?$/,
  /^(?:hooks|branches|worktrees|modules|fsmonitor--daemon)$/,
];

/** Only real files and directories, and only at places where git itself puts them. */
function mayAppear(path: string, { kind, owner, place }: GitEntry): boolean {
  if (place === 'fsmonitor--daemon.ipc') return kind === 'socket';
  if (kind !== 'file' && kind !== 'directory') return false;
  if (place === '') return true;
  if (place === 'config')
    return isInitialConfig(textOf(path) ?? '[', (tree) => owner === 'submodule' && isInWorkTree(path, tree));
  if (place.startsWith('hooks/')) return place.endsWith('.sample');
  if (kind === 'file') {
    // Another Lathe is putting something back. Git does not read such files.
    if (isTemporaryName(path)) return true;
    if (indexes.test(place)) return hasOnlyOwnFiles(path, owner);
  }
  // Names of submodules may have several segments.
  if (place.startsWith('modules/')) return kind === 'directory';
  if (owner === 'worktree' && place === 'commondir') return textOf(path) === '../..\n';
  return isGitPlace(place, { kind, owner });
}

function isGitPlace(place: string, { kind, owner }: Pick<GitEntry, 'kind' | 'owner'>): boolean {
  if (owner === 'worktree' && (place === 'gitdir' || place === 'locked')) return true;
  if (kind === 'file' && (gitFiles.test(place) || editorFiles.test(place))) return true;
  return gitDirectories.some((pattern) => pattern.test(place));
}

const indexes = /^(?:index|sharedindex\.\w+)$/;

/** Git checks the names of a commit, but not those of its index: it would write any file that one names. */
function hasOnlyOwnFiles(index: string, owner: Owner): boolean {
  const config = textOf(join(dirname(index), owner === 'worktree' ? '../..' : '.', 'config')) ?? '';
  const formats = [...config.matchAll(/^\s*objectformat\s*=\s*(.*?)\s*$/gim)].map(([, format]) => format);
  try {
    return !hasForeignNames(readFileSync(index), formats.length === 1 && formats[0] === 'sha256' ? 32 : 20);
  } catch {
    return false;
  }
}

/** Whether the work tree of a submodule, as its configuration names it, lies in that of the repository, not in `.git`. */
function isInWorkTree(config: string, tree: string): boolean {
  const [top = ''] = config.split('/.git/modules/');
  const place = resolve(dirname(config), tree);
  return /^[^"\\#;~]+$/.test(tree) && isWithin(top, place) && !isWithin(join(top, '.git'), place);
}

/** Directories with content under its hash, to which git and its helpers write by a rename only. */
const data = /^(?:objects\/(?!info$).*|(?:lfs|annex)\/objects)$/;

/** Also directories of which there may be many, with files of any name that git does not run. */
const bulk = new RegExp(
  `${data.source}|^(?:refs|logs|rebase-merge|rebase-apply|sequencer|reftable|rr-cache|lfs|annex)$`,
);

interface Place {
  directory: string;
  place: string;
  owner: Owner;
}

interface Walk {
  entries: Map<string, GitEntry>;
  most: number;
  /** Directories that are not entered. */
  skipped: RegExp;
}

function walk(at: Place, options: Walk): void {
  const { entries, most, skipped } = options;
  for (const entry of entriesOf(at.directory)) {
    if (entries.size >= most) throw new TooManyEntries();
    const path = join(at.directory, entry.name);
    const place = at.place === '' ? entry.name : `${at.place}/${entry.name}`;
    const kind = kindOf(entry, path);
    const inner = kind === 'directory' ? innerOwner(path, place) : undefined;
    const found = { owner: inner ?? at.owner, place: inner === undefined ? place : '' };
    const version = kind === 'file' && indexes.test(place) ? versionOf(path) : undefined;
    entries.set(path, { kind, ...found, ...(version !== undefined && { version }) });
    if (kind === 'directory' && !skipped.test(found.place)) walk({ directory: path, ...found }, options);
  }
}

function kindOf(entry: Dirent, path: string): string {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  if (entry.isSocket()) return 'socket';
  return entry.isSymbolicLink() ? `link to ${targetOf(path)}` : 'other';
}

/** A directory below `modules` is a submodule if it looks like one. */
function innerOwner(path: string, place: string): Owner | undefined {
  if (/^worktrees\/[^/]+$/.test(place)) return 'worktree';
  if (!place.startsWith('modules/')) return undefined;
  const names = entriesOf(path).map(({ name }) => name);
  return names.includes('HEAD') || names.includes('config') ? 'submodule' : undefined;
}

/** A program can set every time of a file but this one. */
function versionOf(path: string): string {
  const info = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return `${info?.ino}:${info?.size}:${info?.ctimeNs}`;
}

/** `undefined` if it cannot be read, which git never writes. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function targetOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
