import { basename, dirname, join, resolve } from 'node:path';
import { type BatchProgress, readTasks, runBatch, TaskFileError } from '@lathe/agent';
import { visibleText } from '@lathe/core/host';
import { UsageError } from '../command-line/args.js';
import { errorMessage } from '../command-line/error-message.js';
import { exitCodes } from '../command-line/exit-codes.js';
import type { Io } from '../command-line/io.js';
import { ProgressLine } from '../render/progress-line.js';
import { openRecording } from '../startup/model-recording.js';
import { latheOptions, openLathe } from '../startup/open-lathe.js';
import { openModel } from '../startup/open-model.js';
import type { Command } from './command.js';

const defaultJobs = 4;
const maxJobs = 64;

/** `lathe batch tasks.jsonl` runs many tasks on this machine, each in a worktree of its own. */
export const command: Command = {
  maxOperands: 1,
  async run({ operands: [file], flags }, io, signal) {
    if (file === undefined) throw new UsageError('batch needs a file with tasks, one JSON object per line');
    const { jobs = defaultJobs } = flags;
    if (jobs < 1 || jobs > maxJobs) throw new UsageError(`--jobs must be 1 to ${maxJobs}`);
    const path = resolve(io.cwd, file);
    const out = resolve(io.cwd, flags.out ?? join(dirname(path), `${basename(path, '.jsonl')}.results.jsonl`));
    const tasks = await readTasks(path).catch(asUsage);
    const problem = await missingModel(flags, io, signal);
    if (problem !== undefined) {
      io.err(visibleText(`lathe: ${problem}`));
      return exitCodes.failure;
    }
    const line = new ProgressLine(process.stderr, { isTerminal: process.stderr.isTTY });
    const onProgress = (progress: BatchProgress) => line.show(progress);
    const running = runBatch(tasks, { ...latheOptions(flags, io), jobs, out, onProgress }, signal);
    const { done, total, failed, now } = await running.catch(asUsage).finally(() => line.end());
    io.err(`${done} of ${total} tasks have a result (${now} now), ${failed} failed: ${visibleText(out)}`);
    if (failed > 0) io.err('To run a failed task again, remove its line from that file.');
    if (done < total) io.err('Run the same command again to continue.');
    return failed > 0 || done < total ? exitCodes.failure : exitCodes.success;
  },
};

/** A batch without a model would write an error for every task. */
async function missingModel(flags: Parameters<typeof openLathe>[0], io: Io, signal: AbortSignal) {
  const lathe = await openLathe(flags, io);
  try {
    const model = await openModel(lathe, flags, openRecording(flags, lathe, io.cwd), signal);
    return typeof model === 'string' ? model : undefined;
  } finally {
    await lathe.close();
  }
}

function asUsage(error: unknown): never {
  const isOfSystem = error instanceof Error && 'syscall' in error;
  if (error instanceof TaskFileError || isOfSystem) throw new UsageError(errorMessage(error));
  throw error;
}
