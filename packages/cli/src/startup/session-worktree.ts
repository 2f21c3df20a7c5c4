import { describeMerge, keptWorktrees, openWorktree, type Worktree } from '@lathe/agent';
import { type CopyChanges, visibleText } from '@lathe/core/host';
import type { Flags } from '../command-line/args.js';
import { exitCodes } from '../command-line/exit-codes.js';
import type { Io } from '../command-line/io.js';
import { terminalApprover } from '../terminal/terminal-approver.js';
import { askOnTerminal } from '../terminal/terminal-question.js';
import { openLathe } from './open-lathe.js';

const maxListed = 20;

/** Runs a session in a worktree, and settles at the end what becomes of its changes. Without a name, the worktree is new. */
export async function inWorktree(
  wanted: string,
  { flags, io }: { flags: Flags; io: Io },
  signal: AbortSignal,
  work: (io: Io) => Promise<number>,
): Promise<number> {
  const worktree = await open(wanted, flags, io, signal);
  io.err(visibleText(`lathe: working in the worktree ${worktree.name} (${worktree.cwd})`));
  let isSettled = false;
  try {
    const code = await work({ ...io, cwd: worktree.cwd, worktree: worktree.origin });
    if (signal.aborted) return code;
    const settled = await settle(code, worktree, flags, io);
    isSettled = true;
    return settled;
  } finally {
    if (!isSettled) await leave(worktree, io);
    await worktree.release();
  }
}

/** After an error or an interruption Lathe does not ask: the worktree stays if it has changes. */
async function leave(worktree: Worktree, io: Io): Promise<void> {
  const changes = await worktree.changes(new AbortController().signal).catch(() => undefined);
  if (changes && isEmpty(changes)) await worktree.remove();
  else io.err(keptMessage(worktree));
}

/** Files that are too large to be compared are changes too. */
function isEmpty({ files, leftOut }: CopyChanges): boolean {
  return files.length === 0 && leftOut.length === 0;
}

async function open(wanted: string, flags: Flags, io: Io, signal: AbortSignal): Promise<Worktree> {
  const lathe = await openLathe(flags, io);
  try {
    const from = flags.fromCommit ? 'commit' : 'now';
    if (wanted !== '') return await openWorktree(lathe, { kind: 'session', name: wanted, from }, signal);
    const kept = await keptWorktrees(lathe);
    if (kept.length > 0)
      io.err(visibleText(`lathe: kept worktrees with changes: ${kept.join(', ')} (continue with --worktree NAME)`));
    return await openWorktree(lathe, { kind: 'session', from }, signal);
  } finally {
    await lathe.close();
  }
}

/** Applies, keeps or discards the changes. Without a person they are applied if the rules allow it, else kept. */
async function settle(code: number, worktree: Worktree, flags: Flags, io: Io): Promise<number> {
  const { signal } = new AbortController();
  const changes = await worktree.changes(signal);
  if (isEmpty(changes)) {
    await worktree.remove();
    return code;
  }
  const answer = io.isInteractive ? await askPerson(changes, worktree, io, signal) : 'apply';
  if (answer === 'apply') return apply(code, worktree, flags, io);
  if (answer === 'discard') await worktree.remove();
  io.err(answer === 'discard' ? `lathe: discarded the worktree ${worktree.name}` : keptMessage(worktree));
  return code;
}

async function askPerson({ files, leftOut }: CopyChanges, { name, origin }: Worktree, io: Io, signal: AbortSignal) {
  const lines = [
    ...files.map(({ path, from, to }) => `  ${from ? (to ? 'changed' : 'removed') : 'new    '}  ${path}`),
    ...leftOut.map((path) => `  not applied, only kept  ${path}`),
  ];
  const more = lines.length > maxListed ? [`  … ${lines.length - maxListed} more`] : [];
  io.err(visibleText([`The worktree ${name} has changes:`, ...lines.slice(0, maxListed), ...more].join('\n')));
  const answer = await askOnTerminal(`[a]pply to ${visibleText(origin.top)}, [K]eep or [d]iscard: `, io, signal);
  if (/^a(pply)?$/i.test(answer)) return 'apply';
  return /^d(iscard)?$/i.test(answer) ? 'discard' : 'keep';
}

async function apply(code: number, worktree: Worktree, flags: Flags, io: Io): Promise<number> {
  const { signal } = new AbortController();
  const lathe = await openLathe(flags, io, io.isInteractive ? { approver: terminalApprover(io) } : {});
  try {
    const outcome = await worktree.merge({ by: `the worktree ${worktree.name}`, into: lathe }, signal);
    io.err(visibleText(`lathe: ${describeMerge({ ...outcome, rest: '' })}`));
    if (outcome.refusal === undefined && outcome.conflicts.length === 0 && outcome.leftOut.length === 0) {
      await worktree.remove();
      return code;
    }
    io.err(keptMessage(worktree));
    if (code !== exitCodes.success) return code;
    return outcome.refusal === undefined ? exitCodes.failure : exitCodes.denied;
  } finally {
    await lathe.close();
  }
}

function keptMessage({ name }: Worktree): string {
  return `lathe: the worktree is kept; continue with: lathe --worktree ${name}`;
}
