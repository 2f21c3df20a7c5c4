import { defaultLimits } from '../http/http.js';
import { ModelError } from '../model-error.js';
import type { PartStream } from './language-model.js';

/** Reads the parts of a stream, and gives up when nothing arrives for too long. */
export async function* readParts(
  open: (signal: AbortSignal) => PromiseLike<{ stream: PartStream }>,
  signal: AbortSignal,
  limits: Pick<typeof defaultLimits, 'firstByteMs' | 'idleMs'> = defaultLimits,
): AsyncGenerator {
  const silence = new AbortController();
  const within = async <T>(ms: number, work: PromiseLike<T>): Promise<T> => {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const error = new ModelError('timeout', `The model fell silent: no data for ${ms / 1000} s.`);
        silence.abort(error);
        reject(error);
      }, ms);
    });
    return await Promise.race([work, timeout]).finally(() => clearTimeout(timer));
  };
  const { stream } = await within(limits.firstByteMs, open(AbortSignal.any([signal, silence.signal])));
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
}
