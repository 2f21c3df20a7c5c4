import { readFile } from 'node:fs/promises';
import { visibleText } from '@lathe/core/host';
import { LatheHome } from '@lathe/core/tools';
import { count, parseFlags, UsageError } from '../command-line/args.js';
import { exitCodes } from '../command-line/exit-codes.js';
import { latheHome } from '../startup/open-lathe.js';
import type { Command } from './command.js';

export const auditFlags = {
  session: { type: 'string' },
  tool: { type: 'string' },
  denied: { type: 'boolean' },
  since: { type: 'string' },
  tail: { type: 'string' },
  json: { type: 'boolean' },
} as const;

/** A line of the audit log, as far as it is shown. */
interface Entry {
  time: string;
  session?: string;
  tool: string;
  proposed?: unknown;
  executed?: unknown;
  verdict?: { verdict: string; reason: string };
  decision?: { outcome: string; scope?: string };
  status: string;
  errorType?: string;
}

const defaultTail = 50;
const maxSummary = 120;

/** `lathe audit` shows who decided what. */
export const command: Command = {
  async run({ operands, flags }, io) {
    const { values, positionals } = parseFlags(operands, auditFlags);
    if (positionals[0] !== undefined) throw new UsageError(`audit does not take ${JSON.stringify(positionals[0])}`);
    const { session = '', tool, denied = false } = values;
    const since = values.since === undefined ? 0 : timeOf(values.since);
    const tail = count('--tail', values.tail) ?? defaultTail;
    const found = (await entriesIn(new LatheHome(latheHome(io)))).filter(
      (entry) =>
        (entry.session ?? '').startsWith(session) &&
        (tool === undefined || entry.tool === tool) &&
        (!denied || isDenied(entry)) &&
        Date.parse(entry.time) >= since,
    );
    const shown = tail === 0 ? found : found.slice(-tail);
    if (values.json || flags.json) io.out(JSON.stringify(shown, null, 2));
    else if (shown.length === 0) io.out('No calls recorded, or none that match.');
    else for (const line of table(shown)) io.out(visibleText(line));
    if (shown.length < found.length) io.err(`lathe: ${found.length - shown.length} earlier calls; --tail 0 shows all`);
    return exitCodes.success;
  },
};

/** Both generations of the log, oldest first. Damaged lines are skipped. */
async function entriesIn(home: LatheHome): Promise<Entry[]> {
  const texts = await Promise.all(
    ['calls.jsonl.1', 'calls.jsonl'].map((name) => readFile(home.file('audit', name), 'utf8').catch(() => '')),
  );
  return texts.flatMap((text) => text.split('\n')).flatMap(parseLine);
}

function parseLine(line: string): Entry[] {
  try {
    const value: unknown = JSON.parse(line);
    return isEntry(value) ? [value] : [];
  } catch {
    return [];
  }
}

function isEntry(value: unknown): value is Entry {
  if (typeof value !== 'object' || value === null) return false;
  return ['time', 'tool', 'status'].every((name) => typeof Reflect.get(value, name) === 'string');
}

const units = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function timeOf(text: string): number {
  const [, amount, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  if (unit === 'm' || unit === 'h' || unit === 'd') return Date.now() - Number(amount) * units[unit];
  const time = Date.parse(text);
  if (Number.isNaN(time))
    throw new UsageError(`--since must be a date, a time or a duration such as 12h, not ${JSON.stringify(text)}`);
  return time;
}

function isDenied(entry: Entry): boolean {
  return ['denied', 'refused'].includes(decisionOf(entry).word);
}

/** What was decided, and who or what decided it. */
function decisionOf({ verdict, decision, errorType }: Entry): { word: string; by: string } {
  if (verdict === undefined)
    return { word: errorType === 'execution_denied' ? 'denied' : 'unjudged', by: errorType ?? '' };
  if (verdict.verdict !== 'ask')
    return { word: verdict.verdict === 'allow' ? 'allowed' : 'denied', by: verdict.reason };
  if (decision === undefined) return { word: 'denied', by: `nobody to ask: ${verdict.reason}` };
  if (decision.outcome === 'deny') return { word: 'refused', by: 'a person' };
  const scope = decision.scope === undefined ? '' : ` (${decision.scope})`;
  return { word: 'approved', by: `a person: ${decision.outcome}${scope}` };
}

function table(entries: readonly Entry[]): string[] {
  const rows = entries.map((entry) => {
    const { word, by } = decisionOf(entry);
    const time = entry.time.slice(0, 19).replace('T', ' ');
    return [time, entry.session?.slice(0, 8) ?? '-', word, entry.status, entry.tool, summaryOf(entry), by];
  });
  const all = [['time (UTC)', 'session', 'decision', 'status', 'tool', 'call', 'decided by'], ...rows];
  const widths = [0, 1, 2, 3, 4, 5].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** What ran, or else what was proposed. A single text, such as a command, is shown without its name. */
function summaryOf({ executed, proposed }: Entry): string {
  const args = executed ?? proposed;
  const values: unknown[] = typeof args === 'object' && args !== null ? Object.values(args) : [];
  const text = values.length === 1 && typeof values[0] === 'string' ? values[0] : (JSON.stringify(args) ?? '');
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > maxSummary ? `${line.slice(0, maxSummary - 1)}…` : line;
}
