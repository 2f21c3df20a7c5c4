import type { GlobState } from '../../text/glob/compile-glob.js';
import { asFolder, type BytePath, fromBytePath, splitPath } from '../byte-path.js';
import { agentFiles, type IgnoreLevel } from '../ignore/ignore-rules.js';
import type { Visibility } from './visibility.js';

const maxFolders = 10_000;

/** A visible directory: the agent's rules for its entries, and the rest of the glob that applies in it. */
interface Folder {
  level: IgnoreLevel;
  glob?: GlobState | undefined;
}

type VisibleOptions = Folder & Pick<Visibility, 'disregard' | 'canRead'>;

/** Which of the paths that ripgrep prints are shown. It knows neither our globs, nor agents' ignore files, nor deny rules. */
export class VisiblePaths {
  readonly #top: BytePath;
  readonly #options: VisibleOptions;
  /** By path with a slash at the end; `undefined` for a hidden one. */
  readonly #folders = new Map<BytePath, Folder | undefined>();
  #last: { path: BytePath; folder: Folder | undefined };

  constructor(directory: BytePath, options: VisibleOptions) {
    this.#top = asFolder(directory);
    this.#options = options;
    this.#last = { path: this.#top, folder: options };
  }

  /** The path of a directory ends in a slash. */
  has(path: BytePath): boolean {
    if (path.endsWith('/')) return this.#folderAt(path) !== undefined;
    const [directory, name] = splitPath(path);
    const folder = this.#folderAt(directory);
    if (folder === undefined || folder.glob?.matches(fromBytePath(name)) === false) return false;
    return !this.#isHidden(folder, path, name, false);
  }

  #folderAt(path: BytePath): Folder | undefined {
    // Paths come directory by directory.
    if (this.#last.path !== path) this.#last = { path, folder: this.#find(path) };
    return this.#last.folder;
  }

  #find(path: BytePath): Folder | undefined {
    if (path === this.#top) return this.#options;
    if (!path.startsWith(this.#top)) return undefined;
    if (this.#folders.has(path)) return this.#folders.get(path);
    const [above, name] = splitPath(path.slice(0, -1));
    const parent = this.#find(above);
    const folder = parent && this.#enter(parent, path, name);
    if (this.#folders.size >= maxFolders) this.#folders.clear();
    this.#folders.set(path, folder);
    return folder;
  }

  #enter(parent: Folder, path: BytePath, name: string): Folder | undefined {
    const glob = parent.glob?.enter(fromBytePath(name));
    if (parent.glob !== undefined && glob === undefined) return undefined;
    if (this.#isHidden(parent, path.slice(0, -1), name, true)) return undefined;
    // ripgrep applies git's rules.
    const level = parent.level.enter(name, (file) => agentFiles.includes(file));
    return { level, glob };
  }

  #isHidden({ level }: Folder, path: BytePath, name: string, isDirectory: boolean): boolean {
    const { disregard, canRead } = this.#options;
    if (disregard?.has('agent') !== true && level.isHiddenByAgent(name, isDirectory)) return true;
    return canRead?.(fromBytePath(path)) === false;
  }
}
