import { defaultLimits, type HttpLimits } from '../http/http.js';
import { ModelError } from '../model-error.js';
import type { PartStream } from './language-model.js';

/** Reads the parts of a stream, and gives up on abort, or when nothing arrives or nothing ends for too long. */
export async function* readParts(
  open: (signal: AbortSignal) => PromiseLike<{ stream: PartStream }>,
  signal: AbortSignal,
  limits: Pick<HttpLimits, 'firstByteMs' | 'idleMs' | 'totalMs'> = defaultLimits,
): AsyncGenerator {
  const given = new AbortController();
  const giveUp = (message: string) => () => given.abort(new ModelError('timeout', message));
  const stop = AbortSignal.any([signal, given.signal]);
  const total = setTimeout(giveUp('The answer did not end in time.'), limits.totalMs);
  // A provider may ignore the signal.
  const stopped = new Promise<never>((_, reject) => {
    if (stop.aborted) reject(stop.reason);
    stop.addEventListener('abort', () => reject(stop.reason), { once: true });
  });
  stopped.catch(() => undefined);
  const within = async <T>(ms: number, work: PromiseLike<T>): Promise<T> => {
    const timer = setTimeout(giveUp(`The model fell silent: no data for ${ms / 1000} s.`), ms);
    return await Promise.race([work, stopped]).finally(() => clearTimeout(timer));
  };
  try {
    const { stream } = await within(limits.firstByteMs, open(stop));
    const reader = stream.getReader();
    try {
      for (let ms = limits.firstByteMs; ; ms = limits.idleMs) {
        const { done, value } = await within(ms, reader.read());
        if (done) return;
        yield value;
      }
    } finally {
      reader.cancel().then(undefined, () => undefined);
    }
  } finally {
    clearTimeout(total);
  }
}
