import { isUtf8 } from 'node:buffer';
import { type BytePath, isShownAsIs } from './byte-path.js';
import type { WalkedDirectory } from './walk.js';

/** What one run of ripgrep searches. */
export interface RgBatch {
  paths: string[];
  /** Directories of which only these names count, whatever a glob says of them. */
  only: Map<BytePath, Set<string>>;
  /** A path that no argument can hold: it is opened and passed as descriptor 3. */
  descriptor?: BytePath;
}

// Far below the limits of the systems (a quarter of the stack on Linux, mostly 2 MB; 1 MB on macOS, 32 KB on Windows).
const maxBytes = process.platform === 'win32' ? 16 << 10 : 700 << 10;

/** Ripgrep is started for this many paths, or for the last ones. */
const enoughPaths = 64;

/**
 * Turns walked directories into arguments. A directory of which everything counts is one argument: ripgrep then lists
 * it, in parallel, and skips binary files early. Otherwise its files are named one by one.
 */
export class RgBatches {
  /** Whether ripgrep itself leaves out what does not match the glob. */
  readonly #globIsPassed: boolean;
  readonly #unnameable: RgBatch[] = [];
  readonly #paths: string[] = [];
  /** The directories of `#only`. */
  readonly #partial: string[] = [];
  #only = new Map<BytePath, Set<string>>();
  #current: WalkedDirectory | undefined;
  #isOpen = true;
  #onReady = () => {};

  constructor({ globIsPassed }: { globIsPassed: boolean }) {
    this.#globIsPassed = globIsPassed;
  }

  /** No more will be added. */
  close(): void {
    this.#isOpen = false;
    this.#onReady();
  }

  /** Resolves as soon as there is enough to take, or all there will be. */
  async ready(): Promise<void> {
    if (!this.#isReady) await new Promise<void>((resolve) => (this.#onReady = resolve));
  }

  get #isReady(): boolean {
    return !this.#isOpen || this.size >= enoughPaths;
  }

  /** Paths that wait. */
  get size(): number {
    return this.#paths.length + this.#partial.length + this.#unnameable.length;
  }

  add(part: WalkedDirectory): void {
    const whole = this.#joined(part);
    if (!part.isComplete) {
      this.#current = whole;
      return;
    }
    this.#current = undefined;
    if (whole.files.length === 0) return;
    const path = argumentFor(whole.path);
    const isFiltered = this.#globIsPassed && !whole.files.some(isOdd);
    const isWhole = whole.hidden === 0 && (isFiltered || (whole.unmatched === 0 && !this.#globIsPassed));
    if (path === undefined) {
      const only = new Map([[whole.path, new Set(whole.files)]]);
      this.#unnameable.push({ paths: ['/proc/self/fd/3/'], only, descriptor: whole.path });
    } else if (isWhole) this.#paths.push(path);
    else this.#pushFiles(whole, path);
    if (this.#isReady) this.#onReady();
  }

  /** A file that is searched because it was named. */
  addFile(path: BytePath): void {
    const argument = argumentFor(path);
    if (argument !== undefined) this.#paths.push(argument);
    else this.#unnameable.push({ paths: ['/proc/self/fd/3'], only: new Map(), descriptor: path });
  }

  take(): RgBatch {
    const odd = this.#unnameable.pop();
    if (odd !== undefined) return odd;
    if (this.#paths.length > 0) return { paths: takeSome(this.#paths), only: new Map() };
    const batch = { paths: takeSome(this.#partial), only: this.#only };
    if (this.#partial.length === 0) this.#only = new Map();
    return batch;
  }

  #joined(part: WalkedDirectory): WalkedDirectory {
    const above = this.#current;
    if (above === undefined) return part;
    for (const name of part.files) above.files.push(name);
    return { ...above, hidden: above.hidden + part.hidden, unmatched: above.unmatched + part.unmatched };
  }

  #pushFiles({ path, files }: WalkedDirectory, argument: string): void {
    const names = files.map(argumentFor);
    if (names.includes(undefined)) {
      this.#only.set(path, new Set(files));
      this.#partial.push(argument);
    } else for (const name of names) this.#paths.push(argument + name);
  }
}

function takeSome(paths: string[]): string[] {
  let [count, bytes] = [0, 0];
  for (const path of paths) {
    bytes += Buffer.byteLength(path) + 9;
    if (bytes > maxBytes && count > 0) break;
    count++;
  }
  return paths.splice(0, count);
}

/** The glob holds for names as they are shown, which ripgrep does not know; to it, what ends in a dot has no name. */
function isOdd(name: string): boolean {
  return name.endsWith('.') || !isShownAsIs(name);
}

/** Arguments of a process are text; `undefined` for bytes that are not. */
export function argumentFor(path: BytePath): string | undefined {
  if (!/[\x80-\xff]/.test(path)) return path;
  const bytes = Buffer.from(path, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}
