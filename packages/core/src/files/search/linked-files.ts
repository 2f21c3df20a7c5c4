import { realpathSync, statSync } from 'node:fs';
import type { Yielder } from '../../async/yielder.js';
import { mayShowLink, type Visibility } from '../access/visibility.js';
import { asFolder, type BytePath, fromBytePath, splitPath, systemPath } from '../byte-path.js';
import { codeOf } from '../fs-error.js';
import { directoryEntries } from './directory-entries.js';
import type { SearchTree } from './search-tree.js';
import type { WalkNotes } from './walk-notes.js';

interface LinkOptions extends Visibility {
  /** Whether a symlink may lead to this real path. */
  isInside: (path: string) => boolean;
  notes: WalkNotes;
}

/** Reading this many costs some 40 ms. */
const maxFolders = 2000;

/**
 * Symlinks to files, which `rg --files` leaves out, in the directories in which ripgrep found files and those above
 * them. With `--follow`, ripgrep would walk everything that a symlink leads to, outside the workspace too.
 */
export class LinkedFiles {
  readonly #tree: SearchTree;
  readonly #options: LinkOptions;
  readonly #read = new Set<BytePath>();

  constructor(tree: SearchTree, options: LinkOptions) {
    this.#tree = tree;
    this.#options = options;
  }

  /** Those in a directory, which ends in a slash, and in the ones above it, unless they were returned before. */
  async upFrom(directory: BytePath, yielder: Yielder): Promise<BytePath[]> {
    const top = asFolder(this.#tree.path);
    const links: BytePath[] = [];
    for (
      let folder = directory;
      folder.startsWith(top) && !this.#read.has(folder);
      [folder] = splitPath(folder.slice(0, -1))
    ) {
      if (this.#read.size === maxFolders) {
        this.#options.notes.add('symlinks not looked for', folder);
        break;
      }
      this.#read.add(folder);
      if (this.#tree.visible.has(folder)) await this.#addLinks(links, folder, yielder);
    }
    return links;
  }

  async #addLinks(links: BytePath[], folder: BytePath, yielder: Yielder): Promise<void> {
    const { rules, disregard } = this.#options;
    try {
      for (const entry of directoryEntries(folder)) {
        if (yielder.shouldYield) await yielder.yield();
        if (!entry.isSymbolicLink() || !this.#isShown(folder + entry.name)) continue;
        const hider = rules.in(folder.slice(0, -1)).hiderOf(entry.name, false, disregard);
        if (hider === undefined) links.push(folder + entry.name);
      }
    } catch (error) {
      // ripgrep complains about a directory that cannot be read.
      if (codeOf(error) === undefined) throw error;
    }
  }

  #isShown(path: BytePath): boolean {
    if (!this.#tree.visible.has(path) || !mayShowLink(path, this.#options)) return false;
    try {
      const real = realpathSync.native(systemPath(path), { encoding: 'latin1' });
      return this.#options.isInside(fromBytePath(real)) && statSync(systemPath(real)).isFile();
    } catch {
      // It leads nowhere.
      return false;
    }
  }
}
