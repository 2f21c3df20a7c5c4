import { createInterface } from 'node:readline';
import { ToolError } from '../../packages/core/src/contract/errors.js';

const tell = (message: unknown) => process.stdout.write(`${JSON.stringify(message)}\n`);

/** Names the thread to disturb, does the work when told to, and says how it went. */
export async function whenTold(thread: number, work: () => Promise<unknown>, done: string): Promise<void> {
  const lines = createInterface({ input: process.stdin });
  tell({ thread });
  await new Promise((resolve) => lines.once('line', resolve));
  lines.close();
  try {
    await work();
    tell({ status: done });
  } catch (error) {
    const type = error instanceof ToolError ? error.type : 'bug';
    tell({ status: 'failed', type, message: error instanceof Error ? error.message : String(error) });
    process.exitCode = 1;
  }
}
