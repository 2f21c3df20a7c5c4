import type { CallOutcome } from '../contract/call.js';
import { textOf } from '../contract/content.js';
import { attempt } from '../contract/errors.js';
import { canonicalName } from '../policy/rule.js';
import type { AfterCall, BeforeCall, CallHooks, HookedCall } from '../scheduler/call-hooks.js';
import { parseJson } from '../text/parse-json.js';
import { isRecord, ownRecord } from '../text/schema/schema-nodes.js';
import { type HookCommand, type HookExit, type HookPlace, runHookCommand } from './hook-command.js';
import type { HookAnswer, PromptHooks } from './prompt-hooks.js';

export const hookEvents = [
  'PreToolUse',
  'PostToolUse',
  'UserPromptSubmit',
  'Stop',
  'SubagentStop',
  'SessionStart',
  'SessionEnd',
  'PreCompact',
  'Notification',
] as const;
export type HookEvent = (typeof hookEvents)[number];

/** A hook and the event it runs for. */
export interface Hook extends HookCommand {
  event: HookEvent;
  /** A regular expression for tool names; by default the hook runs for all tools. */
  matcher?: string;
}

/** The input that every hook gets. */
export interface HookSession {
  id: string;
  cwd: string;
  transcriptPath: string;
  permissionMode: () => string;
}

/**
 * Runs the user's programs around calls and prompts, with the JSON protocol of Claude Code and Qwen Code. A hook can
 * restrict and inform; its "allow" only means "no objection".
 */
export class Hooks implements CallHooks, PromptHooks {
  readonly #hooks: readonly Hook[];
  readonly #place: HookPlace;
  /** Its `transcriptPath` is set when a transcript is written. */
  readonly session: HookSession;

  constructor(hooks: readonly Hook[], place: HookPlace, session: HookSession) {
    this.#hooks = hooks;
    this.#place = place;
    this.session = session;
  }

  async before(call: HookedCall, signal: AbortSignal): Promise<BeforeCall> {
    const verdicts = await this.#run('PreToolUse', detailsOf(call), signal, call.tool);
    const deny = blockIn(verdicts);
    const ask = verdicts.find((verdict) => verdict.ask !== undefined)?.ask;
    const args = verdicts.findLast((verdict) => verdict.args !== undefined)?.args;
    return {
      ...(deny !== undefined && { deny }),
      ...(ask !== undefined && { ask }),
      ...(args !== undefined && { args }),
      notices: noticesOf(verdicts),
    };
  }

  async after(
    call: HookedCall,
    result: Pick<CallOutcome, 'llmContent' | 'error'>,
    signal: AbortSignal,
  ): Promise<AfterCall> {
    const response = { output: textOf(result.llmContent), ...(result.error && { error: result.error }) };
    const details = { ...detailsOf(call), tool_response: response };
    const verdicts = await this.#run('PostToolUse', details, signal, call.tool);
    const context = verdicts
      .flatMap(({ block, context: more }) => [block && `[A hook remarks] ${block}`, more])
      .filter(Boolean)
      .join('\n');
    return { ...(context !== '' && { context }), notices: noticesOf(verdicts) };
  }

  async promptSubmit(prompt: string, signal: AbortSignal): Promise<HookAnswer> {
    return answerOf(await this.#run('UserPromptSubmit', { prompt }, signal));
  }

  async stop({ isContinued }: { isContinued: boolean }, signal: AbortSignal): Promise<HookAnswer> {
    return answerOf(await this.#run('Stop', { stop_hook_active: isContinued }, signal));
  }

  async subagentStop({ isContinued }: { isContinued: boolean }, signal: AbortSignal): Promise<HookAnswer> {
    return answerOf(await this.#run('SubagentStop', { stop_hook_active: isContinued }, signal));
  }

  async preCompact(trigger: 'auto' | 'manual', signal: AbortSignal): Promise<HookAnswer> {
    return answerOf(await this.#run('PreCompact', { trigger, custom_instructions: '' }, signal, trigger));
  }

  async sessionStart(source: 'startup' | 'resume' | 'clear', signal: AbortSignal): Promise<HookAnswer> {
    return answerOf(await this.#run('SessionStart', { source }, signal, source));
  }

  async sessionEnd(reason: string, signal: AbortSignal): Promise<HookAnswer> {
    return answerOf(await this.#run('SessionEnd', { reason }, signal, reason));
  }

  async notification(message: string, signal: AbortSignal): Promise<HookAnswer> {
    return answerOf(await this.#run('Notification', { message }, signal));
  }

  /** Runs the hooks of an event in parallel and returns their verdicts in the order of the settings. */
  #run(event: HookEvent, details: object, signal: AbortSignal, subject?: string): Promise<HookVerdict[]> {
    const { id, cwd, transcriptPath, permissionMode } = this.session;
    const input = {
      session_id: id,
      transcript_path: transcriptPath,
      cwd,
      permission_mode: permissionMode(),
      hook_event_name: event,
      ...details,
    };
    const takesText = event === 'UserPromptSubmit' || event === 'SessionStart';
    const hooks = this.#hooks.filter((hook) => hook.event === event && matches(hook.matcher, subject));
    return Promise.all(
      hooks.map(async (hook) => {
        const exit = await runHookCommand(hook, input, this.#place, signal);
        signal.throwIfAborted();
        const label = `The ${event} hook ${JSON.stringify(hook.command)}`;
        const verdict = readVerdict(exit, label, { takesText });
        // A guard that could not run has not agreed, so the user decides.
        return event === 'PreToolUse' && couldNotRun(exit) ? { ...verdict, ask: `${label} could not run` } : verdict;
      }),
    );
  }
}

/** It timed out, could not start, or the shell found no program (127) or no permission to run it (126). */
function couldNotRun(exit: HookExit): boolean {
  return exit.status === 'failed' || exit.code === 126 || exit.code === 127;
}

function detailsOf({ tool, args, callId }: HookedCall) {
  return { tool_name: tool, tool_input: args, tool_use_id: callId };
}

function answerOf(verdicts: readonly HookVerdict[]): HookAnswer {
  const block = blockIn(verdicts);
  const context = verdicts.flatMap((verdict) => verdict.context ?? []).join('\n');
  return {
    ...(block !== undefined && { block }),
    ...(context !== '' && { context }),
    notices: noticesOf(verdicts),
  };
}

function blockIn(verdicts: readonly HookVerdict[]): string | undefined {
  return verdicts.find(({ block }) => block !== undefined)?.block;
}

function noticesOf(verdicts: readonly HookVerdict[]): string[] {
  return verdicts.flatMap(({ notice }) => notice ?? []);
}

/** The names that other agents use for our tools match too: `Bash`, `Edit|Write`. */
function matches(matcher: string | undefined, subject: string | undefined): boolean {
  if (matcher === undefined || matcher === '' || matcher === '*' || subject === undefined) return true;
  if (matcher.split('|').some((name) => canonicalName(name.trim()) === subject)) return true;
  // An invalid matcher must not leave a call unguarded.
  return attempt(() => new RegExp(`^(?:${matcher})$`).test(subject)) ?? true;
}

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
function readVerdict(exit: HookExit, label: string, { takesText }: { takesText: boolean }): HookVerdict {
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
