import { relative } from 'node:path';
import { type AgentLathe } from '@lathe/agent';
import { type UndoOutcome, visibleText } from '@lathe/core/host';
import { UsageError } from '../command-line/args.js';
import { exitCodes } from '../command-line/exit-codes.js';
import { openLathe } from '../startup/open-lathe.js';
import type { Command } from './command.js';

const defaultListed = 20;

/** `lathe undo [n]` undoes file changes that tools made in this workspace, newest first. */
export const command: Command = {
  async run({ operands, flags }, io, signal) {
    const count = parseCount(operands);
    const lathe = await openLathe(flags, io);
    try {
      if (flags.list) {
        const lines = await list(lathe, count ?? defaultListed, signal);
        io.out(lines.length > 0 ? lines.join('\n') : 'Nothing to undo here.');
        return exitCodes.success;
      }
      const outcomes = await lathe.changes.undo({ count: count ?? 1, root: lathe.workspace.root }, signal);
      if (outcomes.length === 0) io.out('Nothing to undo here.');
      for (const outcome of outcomes) io.out(visibleText(describe(outcome, lathe)));
      return outcomes.some(({ status }) => status === 'skipped') ? exitCodes.failure : exitCodes.success;
    } finally {
      await lathe.close();
    }
  },
};

function parseCount([text, ...extra]: readonly string[]): number | undefined {
  if (text === undefined) return undefined;
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || extra.length > 0)
    throw new UsageError(`undo takes one number, at least 1, not ${JSON.stringify(text)}`);
  return count;
}

async function list(
  { changes, workspace }: Pick<AgentLathe, 'changes' | 'workspace'>,
  count: number,
  signal: AbortSignal,
): Promise<string[]> {
  const undoable = await changes.undoable({ count, root: workspace.root }, signal);
  return undoable.map(({ time, tool, path, before }) =>
    visibleText(`${time}  ${tool}  ${before === null ? 'created ' : ''}${relative(workspace.root, path)}`),
  );
}

function describe(outcome: UndoOutcome, { workspace }: Pick<AgentLathe, 'workspace'>): string {
  const path = workspace.display(outcome.change.path);
  switch (outcome.status) {
    case 'restored':
      return `${path}: restored to its state before ${outcome.change.tool}`;
    case 'removed':
      return `${path}: removed, because it did not exist before`;
    case 'unchanged':
      return `${path}: already in its earlier state`;
    case 'skipped':
      return `${path}: skipped, ${outcome.reason}`;
  }
}
