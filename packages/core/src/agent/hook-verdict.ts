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
  const specific = fields(answer['hookSpecificOutput']) ?? {};
  const decision = specific['permissionDecision'] ?? answer['permissionDecision'] ?? answer['decision'];
  const reason =
    text(specific['permissionDecisionReason']) ??
    text(answer['reason']) ??
    text(answer['stopReason']) ??
    'no reason given';
  const isRefusal = decision === 'block' || decision === 'deny' || answer['continue'] === false;
  const context = text(specific['additionalContext']) ?? text(answer['additionalContext']);
  const notice = text(answer['systemMessage']);
  const args = specific['updatedInput'] ?? answer['updatedInput'];
  return {
    ...(isRefusal && { block: reason }),
    ...(decision === 'ask' && { ask: reason }),
    ...(context !== undefined && { context }),
    ...(notice !== undefined && { notice }),
    ...(args !== undefined && { args }),
  };
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

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
