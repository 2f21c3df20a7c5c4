import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Random } from './random.js';

/** What one system call of a recorded program did to the files below a directory. */
type Operation =
  | { type: 'write'; inode: number; offset: number; length: number }
  /** Of a file, or of the names in a directory. */
  | { type: 'sync'; inode: number | undefined; directory: string }
  /** A change of the names in one directory; `to` is `undefined` when the name goes. */
  | { type: 'names'; directory: string; changes: readonly { path: string; to: Entry | undefined }[] };

type Entry = { inode: number } | { link: string } | 'directory';

/** A program's changes of files, so that any state can be made that a power failure may leave. */
export interface Recording {
  root: string;
  operations: readonly Operation[];
  /** The names before. */
  before: ReadonlyMap<string, Entry>;
  contents: ReadonlyMap<number, Buffer>;
  /** Inodes that were there before, whole. */
  durable: ReadonlySet<number>;
}

type StoredEntry = Buffer | { link: string } | 'directory';

/** The files below a directory, by path. */
export function filesIn(root: string): Map<string, StoredEntry> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  return new Map(
    entries.map((entry): [string, StoredEntry] => {
      const path = join(entry.parentPath, entry.name);
      if (entry.isDirectory()) return [path, 'directory'];
      return [path, entry.isSymbolicLink() ? { link: readlinkSync(path) } : readFileSync(path)];
    }),
  );
}

/**
 * Reads what `strace -y` recorded of a program that has ended. The bytes of writes come from the files as they are now.
 */
export function readRecording(root: string, trace: string, before: ReturnType<typeof filesIn>): Recording {
  const reader = new TraceReader(root, before);
  for (const line of trace.split('\n')) reader.add(line);
  return reader.recording();
}

class TraceReader {
  readonly #root: string;
  readonly #names = new Map<string, Entry>();
  readonly #before: ReadonlyMap<string, Entry>;
  readonly #contents = new Map<number, Buffer>();
  readonly #durable = new Set<number>();
  readonly #operations: Operation[] = [];
  readonly #descriptors = new Map<string, string>();
  #inodes = 0;

  constructor(root: string, before: ReturnType<typeof filesIn>) {
    this.#root = root;
    for (const [path, content] of before) {
      if (!Buffer.isBuffer(content)) this.#names.set(path, content);
      else {
        const inode = ++this.#inodes;
        this.#names.set(path, { inode });
        this.#contents.set(inode, content);
        this.#durable.add(inode);
      }
    }
    this.#before = new Map(this.#names);
  }

