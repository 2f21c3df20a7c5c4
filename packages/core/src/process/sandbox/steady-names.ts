import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { lstatOf, type Snapshots } from './snapshots.js';

/*
 * A program that replaces a protected file may remove it for a moment: git does, and some editors. A sandbox that is planned
 * then does not cover the name, and the command could write to the file that appears.
 */

const maxWaitMs = 1_000;
const stepMs = 20;
const maxPlans = 10;
const pauseMs = 10;

/** Waits until git is done and the names that earlier commands found are there. A name that stays away was removed. */
export async function untilSteady(roots: readonly string[], snapshots: Snapshots): Promise<void> {
  const deadline = performance.now() + maxWaitMs;
  while ((snapshots.versions() === undefined || isGitAtWork(roots)) && performance.now() < deadline) await wait(stepMs);
  snapshots.forgetMissing();
}

/** Plans again if one of these names was replaced meanwhile. */
export function planSteadily<P>(makePlan: () => P, snapshots: Snapshots, attempts = maxPlans): P {
  const before = snapshots.versions();
  const plan = makePlan();
  if (attempts === 1 || (before !== undefined && before === snapshots.versions())) return plan;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
  return planSteadily(makePlan, snapshots, attempts - 1);
}

const gitLocks = ['index.lock', 'HEAD.lock', 'config.lock'];
/** A git that was killed leaves its lock behind. */
const maxLockAgeMs = 5_000;

export function isGitAtWork(roots: readonly string[]): boolean {
  return roots.some((root) =>
    gitLocks.some((name) => {
      const info = lstatOf(join(root, '.git', name));
      return info !== undefined && Date.now() - Number(info.ctimeMs) < maxLockAgeMs;
    }),
  );
}
