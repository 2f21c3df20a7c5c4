import type { Board } from './board.js';

/** The clock of a machine may differ from the server's by a lock divided by this. */
const lockPerDifference = 3;

/** Says what is wrong with the clock of this machine, if it differs too much from the server's for locks of this length. */
export async function clockProblem(board: Pick<Board, 'now'>, lockMs: number): Promise<string | undefined> {
  const before = Date.now();
  const server = await board.now();
  // The time that the answer took is not an error of the clock.
  const aheadMs = server < before ? before - server : Math.min(0, Date.now() - server);
  const maxMs = lockMs / lockPerDifference;
  if (Math.abs(aheadMs) <= maxMs) return undefined;
  const difference = `${Math.round(Math.abs(aheadMs) / 1_000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'}`;
  return (
    `the clock of this machine is ${difference} the clock of the queue's server; ` +
    `a worker may differ by at most ${Math.round(maxMs / 100) / 10} s, a third of --lock: synchronize the clocks`
  );
}
