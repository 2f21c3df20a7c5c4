import { statSync } from 'node:fs';
import type { XStatic } from 'typebox/schema';
import type { Confirmation } from '../contract/confirmation.js';
import { ToolError } from '../contract/errors.js';
import type { Target } from '../contract/target.js';
import { CallSlot, directCall, type ToolCall } from '../contract/tool-call.js';
import { ruleForFile } from '../files/access/judged-paths.js';
import type { BackgroundCommand, BackgroundCommands } from '../process/run/background.js';
import { announce, parseBackgroundCommand, runBackgroundCommand } from '../process/run/background-command.js';
import { refuseBrokenSandbox, reportOn } from '../process/run/command-report.js';
import { liveTail } from '../process/run/live-tail.js';
import type { CommandRunner } from '../process/run/run-command.js';
import type { CommandRequest, CommandResult } from '../process/run/running-command.js';
import { sandboxHint } from '../process/sandbox/sandbox-hints.js';
import { allRights, type SandboxRights } from '../process/sandbox/sandbox-rights.js';
import {
  asksForRights,
  type Judgement,
  needsAnswer,
  orderTarget,
  ShellJudge,
  type ShellJudgeOptions,
} from './shell-judge.js';
import { BaseTool, type ToolResult } from './tools.js';

const maxTimeoutMs = 600_000;
/** One argument of a program holds 128 KiB on Linux. */
const maxCommandBytes = 100_000;

const parameterSchema = {
  type: 'object',
  properties: {
    command: { type: 'string' },
    description: { type: 'string', description: 'What it does, in 5-10 words' },
    directory: { type: 'string', description: 'Absolute path' },
    timeout: { type: 'integer', minimum: 1, maximum: maxTimeoutMs, description: 'ms; default 120000' },
    is_background: { type: 'boolean', description: 'For servers: returns at once' },
    keep: { type: 'boolean', description: 'With is_background, if the user wants it to outlive the session' },
    rights: {
      type: 'array',
      items: { type: 'string', enum: allRights },
      description: 'Only after the sandbox stopped it: asks the user',
    },
  },
  required: ['command'],
  additionalProperties: false,
} as const;

type ShellParams = XStatic<typeof parameterSchema>;

export interface ShellToolOptions extends ShellJudgeOptions {
  runner: CommandRunner;
  background: BackgroundCommands;
  /** All variables of commands; see `childEnvironment`. `PATH` must come from `sanitizePath`. */
  env: Readonly<Record<string, string>>;
  defaultTimeoutMs?: number;
  /** Background commands get a terminal of their own, so that interactive programs can be driven. */
  hasTerminal?: boolean;
}

const inBackground = 'It runs in the background until the session ends. Its ports open at 127.0.0.1 of this machine.';

/** Set when the call needed no answer when it was judged. */
const isSilent = new CallSlot<boolean>();

/** `run_shell_command`: understood before it runs, contained while it runs, nothing left after. */
export class ShellTool extends BaseTool<ShellParams> {
  readonly #options: ShellToolOptions;
  readonly #judge: ShellJudge;

  constructor(options: ShellToolOptions) {
    super({
      name: 'run_shell_command',
      displayName: 'Shell',
      description:
        'Run a bash command in the workspace root or directory. stdin is closed, only files persist (/tmp is private to this session), nothing outlives it unless is_background.',
      kind: 'execute',
      parameterSchema,
      timeoutMs: maxTimeoutMs + 10_000,
      maxOutputChars: 32_000,
    });
    this.#options = options;
    this.#judge = new ShellJudge(options, options.runner.shell);
  }