  recording(): Recording {
    for (const [path, entry] of this.#names)
      if (typeof entry === 'object' && 'inode' in entry) this.#contents.set(entry.inode, readFileSync(path));
    return {
      root: this.#root,
      operations: this.#operations,
      before: this.#before,
      contents: this.#contents,
      durable: this.#durable,
    };
  }

  add(line: string): void {
    const [, call = '', rest = '', result = ''] = /^(\w+)\((.*)\) += (\S.*)$/.exec(line) ?? [];
    if (call === '' || result.startsWith('-1')) return;
    const paths = [...rest.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => this.#pathOf(text));
    const [first = '', second = ''] = paths;
    const described = /^\d+<([^>]*)>/.exec(rest)?.[1] ?? '';
    switch (call) {
      case 'open':
      case 'openat':
        return this.#open(first, rest, result);
      case 'write':
      case 'pwrite64':
        return this.#write(described, rest, result);
      case 'fsync':
      case 'fdatasync':
        return this.#sync(described);
      case 'rename':
      case 'renameat2':
        return this.#change([
          { path: first, to: undefined },
          { path: second, to: this.#names.get(first) },
        ]);
      case 'link':
      case 'linkat':
        return this.#change([{ path: second, to: this.#names.get(first) }]);
      case 'unlink':
      case 'unlinkat':
      case 'rmdir':
        return this.#change([{ path: first, to: undefined }]);
      case 'mkdir':
      case 'mkdirat':
        return this.#change([{ path: first, to: 'directory' }]);
      case 'symlink':
        return this.#change([{ path: second, to: { link: /"((?:[^"\\]|\\.)*)"/.exec(rest)?.[1] ?? '' } }]);
      case 'ftruncate':
      case 'truncate':
      case 'pwritev':
      case 'writev':
      case 'copy_file_range':
        if (this.#isOurs(described) || this.#isOurs(first)) throw new Error(`not modelled: ${line}`);
    }
  }

  /** `/proc/self/fd/20/name` is in the directory that was opened as 20. */
  #pathOf(text: string): string {
    const [, descriptor = '', name = ''] = /^\/proc\/self\/fd\/(\d+)\/(.*)$/.exec(text) ?? [];
    return name === '' ? text : join(this.#descriptors.get(descriptor) ?? '', name);
  }

  #isOurs(path: string): boolean {
    return path.startsWith(`${this.#root}/`);
  }

  #open(path: string, rest: string, result: string): void {
    const [, descriptor = '', real = ''] = /^(\d+)<([^>]*)>/.exec(result) ?? [];
    this.#descriptors.set(descriptor, real);
    if (/\bO_CREAT\b/.test(rest) && !this.#names.has(path)) this.#change([{ path, to: { inode: ++this.#inodes } }]);
  }

  #write(path: string, rest: string, result: string): void {
    const entry = this.#names.get(path);
    if (typeof entry !== 'object' || !('inode' in entry)) return;
    const [, text, cut] = /^[^"]*"((?:[^"\\]|\\.)*)"(\.\.\.)?/.exec(rest) ?? [];
    // Of a file that is gone in the end, if the trace has all of it.
    if (text !== undefined && cut === undefined) this.#contents.set(entry.inode, unescape(text));
    const offset = Number(/, (\d+)$/.exec(rest.replace(/^.*"(?:\.\.\.)?, \d+/, ''))?.[1] ?? 0);
    this.#operations.push({ type: 'write', inode: entry.inode, offset, length: Number(result.split(' ')[0]) });
  }

  #sync(path: string): void {
    if (!this.#isOurs(path) && path !== this.#root) return;
    const entry = this.#names.get(path);
    const inode = typeof entry === 'object' && 'inode' in entry ? entry.inode : undefined;
    this.#operations.push({ type: 'sync', inode, directory: inode === undefined ? path : '' });
  }

  #change(changes: readonly { path: string; to: Entry | undefined }[]): void {
    const ours = changes.filter(({ path }) => this.#isOurs(path));
    if (ours.length === 0) return;
    const directories = new Set(ours.map(({ path }) => dirname(path)));
    if (directories.size > 1) throw new Error('a rename between directories is not modelled');
    for (const { path, to } of ours) {
      if (to === undefined) this.#names.delete(path);
      else this.#names.set(path, to);
    }
    this.#operations.push({ type: 'names', directory: [...directories].join(''), changes: ours });
  }
}

const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r', v: '\v', f: '\f' };

/** A string as strace prints it. */
function unescape(text: string): Buffer {
  const plain = text.replace(/\\(?:([0-7]{1,3})|(.))/g, (_, octal: string | undefined, letter: string) =>
    octal === undefined ? (escapes[letter] ?? letter) : String.fromCharCode(Number.parseInt(octal, 8)),
  );
  return Buffer.from(plain, 'latin1');
}

/**
 * Makes the files as a power failure after the first `cut` operations may leave them. What was flushed is there. Each
 * other write is there with `probability`, or in part, and each other change of a name, in any combination.
 */
export function afterPowerLoss(recording: Recording, cut: number, random: Random, probability: number): void {
  const done = recording.operations.slice(0, cut);
  const isFlushed = (index: number, isSame: (sync: Extract<Operation, { type: 'sync' }>) => boolean) =>
    done.some((later, at) => at > index && later.type === 'sync' && isSame(later));
  const names = new Map(recording.before);
  const contents = new Map([...recording.durable].map((inode) => [inode, recording.contents.get(inode)]));
  for (const [index, operation] of done.entries()) {
    const survives = () => random() < probability;
    if (operation.type === 'names') {
      const { directory } = operation;
      if (!isFlushed(index, (sync) => sync.directory === directory) && !survives()) continue;
      for (const { path, to } of operation.changes) {
        if (to === undefined) names.delete(path);
        else names.set(path, to);
      }
    } else if (operation.type === 'write') {
      const { inode, offset, length } = operation;
      const isWhole = isFlushed(index, (sync) => sync.inode === inode) || survives();
      const kept = isWhole ? length : Math.floor(random() * length * probability);
      contents.set(inode, overlay(contents.get(inode), recording.contents.get(inode), offset, kept));
    }
  }
  make(recording.root, names, contents);
}

function overlay(old: Buffer | undefined, whole: Buffer | undefined, offset: number, length: number): Buffer {
  const piece = (whole ?? Buffer.alloc(offset + length)).subarray(offset, offset + length);
  const result = Buffer.alloc(Math.max(old?.length ?? 0, offset + piece.length));
  old?.copy(result);
  piece.copy(result, offset);
  return result;
}

function make(
  root: string,
  names: ReadonlyMap<string, Entry>,
  contents: ReadonlyMap<number, Buffer | undefined>,
): void {
  for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true, force: true });
  const directories = new Set([root]);
  for (const path of [...names.keys()].sort()) {
    const entry = names.get(path);
    // What lies in a directory that was lost is lost.
    if (entry === undefined || !directories.has(dirname(path)) || basename(path) === '') continue;
    if (entry === 'directory') {
      mkdirSync(path, { mode: 0o700 });
      directories.add(path);
    } else if ('link' in entry) symlinkSync(entry.link, path);
    else writeFileSync(path, contents.get(entry.inode) ?? '', { mode: 0o600 });
  }
}
