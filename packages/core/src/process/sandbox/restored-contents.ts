import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Snapshot } from './snapshots.js';

type Kept = Exclude<Snapshot, { type: 'other' }>;

const removed = { type: 'removed' } as const;

const maxAgeMs = 60 * 60 * 1000;
/** The times of files may be that far behind the clock. */
const clockMs = 10;

/**
 * What was put back at protected names, for other commands in the same tree, also those of another Lathe. One that started
 * while a name held something planted takes that for the content from before, and would put it back in the end.
 */
export class RestoredContents {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Call it before the content is put back, for then others lose their covers. Without content, when it was removed. */
  note(path: string, content?: Kept): void {
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    this.#removeOld();
    const kept =
      content?.type === 'file' ? { ...content, bytes: content.bytes.toString('base64') } : (content ?? removed);
    const file = this.#fileFor(path);
    const fresh = `${file}.${process.pid}`;
    writeFileSync(fresh, JSON.stringify(kept), { mode: 0o600 });
    renameSync(fresh, file);
  }

  /** What was put back at this name since a time, in milliseconds. What was removed had no content that may come back. */
  since(path: string, time: number): Snapshot | undefined {
    const kept = this.#read(path, time);
    return kept?.type === 'removed' ? { type: 'other' } : kept;
  }

  wasRemovedSince(path: string, time: number): boolean {
    return this.#read(path, time)?.type === 'removed';
  }

  #read(path: string, time: number): Kept | typeof removed | undefined {
    try {
      const file = this.#fileFor(path);
      if (statSync(file).mtimeMs + clockMs < time) return undefined;
      const kept = JSON.parse(readFileSync(file, 'utf8'));
      return kept.type !== 'file' ? kept : { ...kept, bytes: Buffer.from(kept.bytes, 'base64') };
    } catch {
      return undefined;
    }
  }

  #fileFor(path: string): string {
    return join(this.#directory, createHash('sha256').update(path).digest('hex'));
  }

  #removeOld(): void {
    for (const name of readdirSync(this.#directory)) {
      const file = join(this.#directory, name);
      const age = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
      if (age > maxAgeMs) rmSync(file, { force: true });
    }
  }
}
