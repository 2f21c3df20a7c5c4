// One contestant of one case in a process of its own: gets it ready, then runs it once per message.
import { readFileSync, writeFileSync } from 'node:fs';
import { NotThere } from './case.mjs';
import { median } from './measure.mjs';

const { file, name, contestant: who, place } = JSON.parse(process.argv[2]);
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

const { cases } = await import(file);
const { contestants } = cases.find((one) => one.name === name);
const contestant = await contestants[who](place).catch(fail);

const shortMs = 10;
let stall = 0;
let lastTick = 0;

process.on('message', () => void measured().then((sample) => process.send({ sample }), fail));
process.on('disconnect', () => process.exit());
process.send({ isReady: true });

async function measured() {
  await contestant.prepare?.();
  globalThis.gc?.();
  const baseline = startMemory();
  const timer = setInterval(tick, 2);
  await new Promise((resolve) => setTimeout(resolve, 10));
  [stall, lastTick] = [0, performance.now()];
  const { result, time } = await repeated();
  // A run that blocked to its end left no tick behind that would tell.
  tick();
  clearInterval(timer);
  const sample = typeof result === 'string' ? { output: result } : result;
  const own = { time, memory: Math.max(0, peakMemory() - baseline), stall: Math.max(0, stall - 2) };
  return { ...own, ...sample };
}

/**
 * A call of less than a few milliseconds says more about a compiler that has just woken up than about the work, so it is
 * made several times, for every program, and the median counts. One that needs preparation cannot be made again.
 */
async function repeated() {
  const times = [];
  const end = performance.now() + shortMs * 10;
  for (;;) {
    const begin = performance.now();
    const result = await Promise.resolve()
      .then(() => contestant.run())
      .catch((error) => (error instanceof NotThere ? fail(error) : { error: firstLine(error), output: '' }));
    times.push(performance.now() - begin);
    // A turn of the event loop, so that many calls in a row do not count as a stall.
    await new Promise(setImmediate);
    const isLong = contestant.prepare !== undefined || times[0] > shortMs || performance.now() > end;
    if (isLong || times.length === 25) return { result, time: median(times) };
  }
}

function tick() {
  const now = performance.now();
  stall = Math.max(stall, now - lastTick);
  lastTick = now;
}

/** MB in use now; Linux also forgets the peak so far. */
function startMemory() {
  try {
    writeFileSync('/proc/self/clear_refs', '5');
    return statusMegabytes('VmRSS');
  } catch {
    return process.memoryUsage.rss() / 2 ** 20;
  }
}

function peakMemory() {
  try {
    return statusMegabytes('VmHWM');
  } catch {
    return process.resourceUsage().maxRSS / 1024;
  }
}

function statusMegabytes(key) {
  return Number(new RegExp(`${key}:\\s+(\\d+)`).exec(readFileSync('/proc/self/status', 'latin1'))[1]) / 1024;
}

function firstLine(error) {
  return String(error?.message ?? error)
    .split('\n')[0]
    .slice(0, 160);
}

/** Says why there will be no measurement. */
function fail(error) {
  process.send({ missing: error instanceof NotThere ? error.message || 'n/a' : `fails: ${firstLine(error)}` });
  process.disconnect();
  process.exit();
}
