/** A Lathe that has asked its guardian for a pipe and has no answer yet; says which process the guardian is, which is stopped. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { Guardian } from '../../packages/core/src/process/run/guardian.js';
import { MarkSeries } from '../../packages/core/src/process/run/process-tree.js';

async function main(directory: string, seconds: string): Promise<void> {
  const series = new MarkSeries();
  const guardian = new Guardian('/bin/bash', series, async () => directory);
  await guardian.ready();
  const helper = Number(readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8'));
  const env = { ...process.env, ...series.next().variables };
  spawn('sleep', [seconds], { detached: true, stdio: 'ignore', env });
  process.kill(helper, 'SIGSTOP');
  void guardian.openPipe();
  await turn();
  console.log(helper);
}

void main(process.argv[2] ?? '', process.argv[3] ?? '');
