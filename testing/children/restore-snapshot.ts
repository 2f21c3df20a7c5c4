import { LatheHome } from '../../packages/core/src/files/lathe-home.js';
import { Journal } from '../../packages/core/src/files/undo/journal.js';
import { FileLocks } from '../../packages/core/src/files/write/file-lock.js';
import { Rewind } from '../../packages/core/src/rewind/rewind.js';

/** Takes snapshots of a workspace, one after the other, or goes back to one: `root home tree` or `root home count`. */
const [root = '', latheHome = '', goal = ''] = process.argv.slice(2);
const home = new LatheHome(latheHome);
const parts = { locks: new FileLocks(home), journal: new Journal(home) };
const rewind = new Rewind({ root, home, path: process.env['PATH'] ?? '', excludesFile: undefined }, parts);
const { signal } = new AbortController();

async function main(): Promise<void> {
  if (goal.length < 40) {
    for (let left = Number(goal); left > 0; left--) await rewind.snapshots.take(signal);
    return;
  }
  const now = await rewind.snapshots.take(signal);
  const target = { tree: goal, leftOut: [], time: 0 };
  const plan = await rewind.plan({ target, now, gaps: [] }, () => true, signal);
  console.log('planned');
  await rewind.restore(plan, { isApproved: true }, signal);
  console.log('restored');
}

void main();
