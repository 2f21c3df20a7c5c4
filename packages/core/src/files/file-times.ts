import { statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { type BytePath, systemPath } from './byte-path.js';

/** A second thread is worth its start only for more files than this. */
const manyFiles = 10_000;

// Text, because the command line is one bundle in which a worker has no file of its own.
const program = `
const { parentPort } = require('node:worker_threads');
const { statSync } = require('node:fs');
parentPort.on('message', (paths) => {
  const times = Float64Array.from(paths.split('\\0'), (path) => {
    try {
      const stat = statSync(/[\\x80-\\xff]/.test(path) ? Buffer.from(path, 'latin1') : path, { throwIfNoEntry: false });
      return stat?.isFile() === true ? stat.mtimeMs : NaN;
    } catch {
      return NaN;
    }
  });
  parentPort.postMessage(times, [times.buffer]);
});`;

/**
 * When files were last changed. Asking the file system is most of the work of finding the newest of very many files, so
 * a second thread then takes every second pile.
 */
export class FileTimes {
  #worker: Worker | undefined;
  #asked = 0;
  #isBusy = false;

  /** Starts on a pile of files in the other thread; `undefined` when that is busy, or not worth it yet. */
  startElsewhere(paths: readonly BytePath[]): Promise<Float64Array> | undefined {
    this.#asked += paths.length;
    if (this.#asked < manyFiles || this.#isBusy) return undefined;
    this.#worker ??= new Worker(program, { eval: true, env: {}, execArgv: [], stdout: true, stderr: true });
    const worker = this.#worker;
    this.#isBusy = true;
    return new Promise((resolve, reject) => {
      worker.removeAllListeners();
      worker.once('error', reject);
      worker.once('exit', () => reject(new Error('The thread that reads file times has ended.')));
      worker.once('message', (times: Float64Array) => {
        this.#isBusy = false;
        resolve(times);
      });
      worker.postMessage(paths.join('\0'));
    });
  }

  /** NaN for what is no regular file: gone since it was listed, or a link that leads nowhere or to a directory. */
  of(path: BytePath): number {
    try {
      const stat = statSync(systemPath(path), { throwIfNoEntry: false });
      return stat?.isFile() === true ? stat.mtimeMs : Number.NaN;
    } catch {
      return Number.NaN;
    }
  }

  async close(): Promise<void> {
    this.#worker?.removeAllListeners();
    await this.#worker?.terminate();
  }
}
