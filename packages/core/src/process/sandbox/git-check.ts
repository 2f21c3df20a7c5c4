import { type Dirent, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isWithin } from '../../files/workspace.js';
import { isInitialConfig } from './neutral-config.js';
import { isTemporaryName } from './put-aside.js';

/** Everything in a git directory that git obeys or writes to, by its path: what it is, and where git looks for it. */
type GitState = ReadonlyMap<string, GitEntry>;

interface GitEntry {
  /** `file`, `directory`, `socket`, a link and its target, or something else. */
  kind: string;
  owner: Owner;
  /** The path below the directory of its repository, submodule or linked worktree. */
  place: string;
}

type Owner = 'repository' | 'submodule' | 'worktree';

const maxGitEntries = 20_000;

/** Thrown when there is too much to look at. */
class TooManyEntries extends Error {}

/** `undefined` if there are too many entries to look at. Objects are not looked at. */
export function readGitState(git: string): GitState | undefined {
  const state = new Map<string, GitEntry>();
  try {
    walk({ directory: git, place: '', owner: 'repository' }, state);
    return state;
  } catch (error) {
    if (error instanceof TooManyEntries) return undefined;
    throw error;
  }
}

/** The entries that a command must not have created. `before` is empty if there was no repository. */
export function plantedIn(before: GitState, after: GitState): string[] {
  const planted: string[] = [];
  for (const [path, entry] of after) {
    if (before.get(path)?.kind === entry.kind || planted.some((parent) => path.startsWith(`${parent}/`))) continue;
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
  // Another Lathe is putting something back. Git does not read such files.
  if (kind === 'file' && isTemporaryName(path)) return true;
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

/** Whether the work tree of a submodule, as its configuration names it, lies in that of the repository. */
function isInWorkTree(config: string, tree: string): boolean {
  const [top = ''] = config.split('/.git/modules/');
  return /^[^"\\#;~]+$/.test(tree) && isWithin(top, resolve(dirname(config), tree));
}

/** Directories with content under its hash, to which git and its helpers write by a rename only. */
const data = /^(?:objects\/(?!info$).*|(?:lfs|annex)\/objects)$/;

function walk(at: { directory: string; place: string; owner: Owner }, state: Map<string, GitEntry>): void {
  for (const entry of entriesOf(at.directory)) {
    if (state.size >= maxGitEntries) throw new TooManyEntries();
    const path = join(at.directory, entry.name);
    const place = at.place === '' ? entry.name : `${at.place}/${entry.name}`;
    const kind = kindOf(entry, path);
    const inner = kind === 'directory' ? innerOwner(path, place) : undefined;
    const found = { owner: inner ?? at.owner, place: inner === undefined ? place : '' };
    state.set(path, { kind, ...found });
    if (kind === 'directory' && !data.test(place)) walk({ directory: path, ...found }, state);
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

function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
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
