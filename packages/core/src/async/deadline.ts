import { setMaxListeners } from 'node:events';
import { ToolError } from '../contract/errors.js';

/** Node turns longer delays into one millisecond. */
const longestTimer = 2 ** 31 - 1;

export interface Deadline {
  name: string;
  ms: number;
  /** How long the work may take to clean up after a request to stop, before the caller stops waiting. */
  graceMs: number;
  /** When the time does not count. */
  pauses?: Pauses;
}

/** Runs `work` with a signal of its own that aborts with `signal` or at the deadline. Never outlasts the grace. */
export async function withDeadline<T>(
  work: (signal: AbortSignal) => Promise<T>,
  deadline: Deadline,
  signal: AbortSignal,
): Promise<T> {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  let grace: NodeJS.Timeout | undefined;
  const abandoned = deferredRejection();
  const end = (reason: unknown) => {
    controller.abort(reason);
    grace ??= setTimeout(() => abandoned.reject(reason), deadline.graceMs);
  };
  const onAbort = () => end(signal.reason);
  const stopTimer = startTimer(() => end(timeoutError(deadline)), deadline);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([work(controller.signal), abandoned.promise]);
  } catch (error) {
    // Work that was asked to stop throws its own error. The reason for the request matters more.
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    stopTimer();
    clearTimeout(grace);
    signal.removeEventListener('abort', onAbort);
  }
}

/** Calls `onEnd` after the time of the deadline, pauses not counted. Returns how to stop it. */
function startTimer(onEnd: () => void, { ms, pauses }: Deadline): () => void {
  let left = ms;
  let startedAt = 0;
  let timer: NodeJS.Timeout | undefined;
  const stop = () => {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    left -= performance.now() - startedAt;
  };
  const update = () => {
    if (pauses?.isPaused) stop();
    else if (timer === undefined) {
      startedAt = performance.now();
      timer = setTimeout(onEnd, Math.min(Math.max(left, 0), longestTimer));
    }
  };
  pauses?.listen(update);
  update();
  return () => {
    pauses?.listen(undefined);
    stop();
  };
}

function timeoutError({ name, ms }: Deadline): ToolError {
  return new ToolError('execution_timeout', `${name} did not finish within ${ms / 1000} s and was stopped.`);
}

/** `promise`, or a rejection as soon as `signal` is aborted, whichever is first. Leaves no listener behind. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = deferredRejection();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** A promise that can only be rejected, from outside. */
function deferredRejection(): { promise: Promise<never>; reject: (reason: unknown) => void } {
  const handle: { reject?: (reason: unknown) => void } = {};
  const promise = new Promise<never>((_resolve, reject) => {
    handle.reject = reject;
  });
  return { promise, reject: (reason) => handle.reject?.(reason) };
}

/** Stops the clock of a deadline while work waits for somebody else, such as a person who is asked. */
export class Pauses {
  #count = 0;
  #onChange: (() => void) | undefined;

  get isPaused(): boolean {
    return this.#count > 0;
  }

  /** One deadline at a time listens. */
  listen(onChange: (() => void) | undefined): void {
    this.#onChange = onChange;
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#count++;
    this.#onChange?.();
    try {
      return await work();
    } finally {
      this.#count--;
      this.#onChange?.();
    }
  }
}
