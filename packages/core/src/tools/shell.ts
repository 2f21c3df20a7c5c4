import { statSync } from 'node:fs';
import type { XStatic } from 'typebox/schema';
import type { Confirmation } from '../contract/confirmation.js';
import { ToolError } from '../contract/errors.js';
import type { Target } from '../contract/target.js';
import { CallSlot, directCall, mayHaveRead, mustBeContained, type ToolCall } from '../contract/tool-call.js';
import { ruleForFile } from '../files/access/judged-paths.js';
import { checkExactRule, maxExactLength } from '../process/rules/exact-rule.js';
import type { BackgroundCommand, BackgroundCommands } from '../process/run/background.js';
import { announce, parseBackgroundCommand, runBackgroundCommand } from '../process/run/background-command.js';
import { liveTail } from '../process/run/captured-output.js';
import { refuseBrokenSandbox, reportOn } from '../process/run/command-report.js';
import type { CommandRunner } from '../process/run/run-command.js';
import type { CommandRequest, CommandResult } from '../process/run/running-command.js';
import { ContainedCommand, type ContainedEffects } from '../process/sandbox/contained-command.js';
import { sandboxHint } from '../process/sandbox/sandbox-hints.js';
import { allRights, type SandboxRights } from '../process/sandbox/sandbox-rights.js';
import {
  asksForRights,
  isContainable,
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

/** What the call touched when it was judged, for a call that may run without a question. */
const judged = new CallSlot<readonly Target[]>();

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
    const suffix = keep ? ' [background, kept]' : is_background ? ' [background]' : '';
    return `${command}${place}${suffix}${purpose}`;
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
    judged.set(call, targets);
    return targets;
  }

  override async shouldConfirmExecute(
    params: ShellParams,
    _signal?: AbortSignal,
    call = directCall(),
  ): Promise<Confirmation | false> {
    const order = parseBackgroundCommand(params.command);
    if (order !== undefined && !needsAnswer(orderTarget(order))) return false;
    const judgement = await this.#judge.latest(params, call);
    const { cwd, analysis, targets, extraRights, loss } = judgement;
    if (order === undefined && !targets.some(needsAnswer)) return false;
    const guards = targets.flatMap(({ guarded }) => guarded ?? []);
    const sensitive = targets.flatMap((target) =>
      target.type === 'path' && target.sensitive !== undefined ? [{ path: target.path, why: target.sensitive }] : [],
    );
    const warnings = [
      ...(extraRights.length > 0 ? [asksForRights(extraRights)] : []),
      ...networkWarnings(params, judgement),
      ...(cwd.inside ? [] : [`It runs outside the workspace, in ${cwd.path}.`]),
      ...(loss === undefined ? [] : [loss]),
      ...guards,
      ...sensitive.map(({ why }) => why),
      ...analysis.doubts,
    ];
    const mayOfferRules = extraRights.length === 0 && guards.length === 0 && params.keep !== true;
    const offered = mayOfferRules ? this.#rulesFor(judgement) : {};
    return {
      type: 'exec',
      title: 'Confirm Shell Command',
      command: params.command,
      rootCommand: analysis.rootCommand,
      directory: cwd.path,
      ...(warnings.length > 0 && { warnings: [...new Set(warnings)] }),
      ...offered,
    };
  }

  /** What "always" can save: rules for commands of this kind, if they cover all that asks, and one for this command alone. */
  #rulesFor({ analysis, targets }: Judgement): Pick<Confirmation, 'rules' | 'exactRules'> {
    const named = (spec: string) => `${this.name}(${spec})`;
    const asking = targets.filter(({ asks }) => asks);
    const files = targets.flatMap((target) =>
      target.type === 'path' && target.sensitive !== undefined ? [ruleForFile(target.path)] : [],
    );
    const spec = asking[0]?.exact;
    const isPlain = spec !== undefined && spec.length <= maxExactLength && checkExactRule(spec) === undefined;
    const exact = isPlain ? [named(spec)] : [];
    const isCovered = asking.every(({ type, hidden }) => type === 'command' && !hidden);
    const wide = isCovered ? analysis.rules.map(named) : [];
    const commands = wide.length > 0 ? wide : exact;
    const rules = [...new Set([...commands, ...files])];
    if (rules.length === 0 || (asking.length > 0 && commands.length === 0)) return {};
    return { rules, ...(commands === wide && exact.length > 0 && { exactRules: [...new Set([...exact, ...files])] }) };
  }

  override async execute(params: ShellParams, signal: AbortSignal, call = directCall()): Promise<ToolResult> {
    if (signal.aborted) {
      const message = 'Command was cancelled before it could start.';
      return { ...plain(message), error: { type: 'execution_failed', message } };
    }
    const order = parseBackgroundCommand(params.command);
    if (order !== undefined) return plain(await runBackgroundCommand(order, this.#options.background));
    const judgement = await this.#judgeAgain(params, call);
    const { request, rights } = await this.#prepare(params, judgement, call);
    const wasSandboxed = request.wrap !== undefined;
    if (params.is_background) {
      const { background, hasTerminal = false } = this.#options;
      const started = await background.start({ ...request, isKept: params.keep === true, hasTerminal });
      if (started.result) return this.#report(params, started.result, judgement, { wasSandboxed });
      return this.#announce(started, wasSandboxed ? rights : undefined);
    }
    const timeoutMs = params.timeout ?? this.#options.defaultTimeoutMs ?? 120_000;
    const { result, found } = await this.#run(request, { timeoutMs, signal }, call);
    return this.#report(params, result, { ...judgement, rights }, { wasSandboxed, found });
  }

  /** A call about which nobody was asked runs in the sandbox and without the network, or not at all. */
  async #prepare(
    { command, keep, is_background }: ShellParams,
    judgement: Judgement,
    call: ToolCall,
  ): Promise<{ request: CommandRequest; rights: Judgement['rights'] }> {
    const { sandbox, env } = this.#options;
    const isContained = mustBeContained.get(call) === true;
    const rights = isContained ? { ...judgement.rights, network: false } : judgement.rights;
    const cwd = judgement.cwd.path;
    if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
      throw new ToolError('path_is_not_a_directory', `Not a directory: ${cwd}`);
    const details = { isKept: keep === true, isBackground: is_background === true, reads: judgement.reads };
    const wrap = await sandbox.prepare(cwd, rights, details);
    if (isContained && wrap === undefined) throw changedMeanwhile();
    const sandboxed = wrap && { wrap, env: { ...env, TMPDIR: '/tmp' } };
    return { request: { command, cwd, env, ...sandboxed }, rights };
  }

  /** Runs it while the call waits. `found`: what was put aside, as sentences. */
  async #run(
    request: CommandRequest,
    limits: { timeoutMs: number; signal: AbortSignal },
    call: ToolCall,
  ): Promise<{ result: CommandResult; found: readonly string[] }> {
    const { workspace, aside, runner } = this.#options;
    const contained = mustBeContained.get(call) && aside ? await ContainedCommand.begin(workspace, aside) : undefined;
    const live = liveTail((tail) => call.output({ type: 'terminal_output', ...tail }));
    let effects: ContainedEffects | undefined;
    try {
      const result = await runner.run({ ...request, onOutput: live.onOutput }, limits);
      effects = await contained?.finish();
      if (effects?.keyFile !== undefined) mayHaveRead.set(call, effects.keyFile);
      return { result, found: effects?.planted ?? [] };
    } finally {
      live.stop();
      if (effects === undefined) await contained?.finish();
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
    const isContained = mustBeContained.get(call) === true;
    const before = judged.get(call) ?? [];
    const known = new Set(before.map((target) => JSON.stringify(target)));
    const isAnswered = (target: Target) =>
      !needsAnswer(target) || (isContained && (isContainable(target) || known.has(JSON.stringify(target))));
    const isUnasked = isContained || (judged.get(call) !== undefined && !before.some(needsAnswer));
    if (!isUnasked || judgement.targets.every(isAnswered)) return judgement;
    throw changedMeanwhile();
  }

  #report(
    { command, directory = '(root)', rights: asked = [] }: ShellParams,
    result: CommandResult,
    { analysis, rights, reads }: Judgement,
    { wasSandboxed, found = [] }: { wasSandboxed: boolean; found?: readonly string[] },
  ): ToolResult {
    if (wasSandboxed) refuseBrokenSandbox(result);
    const { sandbox, env } = this.#options;
    const hides = sandbox.hides.bind(sandbox);
    const context = { rights, asked, reads, home: env['HOME'] ?? '/', hides };
    const hint = wasSandboxed && (!isSuccess(result) || reads.length > 0) && sandboxHint(result, context);
    const remarks = [...(hint ? [hint] : []), ...found.map((sentence) => ({ model: sentence, person: sentence }))];
    const lastWords = analysis.segments.findLast(({ hidden }) => !hidden)?.words ?? [];
    const options = { command, directory, lastWords, ...(remarks.length > 0 && { remark: joined(remarks) }) };
    const { text, display, failure } = reportOn(result, options);
    return { llmContent: text, returnDisplay: display, ...(failure && { error: { type: failure, message: text } }) };
  }
}

function networkWarnings({ is_background, keep }: ShellParams, { analysis, rights, sharers }: Judgement): string[] {
  const others = sharers.length > 0 ? `, and so can ${sharers.join(', ')}` : '';
  const uses = analysis.network && rights.network ? [`It uses the network${others}.`] : [];
  return [...uses, ...(is_background && !keep ? [inBackground] : [])];
}

const isSuccess = ({ ending }: CommandResult) => ending.type === 'exit' && ending.code === 0;

function joined(remarks: readonly { model: string; person: string }[]): { model: string; person: string } {
  return {
    model: remarks.map(({ model }) => model).join(' '),
    person: remarks.map(({ person }) => person).join('\n'),
  };
}

function changedMeanwhile(): ToolError {
  return new ToolError('shell_execute_error', 'What this command touches changed while it waited: run it again.');
}

function plain(text: string): ToolResult {
  return { llmContent: text, returnDisplay: text };
}
