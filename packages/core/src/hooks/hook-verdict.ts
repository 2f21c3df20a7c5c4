import type { HookExit } from './hook-command.js';

/** What one hook said, in our own terms. Whatever would loosen something is not in them. */
export interface HookVerdict {
  block?: string;
  ask?: string;
  context?: string;
  args?: unknown;
  /** For people. */
  notice?: string;
}

/**
 * Reads the answer of a hook: exit code 2 refuses with stderr as the reason; JSON on stdout may refuse, ask, change the
 * parameters or add context; any other failure is told and changes nothing. `allow` and `approve` mean "no objection".
 */
export function readVerdict(exit: HookExit, label: string, { takesText }: { takesText: boolean }): HookVerdict {
  if (exit.status === 'failed') return { notice: `${label} failed: ${exit.reason}.` };
  const { code, stdout, stderr } = exit;
  if (code === 2) return { block: stderr.trim() || 'refused without a reason' };
  if (code !== 0) return { notice: `${label} ended with code ${code}: ${stderr.trim().slice(0, 500) || 'no message'}` };
  const text = stdout.trim();
  if (!text.startsWith('{')) return takesText && text !== '' ? { context: text } : {};
  const answer = parse(text);
  return answer ? verdictOf(answer) : { notice: `${label} answered with JSON that cannot be read.` };
}

function verdictOf(answer: Fields): HookVerdict {
  const said = { ...answer, ...fields(answer['hookSpecificOutput']) };
  const decision = said['permissionDecision'] ?? said['decision'];
  const reason = firstText(said, 'permissionDecisionReason', 'reason', 'stopReason') ?? 'no reason given';
  const isRefusal = decision === 'block' || decision === 'deny' || said['continue'] === false;
  const verdict: HookVerdict = {};
  if (isRefusal) verdict.block = reason;
  if (decision === 'ask') verdict.ask = reason;
  if (said['updatedInput'] !== undefined) verdict.args = said['updatedInput'];
  const context = firstText(said, 'additionalContext');
  if (context !== undefined) verdict.context = context;
  const notice = firstText(said, 'systemMessage');
  if (notice !== undefined) verdict.notice = notice;
  return verdict;
}

type Fields = Record<string, unknown>;

function parse(json: string): Fields | undefined {
  try {
    return fields(JSON.parse(json));
  } catch {
    return undefined;
  }
}

function fields(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

function firstText(said: Fields, ...names: string[]): string | undefined {
  for (const name of names) {
    const value = said[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
}
