import type { CallOutcome } from '../contract/call.js';
import { textOf } from '../contract/content.js';
import { canonicalName } from '../policy/rule.js';
import type { AfterCall, BeforeCall, CallHooks, HookedCall } from '../scheduler/call-hooks.js';
import { type HookCommand, type HookExit, type HookPlace, runHookCommand } from './hook-command.js';
import { type HookVerdict, readVerdict } from './hook-verdict.js';
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

/** A hook with what it is for. */
export interface Hook extends HookCommand {
  event: HookEvent;
  /** A regular expression over tool names; without one the hook is for all. */
  matcher?: string;
}

/** What every hook is told. */
export interface HookSession {
  id: string;
  cwd: string;
  transcriptPath: string;
  permissionMode: () => string;
}

/**
 * The person's own programs around calls and prompts, in the JSON-on-stdin protocol that Claude Code and Qwen Code use.
 * They can tighten and inform; "allow" from a hook is heard as "no objection".
 */
export class Hooks implements CallHooks, PromptHooks {
  readonly #hooks: readonly Hook[];
  readonly #place: HookPlace;
  /** Whoever keeps a transcript may say so here. */
  readonly session: HookSession;

  constructor(hooks: readonly Hook[], place: HookPlace, session: HookSession) {
    this.#hooks = hooks;
    this.#place = place;
    this.session = session;
  }

  async before(call: HookedCall, signal: AbortSignal): Promise<BeforeCall> {
    const details = { tool_name: call.tool, tool_input: call.args, tool_use_id: call.callId };
    const said = await this.#run('PreToolUse', details, signal, call.tool);
    const block = said.find((verdict) => verdict.block !== undefined)?.block;
    const ask = said.find((verdict) => verdict.ask !== undefined)?.ask;
    const changed = said.findLast((verdict) => verdict.args !== undefined)?.args;
    return {
      ...(block !== undefined && { deny: block }),
      ...(ask !== undefined && { ask }),
      ...(changed !== undefined && { args: changed }),
      notices: noticesOf(said),
    };
  }

  async after(
    call: HookedCall,
    result: Pick<CallOutcome, 'llmContent' | 'error'>,
    signal: AbortSignal,
  ): Promise<AfterCall> {
    const details = {
      tool_name: call.tool,
      tool_input: call.args,
      tool_use_id: call.callId,
      tool_response: { output: textOf(result.llmContent), ...(result.error && { error: result.error }) },
    };
    const said = await this.#run('PostToolUse', details, signal, call.tool);
    const context = said
      .flatMap(({ block, context: more }) => [...labelled(block), ...(more ? [more] : [])])
      .join('\n');
    return { ...(context !== '' && { context }), notices: noticesOf(said) };
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

  /** Runs the hooks of an event side by side; their verdicts come in the order of the settings. */
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
    const concerned = this.#hooks.filter((hook) => hook.event === event && matches(hook.matcher, subject));
    return Promise.all(
      concerned.map(async (hook) => {
        const exit = await runHookCommand(hook, input, this.#place, signal);
        signal.throwIfAborted();
        const label = `The ${event} hook ${JSON.stringify(hook.command)}`;
        const verdict = readVerdict(exit, label, { takesText });
        // A guard that could not do its work has not agreed: the person decides.
        return event === 'PreToolUse' && isAbsent(exit)
          ? { ...verdict, ask: `${label} could not do its work` }
          : verdict;
      }),
    );
  }
}

/** It hung, could not be started, or the shell found no such program (127) or none that it may run (126). */
function isAbsent(exit: HookExit): boolean {
  return exit.status === 'failed' || exit.code === 126 || exit.code === 127;
}

function answerOf(said: readonly HookVerdict[]): HookAnswer {
  const block = said.find((verdict) => verdict.block !== undefined)?.block;
  const context = said.flatMap((verdict) => verdict.context ?? []).join('\n');
  return {
    ...(block !== undefined && { block }),
    ...(context !== '' && { context }),
    notices: noticesOf(said),
  };
}

function noticesOf(said: readonly HookVerdict[]): string[] {
  return said.flatMap(({ notice }) => notice ?? []);
}

function labelled(block: string | undefined): string[] {
  return block === undefined ? [] : [`[A hook remarks] ${block}`];
}

/** Other agents' names for our tools match as well: `Bash`, `Edit|Write`. */
function matches(matcher: string | undefined, subject: string | undefined): boolean {
  if (matcher === undefined || matcher === '' || matcher === '*' || subject === undefined) return true;
  if (matcher.split('|').some((name) => canonicalName(name.trim()) === subject)) return true;
  try {
    return new RegExp(`^(?:${matcher})$`).test(subject);
  } catch {
    // A matcher that cannot be read must not leave a call unguarded.
    return true;
  }
}
