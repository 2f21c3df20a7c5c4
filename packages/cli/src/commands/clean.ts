import type { AgentLathe } from '@lathe/agent';
import { type StateKind, type StateSize, stateKinds } from '@lathe/core/host';
import { count, parseFlags, UsageError } from '../command-line/args.js';
import { exitCodes } from '../command-line/exit-codes.js';
import type { Io } from '../command-line/io.js';
import { describeSize } from '../doctor/state.js';
import { openLathe } from '../startup/open-lathe.js';
import { askOnTerminal } from '../terminal/terminal-question.js';
import type { Command } from './command.js';

export const cleanFlags = {
  'dry-run': { type: 'boolean' },
  all: { type: 'boolean' },
  'older-than': { type: 'string' },
  yes: { type: 'boolean', short: 'y' },
} as const;

interface Wish {
  kinds: readonly StateKind[];
  isDryRun: boolean;
  isAgreed: boolean;
  /** What stays when the person wants another rule than that of the settings. */
  rule?: { since: number; maxBytes: number };
}

const dayMs = 86_400_000;

/** `lathe clean` removes old files of Lathe itself. */
export const command: Command = {
  async run({ operands, flags }, io, signal) {
    const { rule, ...wish } = parse(operands);
    const lathe = await openLathe(flags, io);
    try {
      const { retention } = lathe;
      const request = { kinds: wish.kinds, ...(rule && { rule }) };
      if (wish.isDryRun) {
        report('would be removed', await retention.clean({ ...request, isDryRun: true }, signal), io);
        return exitCodes.success;
      }
      if (rule && !wish.isAgreed && !(await mayRemove(retention, { ...wish, rule }, io, signal)))
        return exitCodes.denied;
      report('removed', await retention.clean(request, signal), io);
      return exitCodes.success;
    } finally {
      await lathe.close();
    }
  },
};

function parse(operands: readonly string[]): Wish {
  const { values, positionals } = parseFlags(operands, cleanFlags);
  const kinds = positionals.map((word) => {
    const kind = stateKinds.find((each) => each === word);
    if (kind === undefined)
      throw new UsageError(`lathe clean takes ${stateKinds.join(', ')}, not ${JSON.stringify(word)}`);
    return kind;
  });
  const days = count('--older-than', values['older-than']);
  if (values.all && days !== undefined) throw new UsageError('--all and --older-than cannot be used together');
  const since = values.all ? Number.POSITIVE_INFINITY : days === undefined ? undefined : Date.now() - days * dayMs;
  return {
    kinds: kinds.length > 0 ? kinds : stateKinds,
    isDryRun: values['dry-run'] ?? false,
    isAgreed: values.yes ?? false,
    ...(since !== undefined && { rule: { since, maxBytes: Number.POSITIVE_INFINITY } }),
  };
}

/** Asks only if more would go than the settings say. */
async function mayRemove(
  retention: AgentLathe['retention'],
  { kinds, rule }: Pick<Wish, 'kinds'> & Required<Pick<Wish, 'rule'>>,
  io: Io,
  signal: AbortSignal,
): Promise<boolean> {
  const planned = await retention.clean({ kinds, rule, isDryRun: true }, signal);
  if (rule.since <= retention.rule.since || totalBytes(planned) === 0) return true;
  report('would be removed', planned, io);
  if (!io.isInteractive) {
    io.err('lathe: this removes more than the settings say; run it again with --yes');
    return false;
  }
  const answer = await askOnTerminal('This removes more than the settings say. Remove it? [y/N] ', io, signal);
  return /^y(?:es)?$/i.test(answer);
}

const totalBytes = (sizes: readonly StateSize[]): number => sizes.reduce((sum, { bytes }) => sum + bytes, 0);

function report(what: string, sizes: readonly StateSize[], io: Io): void {
  const some = sizes.filter(({ files, bytes }) => files > 0 || bytes > 0);
  if (some.length === 0) io.out(`Nothing ${what}.`);
  for (const size of some) io.out(`${size.kind.padEnd(8)}  ${describeSize(size)} ${what}`);
}
