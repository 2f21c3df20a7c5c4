import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const lookEveryMs = 2_500;
/** A process that used less than this part of the time has nothing to do. */
const quietPart = 0.05;
const worthwhileBytes = 16 * 1024 * 1024;

/**
 * Lets V8 give back what a busy time left behind. It collects only when it needs room, so that a server which has nothing
 * to do any more would keep the memory of its busiest minute. Returns a function that ends it.
 */
export function returnIdleMemory(): () => void {
  let [kept, used, at] = [process.memoryUsage().heapTotal, process.cpuUsage(), performance.now()];
  let collect: (() => void) | undefined;
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(used);
    const isQuiet = (user + system) / 1_000 < quietPart * (performance.now() - at);
    if (isQuiet && process.memoryUsage().heapTotal > kept + worthwhileBytes) {
      collect ??= collector();
      collect();
      const { heapTotal } = process.memoryUsage();
      // What does not shrink is in use, or will be in a moment.
      kept = Math.max(kept, Math.min(heapTotal, kept + worthwhileBytes / 2));
    }
    [used, at] = [process.cpuUsage(), performance.now()];
  }, lookEveryMs);
  timer.unref();
  return () => clearInterval(timer);
}

function collector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
}
