import { parseJson } from '../text/parse-json.js';
import { isRecord, ownRecord } from '../text/schema/schema-nodes.js';
import type { HookExit } from './hook-command.js';

/** The answer of one hook. It can only restrict or inform, never allow. */
export interface HookVerdict {
  block?: string;
  ask?: string;
  context?: string;
  args?: unknown;
  /** For the user. */
  notice?: string;
}

/**
 * Reads the answer of a hook. Exit code 2 blocks, with stderr as the reason. JSON on stdout can block, ask, change the
 * parameters or add context. Any other failure is only reported. `allow` and `approve` mean "no objection".
 */
export function readVerdict(exit: HookExit, label: string, { takesText }: { takesText: boolean }): HookVerdict {
  if (exit.status === 'failed') return { notice: `${label} failed: ${exit.reason}.` };
  const { code, stdout, stderr } = exit;
  if (code === 2) return { block: stderr.trim() || 'no reason given' };
  if (code !== 0)
    return { notice: `${label} exited with code ${code}: ${stderr.trim().slice(0, 500) || 'no message'}` };
  const text = stdout.trim();
  if (!text.startsWith('{')) return takesText && text !== '' ? { context: text } : {};
  const parsed = parseJson(text);
  const answer = parsed.ok && isRecord(parsed.value) ? parsed.value : undefined;
  return answer ? verdictOf(answer) : { notice: `${label} printed invalid JSON.` };
}

function verdictOf(answer: Record<string, unknown>): HookVerdict {
  const fields = { ...answer, ...ownRecord(answer, 'hookSpecificOutput') };
  const text = (...names: string[]): string | undefined =>
    names.map((name) => fields[name] || undefined).find((value) => typeof value === 'string');
  const decision = fields['permissionDecision'] ?? fields['decision'];
  const reason = text('permissionDecisionReason', 'reason', 'stopReason') ?? 'no reason given';
  const isBlocked = decision === 'block' || decision === 'deny' || fields['continue'] === false;
  const [context, notice] = [text('additionalContext'), text('systemMessage')];
  return {
    ...(isBlocked && { block: reason }),
    ...(decision === 'ask' && { ask: reason }),
    ...(fields['updatedInput'] !== undefined && { args: fields['updatedInput'] }),
    ...(context !== undefined && { context }),
    ...(notice !== undefined && { notice }),
  };
}
