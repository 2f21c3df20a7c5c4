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
export function deferredRejection(): { promise: Promise<never>; reject: (reason: unknown) => void } {
  const handle: { reject?: (reason: unknown) => void } = {};
  const promise = new Promise<never>((_resolve, reject) => {
    handle.reject = reject;
  });
  return { promise, reject: (reason) => handle.reject?.(reason) };
}