  protected override validateToolParamValues({ command, is_background, keep }: ShellParams): string | null {
    if (command.replace(/^\s*#.*$/gm, '').trim() === '') return 'command is empty: give it something to run';
    if (command.includes('\0')) return 'command contains a NUL character, which no shell accepts';
    if (Buffer.byteLength(command) > maxCommandBytes)
      return `command is longer than ${maxCommandBytes} bytes: write it to a script file and run that`;
    if (is_background && /[^&\\]&\s*$/.test(command)) return 'leave out the trailing & when is_background is true';
    return keep && !is_background ? 'keep needs is_background: true' : null;
  }

  override getDescription({ command, description, directory, is_background, keep }: ShellParams): string {
    const place = directory === undefined ? '' : ` [in ${directory}]`;
    const purpose = description === undefined ? '' : ` (${description.replace(/\s+/g, ' ')})`;
    const fate = keep ? ' [background, kept]' : is_background ? ' [background]' : '';
    return `${command}${place}${fate}${purpose}`;
  }

  override async isReadOnly(params: ShellParams, call = directCall()): Promise<boolean> {
    const order = parseBackgroundCommand(params.command);
    if (order !== undefined) return order.action === 'list' || order.action === 'read';
    if (params.is_background || params.rights?.length) return false;
    return (await this.#judge.judge(params, call)).analysis.isReadOnly;
  }

  override async getTargets(params: ShellParams, call = directCall()): Promise<Target[]> {
    const order = parseBackgroundCommand(params.command);
    if (order !== undefined) return [orderTarget(order)];
    // Earlier calls of the same turn may have changed what was found before.
    const { targets } = await this.#judge.judge(params, call);
    isSilent.set(call, !targets.some(needsAnswer));
    return targets;
  }

  override async shouldConfirmExecute(
    params: ShellParams,
    _signal?: AbortSignal,
    call = directCall(),
  ): Promise<Confirmation | false> {
    const order = parseBackgroundCommand(params.command);
    if (order !== undefined && !needsAnswer(orderTarget(order))) return false;
    const { cwd, analysis, targets, rights, extraRights } = await this.#judge.latest(params, call);
    if (order === undefined && !targets.some(needsAnswer)) return false;
    const guards = targets.flatMap(({ guarded }) => guarded ?? []);
    const sensitive = targets.flatMap((target) =>
      target.type === 'path' && target.sensitive !== undefined ? [{ path: target.path, why: target.sensitive }] : [],
    );
    const warnings = [
      ...(extraRights.length > 0 ? [asksForRights(extraRights)] : []),
      ...networkWarnings(params, analysis.network && rights.network),
      ...(cwd.inside ? [] : [`It runs outside the workspace, in ${cwd.path}.`]),
      ...guards,
      ...sensitive.map(({ why }) => why),
      ...analysis.doubts,
    ];
    const rules = [
      ...analysis.rules.map((rule) => `${this.name}(${rule})`),
      ...new Set(sensitive.map(({ path }) => ruleForFile(path))),
    ];
    const mayOfferRules = extraRights.length === 0 && guards.length === 0 && rules.length > 0;
    return {
      type: 'exec',
      title: 'Confirm Shell Command',
      command: params.command,
      rootCommand: analysis.rootCommand,
      directory: cwd.path,
      ...(warnings.length > 0 && { warnings: [...new Set(warnings)] }),
      ...(mayOfferRules && { rules }),
    };
  }

  override async execute(params: ShellParams, signal: AbortSignal, call = directCall()): Promise<ToolResult> {
    if (signal.aborted) {
      const message = 'Command was cancelled before it could start.';
      return { ...plain(message), error: { type: 'execution_failed', message } };
    }
    const order = parseBackgroundCommand(params.command);
    if (order !== undefined) return plain(await runBackgroundCommand(order, this.#options.background));
    const judgement = await this.#judgeAgain(params, call);
    const { rights } = judgement;
    const cwd = judgement.cwd.path;
    if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
      throw new ToolError('path_is_not_a_directory', `Not a directory: ${cwd}`);
    const isKept = params.keep === true;
    const wrap = await this.#options.sandbox.prepare(cwd, rights, {
      isKept,
      isBackground: params.is_background === true,
      reads: judgement.reads,
    });
    const sandboxed = wrap && { wrap, env: { ...this.#options.env, TMPDIR: '/tmp' } };
    const request: CommandRequest = { command: params.command, cwd, env: this.#options.env, ...sandboxed };
    if (params.is_background) {
      const { background, hasTerminal = false } = this.#options;
      const started = await background.start({ ...request, isKept, hasTerminal });
      if (started.result) return this.#report(params, started.result, judgement, wrap !== undefined);
      return this.#announce(started, wrap === undefined ? undefined : rights);
    }
    const timeoutMs = params.timeout ?? this.#options.defaultTimeoutMs ?? 120_000;
    const live = liveTail((tail) => call.output({ type: 'terminal_output', ...tail }));
    try {
      const result = await this.#options.runner.run({ ...request, onOutput: live.onOutput }, { timeoutMs, signal });
      return this.#report(params, result, judgement, wrap !== undefined);
    } finally {
      live.stop();
    }
  }

  /** `rights` are those of its sandbox, if it has one. */
  async #announce(started: BackgroundCommand, rights: SandboxRights | undefined): Promise<ToolResult> {
    const { background, sandbox } = this.#options;
    const isIsolated = rights !== undefined && !rights.network;
    if (isIsolated && !started.isKept)
      await background.openPorts(started, (onOpen) => sandbox.openPorts(started.running, rights, onOpen));
    const llmContent = announce(started, { isIsolated });
    return { llmContent, returnDisplay: `Running in the background as ${started.id}.` };
  }

  /** What was to run without a question may have become another thing while it waited. */
  async #judgeAgain(params: ShellParams, call: ToolCall): Promise<Judgement> {
    const judgement = await this.#judge.judge(params, call);
    if (!isSilent.get(call) || !judgement.targets.some(needsAnswer)) return judgement;
    throw new ToolError('shell_execute_error', 'What this command touches changed while it waited: run it again.');
  }

  #report(
    { command, directory = '(root)', rights: asked = [] }: ShellParams,
    result: CommandResult,
    { analysis, rights, reads }: Judgement,
    wasSandboxed: boolean,
  ): ToolResult {
    if (wasSandboxed) refuseBrokenSandbox(result);
    const { sandbox, env } = this.#options;
    const hides = sandbox.hides.bind(sandbox);
    const isSuccess = result.ending.type === 'exit' && result.ending.code === 0;
    const mayHint = wasSandboxed && (!isSuccess || reads.length > 0);
    const hint = mayHint && sandboxHint(result, { rights, asked, reads, home: env['HOME'] ?? '/', hides });
    const lastWords = analysis.segments.findLast(({ hidden }) => !hidden)?.words ?? [];
    const { text, display, failure } = reportOn(result, {
      command,
      directory,
      lastWords,
      ...(hint && { remark: hint }),
    });
    return { llmContent: text, returnDisplay: display, ...(failure && { error: { type: failure, message: text } }) };
  }
}

function networkWarnings({ is_background, keep }: ShellParams, usesNetwork: boolean): string[] {
  const isServer = is_background === true && keep !== true;
  return [...(usesNetwork ? ['It uses the network.'] : []), ...(isServer ? [inBackground] : [])];
}

function plain(text: string): ToolResult {
  return { llmContent: text, returnDisplay: text };
}
