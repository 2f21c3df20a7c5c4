import { setImmediate as nextTurn } from 'node:timers/promises';

let last: Promise<unknown> = Promise.resolve();

/**
 * One caller per turn of the event loop. Starting a process takes a moment in which nothing else happens; sixty started
 * in one go would hold up everybody else for a second.
 */
export async function takeTurn(): Promise<void> {
  last = last.then(() => nextTurn());
  await last;
}
