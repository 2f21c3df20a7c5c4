import { createHash } from 'node:crypto';
import { lstatSync, readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { foldPath } from '../files/access/protected-paths.js';
import { readBytes } from '../settings/read-bounded.js';

/** A file of a plugin. */
export interface PluginFile {
  content: Buffer;
  isExecutable: boolean;
}

/** All files of a plugin by their path, with `/` between names. What is shown, agreed to and written is this one value. */
export type PluginFiles = ReadonlyMap<string, PluginFile>;

export const maxPluginBytes = 20 * 1024 * 1024;
const maxFiles = 2_000;
const maxDepth = 12;

/** Collects the files of a plugin. Throws when there are too many, or one has a name that could lead elsewhere. */
export class PluginFileSet {
  readonly files = new Map<string, PluginFile>();
  /** Files and folders as they were spelled, folders with a slash, by the spelling that a Mac sees. */
  readonly #spellings = new Map<string, string>();
  #bytes = 0;

  add(path: string, file: PluginFile): void {
    if (isLeftBehind(path, file)) return;
    const problem = pathProblem(path);
    if (problem !== undefined) throw new Error(`${JSON.stringify(path)} is refused: ${problem}`);
    for (const { index } of path.matchAll(/\/|$/g)) {
      const spelling = path.slice(0, index + 1);
      const folded = foldPath(path.slice(0, index)).join('/');
      const known = this.#spellings.get(folded);
      if (known !== undefined && (spelling === path || known !== spelling))
        throw new Error(`${JSON.stringify(path)} is there twice`);
      this.#spellings.set(folded, spelling);
    }
    this.#bytes += file.content.length;
    if (this.#bytes > maxPluginBytes) throw new Error(`it holds more than ${maxPluginBytes / 1024 / 1024} MB`);
    if (this.files.size >= maxFiles) throw new Error(`it has more than ${maxFiles} files`);
    this.files.set(path, file);
  }
}

function pathProblem(path: string): string | undefined {
  const names = path.split('/');
  if (names.length > maxDepth) return `it is more than ${maxDepth} folders deep`;
  if (/[\\:\p{Cc}\p{Cf}\p{Surrogate}]/u.test(path)) return 'it has a character that file names should not have';
  if (names.some((name) => name === '' || name === '.' || name === '..' || /[. ]$/.test(name) || name.length > 200))
    return 'it is not a plain relative path';
  return foldPath(path).includes('.git') ? 'it belongs to git' : undefined;
}

/**
 * What programs leave behind when they run is not part of a plugin or skill. Compiled Python counts as that only if it is
 * bound to the time of its source, as Python writes it: other compiled code is run whatever the source says.
 */
function isLeftBehind(path: string, { content }: PluginFile): boolean {
  if (/(?:^|\/)\.DS_Store$/.test(path)) return true;
  return /(?:^|\/)__pycache__\/[^/]+\.pyc$/.test(path) && content.length >= 16 && content.readUInt32LE(4) === 0;
}

/** Reads a folder, without git's own data. Symlinks, pipes and devices are refused. */
export function readTree(root: string): PluginFiles {
  const set = new PluginFileSet();
  const visit = (folder: string, prefix: string) => {
    for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name === '.git') continue;
      const path = `${prefix}${entry.name}`;
      const full = join(folder, entry.name);
      if (entry.isDirectory() && path.split('/').length <= maxDepth) visit(full, `${path}/`);
      else if (!entry.isFile()) throw new Error(`${JSON.stringify(path)} is refused: it is not a regular file`);
      else {
        const content = readBytes(full, maxPluginBytes) ?? Buffer.alloc(0);
        set.add(path, { content, isExecutable: (lstatSync(full).mode & 0o100) !== 0 });
      }
    }
  };
  visit(root, '');
  return set.files;
}

/** Changes with any byte, name or mode. */
export function filesHash(files: PluginFiles): string {
  const hash = createHash('sha256');
  for (const [path, { content, isExecutable }] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const own = createHash('sha256').update(content).digest('hex');
    hash.update(`${JSON.stringify(path)} ${isExecutable} ${own}\n`);
  }
  return hash.digest('hex');
}

/** Writes the files below a new folder, private to this person and durable. */
export async function writeTree(root: string, files: PluginFiles): Promise<void> {
  await mkdir(root, { mode: 0o700 });
  for (const [path, { content, isExecutable }] of files) {
    const full = join(root, ...path.split('/'));
    await mkdir(dirname(full), { recursive: true, mode: 0o700 });
    await writeFile(full, content, { flag: 'wx', mode: isExecutable ? 0o700 : 0o600, flush: true });
  }
}
