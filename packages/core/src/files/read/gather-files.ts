import { statSync } from 'node:fs';
import { basename, extname, relative } from 'node:path';
import { ToolError } from '../../contract/errors.js';
import { compileGlob, type Glob, splitGlob } from '../../text/glob/compile-glob.js';
import { sensitivityOf } from '../access/protected-paths.js';
import { hiddenReason, isHiddenPlace, type Visibility } from '../access/visibility.js';
import { fromBytePath, toBytePath } from '../byte-path.js';
import { osPath } from '../file-name.js';
import { walk } from '../search/walk.js';
import { WalkNotes } from '../search/walk-notes.js';
import { isWithin, type Location, type Workspace } from '../workspace.js';

/** What a call asks for: a file by its name, or all matching files below a directory. */
export type Wanted =
  | { type: 'file'; location: Location }
  | { type: 'files'; directory: Location; pattern: string; glob: Glob }
  | { type: 'nothing'; name: string; reason: string };

export interface Gathered {
  /** Real paths, sorted, each once. `isNamed` when the file or its kind was asked for by name. */
  files: { path: string; isNamed: boolean }[];
  skipped: { path: string; reason: string }[];
  notes: string[];
}

export interface GatherOptions extends Visibility {
  workspace: Workspace;
  /** Patterns of what to leave out. */
  exclude: readonly string[];
  useDefaultExcludes: boolean;
  signal: AbortSignal;
}

const maxFiles = 10_000;
/** A backslash alone is the escape of an odd name. */
const isPattern = /[*?[{]/;

/** Whether `name` is a file, a directory or a pattern. A name that exists is taken literally, whatever is in it. */
export async function resolveWanted(name: string, locate: (path: string) => Promise<Location>): Promise<Wanted> {
  try {
    const location = await locate(name);
    const stat = statSync(osPath(location.path), { throwIfNoEntry: false });
    if (stat?.isDirectory()) return filesIn(location, '**/*');
    if (stat !== undefined || !isPattern.test(name)) return { type: 'file', location };
    const { base, rest } = splitGlob(name);
    return filesIn(await locate(base || '.'), rest);
  } catch (error) {
    // A pattern that is too large throws a RangeError.
    if (!(error instanceof ToolError || error instanceof RangeError)) throw error;
    return { type: 'nothing', name: name.slice(0, 200), reason: error.message };
  }
}

function filesIn(directory: Location, pattern: string): Wanted {
  return { type: 'files', directory, pattern, glob: compileGlob(pattern, { ignoreCase: true }) };
}

/** Every wanted file, once. A file that cannot be read is listed as skipped and does not stop the rest. */
export async function gatherFiles(wanted: readonly Wanted[], options: GatherOptions): Promise<Gathered> {
  const files = new Map<string, boolean>();
  const skipped: Gathered['skipped'] = [];
  const notes = new WalkNotes();
  for (const want of wanted) {
    if (want.type === 'nothing') skipped.push({ path: want.name, reason: want.reason });
    else if (want.type === 'file') {
      if (isHiddenPlace(want.location, options)) skipped.push({ path: want.location.path, reason: hiddenReason });
      else files.set(want.location.path, true);
    } else {
      for await (const path of filesBelow(want, options, notes, skipped)) {
        files.set(path, (files.get(path) ?? false) || isMentioned(path, want.pattern));
        if (files.size >= maxFiles) break;
      }
    }
  }
  const sorted = [...files].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, isNamed]) => ({ path, isNamed }));
  const isFull = files.size >= maxFiles;
  return { files: sorted, skipped, notes: [...notes.lines(), ...(isFull ? [`(stopped at ${maxFiles} files)`] : [])] };
}

async function* filesBelow(
  { directory, glob }: Extract<Wanted, { type: 'files' }>,
  options: GatherOptions,
  notes: WalkNotes,
  skipped: Gathered['skipped'],
): AsyncGenerator<string> {
  const isExcluded = excluder(options, directory.path);
  const visited = walk({
    ...options,
    directory: toBytePath(directory.path),
    notes,
    glob: glob.start,
    canRead: (path) => !isExcluded(path) && mayRead(path, directory, options),
  });
  for await (const { path, files, links } of visited) {
    for (const name of files) yield fromBytePath(path + name);
    for (const name of links) {
      const target = await linkedFile(fromBytePath(path + name), directory, options);
      if (typeof target === 'string') yield target;
      else if (target !== undefined) skipped.push(target);
    }
  }
}

/** The target of a symlink, if it is a file that may be read without asking. */
async function linkedFile(path: string, directory: Location, options: GatherOptions) {
  const location = await options.workspace.locate(path).catch(() => undefined);
  const stat = location && statSync(osPath(location.path), { throwIfNoEntry: false });
  if (location === undefined || stat?.isFile() !== true) return undefined;
  const isNear = location.inside || isWithin(directory.path, location.path);
  if (!isNear) return { path, reason: 'it leads outside the workspace' };
  const isReadable = [location.path, path].every((name) => mayRead(name, directory, options));
  return isReadable ? location.path : undefined;
}

/** Secrets are read only when a call names them, not when a glob matches them. */
function mayRead(path: string, directory: Location, { canRead, workspace }: GatherOptions): boolean {
  if (canRead?.(path) === false || sensitivityOf(path) !== undefined) return false;
  return directory.secret !== undefined || workspace.secrecyOf(path) === undefined;
}

function excluder(options: GatherOptions, directory: string): (path: string) => boolean {
  const globs = options.exclude
    // A pattern without a slash is meant for names at any depth; one for the content of a directory also for the directory.
    .flatMap((pattern) => [pattern, pattern.replace(/\/\*\*(?:\/\*)?$/, '')])
    .map((pattern) => compileGlob(pattern.includes('/') ? pattern : `**/${pattern}`, { ignoreCase: true }));
  const root = options.workspace.contains(directory) ? options.workspace.root : directory;
  return (path) => {
    const way = relative(root, path);
    return (options.useDefaultExcludes && isExcludedByDefault(path)) || globs.some((glob) => glob.matches(way));
  };
}

/** A pattern that names the extension or the name of a file means that kind of file, also when it is not text. */
function isMentioned(path: string, pattern: string): boolean {
  const last = basename(pattern).toLowerCase();
  const [extension, name] = [extname(path).toLowerCase(), basename(path, extname(path)).toLowerCase()];
  return (extension !== '' && last.includes(extension)) || (name !== '' && last.includes(name));
}

/** What a glob over many files leaves out by default: generated files, and files that are not text. */
function isExcludedByDefault(path: string): boolean {
  const name = basename(path);
  return names.has(name) || extensions.has(extname(name).slice(1).toLowerCase());
}

const names = words(`
  node_modules .git bower_components .svn .hg .vscode .idea dist build coverage __pycache__ .DS_Store .env QWEN.md
`);

const extensions = words(`
  bin exe dll so dylib class jar war o a obj wasm pyc pyo zip tar gz bz2 xz zst rar 7z iso dat db sqlite sqlite3
  doc docx xls xlsx ppt pptx odt ods odp woff woff2 ttf eot
`);

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}
