import { type FSWatcher, watch } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, extname, join, sep } from 'node:path';
import type { Visibility } from '../files/access/visibility.js';
import { isWithin } from '../files/workspace.js';
import { readSmallText } from './read-small-text.js';

type FileChange = { path: string; type: number };

/** The types of changes that `workspace/didChangeWatchedFiles` knows. */
const [created, changed, deleted] = [1, 2, 3];
const maxFiles = 5_000;
const maxDirectories = 2_000;
const skippedDirectories = new Set(['node_modules', '.git', '.venv', 'venv', '__pycache__', 'target', '.lathe']);
/** Files that say how the others are to be read. */
const configFiles = /^(?:[jt]sconfig.*\.json|package\.json|pyproject\.toml|pyrightconfig\.json|go\.mod|Cargo\.toml)$/;

/**
 * The files of one language: who imports whom, by the names in their import lines, and what changed on disk. Directories
 * are watched, because a language server that reads a file once keeps what it read.
 */
export class ProjectFiles {
  readonly #extensions: ReadonlySet<string>;
  readonly #visibility: Visibility;
  /** The words in the import lines of each file. */
  readonly #words = new Map<string, ReadonlySet<string>>();
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #touched = new Set<string>();
  readonly #ready: Promise<unknown>;
  #isClosed = false;

  constructor(roots: readonly string[], extensions: readonly string[], visibility: Visibility) {
    this.#extensions = new Set(extensions);
    this.#visibility = visibility;
    this.#ready = this.#scan(roots);
  }

  /** Files that import `path`, or import a file that does, nearest first. */
  async importersOf(path: string, limit: number): Promise<string[]> {
    await this.#ready;
    const found = new Set<string>();
    let names = namesOf(path);
    while (names.length > 0 && found.size < limit) {
      const next = [...this.#words].filter(
        ([file, words]) => file !== path && !found.has(file) && names.some((name) => words.has(name)),
      );
      for (const [file] of next.slice(0, limit - found.size)) found.add(file);
      names = [...new Set(next.flatMap(([file]) => namesOf(file)))];
    }
    return [...found];
  }

  /** What changed on disk since the last call. */
  async changes(): Promise<FileChange[]> {
    await this.#ready;
    const touched = [...this.#touched];
    this.#touched.clear();
    return (await Promise.all(touched.map((path) => this.#lookAt(path)))).flat();
  }

  close(): void {
    this.#isClosed = true;
    this.#unwatch('/');
  }

  async #lookAt(path: string): Promise<FileChange[]> {
    const info = await stat(path).catch(() => undefined);
    if (info === undefined) return this.#forget(path);
    if (info.isDirectory()) return this.#watchers.has(path) ? [] : this.#scan([path]);
    if (!info.isFile() || !this.#isOurs(path)) return [];
    const type = this.#words.has(path) ? changed : created;
    await this.#readWords(path);
    return [{ path, type }];
  }

  /** Removes a file, or a directory and all below it; returns the files as deleted ones. */
  #forget(path: string): FileChange[] {
    this.#unwatch(path);
    const gone = [...this.#words.keys()].filter((file) => isWithin(path, file));
    for (const file of gone) this.#words.delete(file);
    return gone.map((file) => ({ path: file, type: deleted }));
  }

  /** Adds directories and all below them; returns their files as created ones. */
  async #scan(directories: readonly string[]): Promise<FileChange[]> {
    const pending = [...directories];
    const all: FileChange[] = [];
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
      if (this.#isClosed || this.#words.size >= maxFiles || this.#watchers.size >= maxDirectories) break;
      if (!this.#mayEnter(next)) continue;
      const entries = await readdir(next, { withFileTypes: true }).catch(() => []);
      this.#watch(next);
      const paths = entries.filter((entry) => entry.isFile()).map(({ name }) => join(next, name));
      const ours = paths.filter((path) => this.#isOurs(path)).slice(0, maxFiles - this.#words.size);
      await Promise.all(ours.map((path) => this.#readWords(path)));
      all.push(...ours.map((path) => ({ path, type: created })));
      pending.push(...entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(next, name)));
    }
    return all;
  }

  #mayEnter(directory: string): boolean {
    if (skippedDirectories.has(basename(directory))) return false;
    const { rules, canRead } = this.#visibility;
    return rules.ignoredBy(directory, { isDirectory: true }) === undefined && canRead?.(directory) !== false;
  }

  #isOurs(path: string): boolean {
    const isWanted = this.#extensions.has(extname(path)) || configFiles.test(basename(path));
    return isWanted && this.#visibility.canRead?.(path) !== false;
  }

  async #readWords(path: string): Promise<void> {
    const text = this.#extensions.has(extname(path)) ? await readSmallText(path) : undefined;
    this.#words.set(path, new Set(text === undefined ? [] : importedWords(text)));
  }

  #watch(directory: string): void {
    if (this.#watchers.has(directory)) return;
    try {
      const watcher = watch(directory, { persistent: false }, (_event, name) => {
        if (name !== null && this.#touched.size < maxFiles) this.#touched.add(join(directory, name));
      });
      watcher.on('error', () => this.#unwatch(directory));
      this.#watchers.set(directory, watcher);
    } catch {
      // The system has no watches left: changes in this directory are seen when the file itself is edited.
    }
  }

  /** For a directory and all below it. */
  #unwatch(path: string): void {
    for (const [directory, watcher] of this.#watchers) {
      if (!isWithin(path, directory)) continue;
      watcher.close();
      this.#watchers.delete(directory);
    }
  }
}

const importLine = /(?:\b(?:from|import|require|include|use|mod|source|extends)\b|^\s*\.\s)([^\n;]{1,300})/gm;

/** Every word after a keyword that imports, in any language: a superset, because a file too many only costs time. */
function importedWords(text: string): string[] {
  return [...text.matchAll(importLine)].flatMap(([, rest = '']) => rest.split(/[^\w-]+/));
}

/** What an import of the file may call it. */
function namesOf(path: string): string[] {
  const [name = ''] = basename(path).split('.', 1);
  const folders = ['index', '__init__', 'mod', 'lib', 'main'].includes(name) ? dirname(path).split(sep).slice(-3) : [];
  return [name, ...folders].filter((each) => each !== '');
}
