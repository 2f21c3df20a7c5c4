import { statSync } from 'node:fs';
import { setTimeout as setTimer } from 'node:timers';
import { Worker } from 'node:worker_threads';
import { type BytePath, systemPath } from './byte-path.js';
import { codeOf } from './fs-error.js';
import { keptShapes } from './kept-shapes.js';

/** A second thread is worth its start only for more files than this. */
const manyFiles = 10_000;

// Text, because the command line is one bundle in which a worker has no file of its own.
const program = `
const { parentPort, workerData: answered } = require('node:worker_threads');
const { statSync } = require('node:fs');
const options = { throwIfNoEntry: false };
// One at least, as in kept-shapes.ts.
let kept;
const timeOf = (path) => {
  try {
    kept = statSync(path, options);
    return kept?.isFile() === true ? kept.mtimeMs : NaN;
  } catch (error) {
    return error.code === 'ELOOP' ? NaN : -Infinity;
  }
};
parentPort.on('message', (text) => {
  const names = text.split('\\0');
  const paths = /[\\x80-\\xff]/.test(text) ? names.map((name) => Buffer.from(name, 'latin1')) : names;
  // A loop: what makes an array from another one takes twice as long.
  const times = new Float64Array(paths.length);
  for (let index = 0; index < paths.length; index++) times[index] = timeOf(paths[index]);
  Atomics.add(answered, 0, 1);
  parentPort.postMessage(times, [times.buffer]);
});`;

export function startThread(answered: Int32Array): Worker {
  return new Worker(program, {
    eval: true,
    workerData: answered,
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
  });
}

const quietly = { throwIfNoEntry: false } as const;

/** Of a file in a directory that may be listed but not entered; older than all others. */
export const unknownTime = Number.NEGATIVE_INFINITY;

/** Piles that the second thread has at most, so that it has work while the first one is busy with its own. */
const pilesAhead = 4;
/** The second thread waits this long for the next search, because starting one costs as much as the times of 10,000 files. */
const defaultIdleMs = 60_000;

/**
 * When files were last changed. Asking the file system is most of the work of finding the newest of very many files, so
 * a second thread then takes every pile that it has room for.
 */
export class FileTimes {
  readonly #startThread: (answered: Int32Array) => Worker;
  readonly #idleMs: number;
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #searches = 0;
  #asked = 0;
  #sent = 0;
  /** Counted by the second thread itself: its answers come to this one only when the event loop runs. */
  #answered: Int32Array = new Int32Array();
  #hasFailed = false;
  /** One per pile in the second thread, which answers in order. */
  readonly #waiting: { resolve: (times: Float64Array) => void; reject: (error: Error) => void }[] = [];

  constructor({ start = startThread, idleMs = defaultIdleMs } = {}) {
    this.#startThread = start;
    this.#idleMs = idleMs;
  }

  /** A search begins. */
  open(): void {
    this.#searches++;
    clearTimeout(this.#idle);
    this.#worker?.ref();
  }

  /** A search has ended. */
  close(): void {
    if (--this.#searches > 0) return;
    this.#asked = 0;
    this.#hasFailed = false;
    // What nobody waits for any more may take any time.
    if (this.#waiting.splice(0).length > 0) this.#end();
    if (this.#worker === undefined) return;
    this.#worker.unref();
    this.#idle = setTimer(() => this.#end(), this.#idleMs).unref();
  }

  /** There are going to be very many files: the second thread starts at once, if the system has one to give. */
  expectMany(): void {
    if (this.#hasFailed) return;
    try {
      this.#worker ??= this.#start();
    } catch {
      this.#hasFailed = true;
    }
  }

  /**
   * Starts on a pile of files in the other thread; `undefined` when that is busy, not worth it yet, or not to be had.
   * Rejects when the thread ends before it has answered.
   */
  startElsewhere(paths: readonly BytePath[]): Promise<Float64Array> | undefined {
    this.#asked += paths.length;
    if (this.#asked >= manyFiles) this.expectMany();
    if (this.#worker === undefined || this.#sent - Atomics.load(this.#answered, 0) >= pilesAhead) return undefined;
    this.#sent++;
    this.#worker.postMessage(paths.join('\0'));
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  #start(): Worker {
    this.#sent = 0;
    this.#answered = new Int32Array(new SharedArrayBuffer(4));
    const worker = this.#startThread(this.#answered);
    const fail = (error: Error) => {
      this.#hasFailed = this.#searches > 0;
      this.#end();
      for (const { reject } of this.#waiting.splice(0)) reject(error);
    };
    worker.on('error', fail);
    worker.on('exit', () => fail(new Error('The thread that reads file times has ended.')));
    worker.on('message', (times: Float64Array) => this.#waiting.shift()?.resolve(times));
    return worker;
  }

  #end(): void {
    // It may still fail before it is gone.
    this.#worker?.removeAllListeners().on('error', () => {});
    void this.#worker?.terminate();
    this.#worker = undefined;
  }

  /**
   * NaN for what is no regular file: gone since it was listed, or a link that leads nowhere or to a directory.
   * `unknownTime` when the system does not say.
   */
  of(path: BytePath): number {
    try {
      const stat = statSync(systemPath(path), quietly);
      keptShapes.stat = stat;
      return stat?.isFile() === true ? stat.mtimeMs : Number.NaN;
    } catch (error) {
      return codeOf(error) === 'ELOOP' ? Number.NaN : unknownTime;
    }
  }
}
