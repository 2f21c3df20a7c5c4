/** Runs a command, and another one when told to. */
import { LatheHome } from '../../packages/core/src/files/lathe-home.js';
import { CommandRunner } from '../../packages/core/src/process/run/run-command.js';
import { whenTold } from './when-told.js';

async function main(home: string): Promise<void> {
  const runner = new CommandRunner(new LatheHome(home));
  const limits = { timeoutMs: 60_000, signal: new AbortController().signal };
  const run = () => runner.run({ command: 'true', cwd: home, env: {} }, limits);
  await run();
  await whenTold(process.pid, run, 'ran');
}

void main(process.argv[2] ?? '');
