import { type CallOutcome, textOf } from '@lathe/core';
import { visibleText } from '@lathe/core/host';
import { UsageError } from '../command-line/args.js';
import { errorMessage } from '../command-line/error-message.js';
import { exitCodes } from '../command-line/exit-codes.js';
import type { Io } from '../command-line/io.js';
import { readAll } from '../command-line/read-all.js';
import { discoverTools, openLathe, runOne } from '../startup/open-lathe.js';
import { askForTrust } from '../startup/trust-question.js';
import { terminalApprover } from '../terminal/terminal-approver.js';
import { terminalElicitor } from '../terminal/terminal-elicitor.js';
import type { Command } from './command.js';

const maxInputBytes = 16 * 1024 * 1024;
const tooLong = 'more than 16 MB of parameters on stdin';

/** `lathe call` runs one call through all nine steps, without a model. */
export const command: Command = {
  async run({ operands, flags }, io, signal) {
    const [name, given, ...extra] = operands;
    if (name === undefined) throw new UsageError('call needs the name of a tool: lathe call <tool> [json|-]');
    if (extra.length > 0)
      throw new UsageError(`call takes one JSON object; ${JSON.stringify(extra[0])} is one argument too many`);
    const args = parse(given === '-' ? await readAll(io.stdin, maxInputBytes, tooLong) : (given ?? '{}'));
    await askForTrust(flags, io, signal);
    const person = io.isInteractive ? { approver: terminalApprover(io), elicit: terminalElicitor(io) } : {};
    const lathe = await openLathe(flags, io, { caller: 'person', ...person });
    try {
      await discoverTools(lathe, io, signal, name);
      const outcome = await runOne(lathe, { id: 'call-1', name, args }, io, signal);
      print(outcome, flags, io);
      if (lathe.background.running().some(({ isKept }) => !isKept))
        io.err('lathe: the background command ends with this call; "keep": true lets it go on');
      return exitCode(outcome);
    } finally {
      await lathe.close();
    }
  },
};

const wanted = `the parameters must be a JSON object, such as '{"path": "/tmp"}'`;

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch (error) {
    throw new UsageError(`${wanted}: ${errorMessage(error)}`);
  }
  throw new UsageError(wanted);
}

function print(outcome: CallOutcome, { json }: { json: boolean }, io: Io): void {
  if (!json) {
    const { returnDisplay, error } = outcome;
    const isDiff = typeof returnDisplay === 'object' && returnDisplay.type === 'file_diff';
    const { fileDiff = '', problems = '' } = isDiff ? returnDisplay : {};
    const text = isDiff ? [fileDiff, problems].filter((part) => part !== '').join('\n') : textOf(outcome.llmContent);
    (error ? io.err : io.out)(visibleText(text));
    if (error?.type === 'tool_not_registered') io.err('lathe tools lists the tools.');
    return;
  }
  const { name, llmContent, returnDisplay, error, durationMs } = outcome;
  io.out(
    JSON.stringify({
      tool: name,
      status: statusOf(outcome),
      llmContent,
      returnDisplay,
      ...(error && { error }),
      durationMs,
    }),
  );
}

/** Scripts only need to know that a call was denied, not who denied it. */
function statusOf({ status, error }: CallOutcome): 'success' | 'error' | 'cancelled' | 'denied' {
  return error?.type === 'execution_denied' ? 'denied' : status;
}

function exitCode(outcome: CallOutcome): number {
  const status = statusOf(outcome);
  if (status === 'success') return exitCodes.success;
  if (status === 'denied') return exitCodes.denied;
  if (status === 'cancelled') return exitCodes.interrupted;
  const { error } = outcome;
  const isUsage = error?.type === 'invalid_tool_params' || error?.type === 'tool_not_registered';
  return isUsage ? exitCodes.usage : exitCodes.failure;
}
