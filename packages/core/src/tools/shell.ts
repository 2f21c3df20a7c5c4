import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { XStatic } from 'typebox/schema';
import { ToolError } from '../errors.js';
import type { Workspace } from '../files/workspace.js';
import type { BackgroundCommands } from '../process/background.js';
import { announce, parseBackgroundCommand, runBackgroundCommand } from '../process/background-command.js';
import type { AnalysisOptions, CommandAnalysis } from '../process/command-analysis.js';
import { lackedRight, refuseBrokenSandbox, reportOn } from '../process/command-report.js';
import { liveTail } from '../process/live-tail.js';
import type { CommandRunner } from '../process/run-command.js';
import type { CommandRequest, CommandResult } from '../process/running-command.js';
import type { Sandbox } from '../process/sandbox.js';
import { nameRights, type Right, type SandboxRights } from '../process/sandbox-rights.js';
import type { Confirmation } from './confirmation.js';
import { needsAnswer, orderTarget, targetsOf, unnamed } from './shell-targets.js';
import type { Target } from './target.js';
import { BaseTool, type OutputSink, type ToolResult } from './tools.js';

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
  },
  required: ['command'],
  additionalProperties: false,
} as const;

type ShellParams = XStatic<typeof parameterSchema>;

export interface ShellToolOptions {
  workspace: Workspace;
  runner: CommandRunner;
  sandbox: Sandbox;
  background: BackgroundCommands;
  analyze: (command: string, options: AnalysisOptions) => CommandAnalysis | Promise<CommandAnalysis>;
  /** All variables of commands; see `childEnvironment`. `PATH` must come from `sanitizePath`. */
  env: Readonly<Record<string, string>>;
  defaultTimeoutMs?: number;
  /** Commands inside the sandbox reach the network. */
  hasNetwork?: boolean;
  /** Commands inside the sandbox do not ask. */
  autoApprove?: boolean;
  /** Background commands get a terminal of their own, so that interactive programs can be driven. */
  hasTerminal?: boolean;
}

/** `run_shell_command`: understood before it runs, contained while it runs, nothing left after. */
export class ShellTool extends BaseTool<ShellParams> {
  readonly #options: ShellToolOptions;
  /** The steps of one call ask for the same analysis again and again. */
  #analyzed: { key: string; analysis: CommandAnalysis } | undefined;
  /** Calls that needed no answer when they were judged. */
  readonly #silent = new WeakSet<ShellParams>();
  /** What the sandbox refused a command; asked for when the same command comes again. */
  readonly #lacked = new Map<string, { rights: Right[]; wasShown: boolean }>();

  constructor(options: ShellToolOptions) {
    super({
      name: 'run_shell_command',
      displayName: 'Shell',
      description:
        'Run a bash command in the workspace root or directory. stdin is closed, no state persists, nothing outlives it unless is_background.',
      kind: 'execute',
      parameterSchema,
      timeoutMs: maxTimeoutMs + 10_000,
      maxOutputChars: 32_000,
    });
    this.#options = options;
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

  override async isReadOnly(params: ShellParams): Promise<boolean> {
    const order = parseBackgroundCommand(params.command);
    if (order !== undefined) return order.action === 'list' || order.action === 'read';
    if (params.is_background) return false;
    const { path } = await this.#options.workspace.locate(this.#directoryOf(params));
    return (await this.#analyze(params, path)).isReadOnly;
  }

  override async getTargets(params: ShellParams): Promise<Target[]> {
    // Earlier calls of the same turn may have changed what was found before.
    this.#analyzed = undefined;
    const targets = await this.#judge(params);
    if (!targets.some(needsAnswer)) this.#silent.add(params);
    return targets;
  }

  async #judge(params: ShellParams): Promise<Target[]> {
    const order = parseBackgroundCommand(params.command);
    if (order !== undefined) return [orderTarget(order)];
    const cwd = await this.#options.workspace.locate(this.#directoryOf(params));
    const targets = await targetsOf(await this.#analyze(params, cwd.path), this.#options.workspace);
    if (!cwd.inside) targets.push({ type: 'path', access: 'write', path: cwd.path, asks: true });
    if (params.is_background && !targets.some(({ asks }) => asks)) targets.push(unnamed(params.command));
    const isContained = this.#options.autoApprove && (await this.#options.sandbox.status()).kind !== 'none';
    const settled = isContained ? targets.map((target) => ({ ...target, asks: false })) : targets;
    if (params.keep) settled.push({ ...unnamed(params.command), guarded: outlives });
    const lacked = this.#lacked.get(keyOf(params));
    if (lacked === undefined) return settled;
    lacked.wasShown = true;
    return [...settled, unnamed(params.command)];
  }

  override async shouldConfirmExecute(params: ShellParams): Promise<Confirmation | false> {
    const targets = await this.#judge(params);
    if (!targets.some(needsAnswer)) return false;
    const cwd = await this.#options.workspace.locate(this.#directoryOf(params));
    const analysis = await this.#analyze(params, cwd.path);
    const lacked = this.#lacked.get(keyOf(params));
    const guards = targets.flatMap(({ guarded }) => guarded ?? []);
    const warnings = [
      ...(lacked ? [`The sandbox stopped this command. Yes lets it run once with ${nameRights(lacked.rights)}.`] : []),
      ...(analysis.network ? ['It uses the network.'] : []),
      ...(cwd.inside ? [] : [`It runs outside the workspace, in ${cwd.path}.`]),
      ...guards,
      ...analysis.doubts,
    ];
    const mayOfferRules = lacked === undefined && guards.length === 0 && analysis.rules.length > 0;
    return {
      type: 'exec',
      title: 'Confirm Shell Command',
      command: params.command,
      rootCommand: analysis.rootCommand,
      directory: cwd.path,
      ...(warnings.length > 0 && { warnings: [...new Set(warnings)] }),
      ...(mayOfferRules && { rules: analysis.rules.map((rule) => `${this.name}(${rule})`) }),
    };
  }

  override async execute(params: ShellParams, signal: AbortSignal, updateOutput?: OutputSink): Promise<ToolResult> {
    if (signal.aborted) {
      const message = 'Command was cancelled before it could start.';
      return { ...plain(message), error: { type: 'execution_failed', message } };
    }
    const order = parseBackgroundCommand(params.command);
    if (order !== undefined) return plain(await runBackgroundCommand(order, this.#options.background));
    const { path: cwd } = await this.#options.workspace.locate(this.#directoryOf(params));
    if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
      throw new ToolError('path_is_not_a_directory', `Not a directory: ${cwd}`);
    await this.#judgeAgain(params);
    const granted = this.#takeGrant(params);
    const rights = await this.#rightsOf(params, cwd, granted);
    const isKept = params.keep === true;
    const wrap = await this.#options.sandbox.prepare(cwd, rights, { isKept });
    const sandboxed = wrap && { wrap, env: { ...this.#options.env, TMPDIR: '/tmp' } };
    const request: CommandRequest = { command: params.command, cwd, env: this.#options.env, ...sandboxed };
    if (params.is_background) {
      const { background, hasTerminal = false } = this.#options;
      const started = await background.start({ ...request, isKept, hasTerminal });
      if (started.result) return this.#report(params, started.result, { cwd, granted, ...(wrap && { rights }) });
      const llmContent = announce(started, { isIsolated: wrap !== undefined && !rights.network });
      return { llmContent, returnDisplay: `Running in the background as ${started.id}.` };
    }
    const timeoutMs = params.timeout ?? this.#options.defaultTimeoutMs ?? 120_000;
    const live = liveTail((tail) => updateOutput?.({ type: 'terminal_output', ...tail }));
    try {
      const result = await this.#options.runner.run({ ...request, onOutput: live.onOutput }, { timeoutMs, signal });
      return await this.#report(params, result, { cwd, granted, ...(wrap && { rights }) });
    } finally {
      live.stop();
      // The next call may find another world.
      this.#analyzed = undefined;
    }
  }

  /** What was to run without a question may have become another thing while it waited. */
  async #judgeAgain(params: ShellParams): Promise<void> {
    this.#analyzed = undefined;
    if (!this.#silent.has(params) || !(await this.#judge(params)).some(needsAnswer)) return;
    throw new ToolError('shell_execute_error', 'What this command touches changed while it waited: run it again.');
  }

  #directoryOf({ directory }: ShellParams): string {
    return resolve(this.#options.workspace.root, directory ?? '.');
  }

  async #analyze({ command }: ShellParams, cwd: string): Promise<CommandAnalysis> {
    const { workspace, env, analyze, runner } = this.#options;
    const key = `${cwd}\0${command}`;
    if (this.#analyzed?.key === key) return this.#analyzed.analysis;
    const analysis = await analyze(command, {
      cwd,
      workspaceRoots: workspace.roots,
      home: env['HOME'] ?? '/',
      path: env['PATH'] ?? '',
      isOtherShell: !runner.shell.endsWith('bash'),
    });
    this.#analyzed = { key, analysis };
    return analysis;
  }

  /** What the sandbox refused before is granted for one run, after it was asked for. */
  #takeGrant(params: ShellParams): Right[] {
    const lacked = this.#lacked.get(keyOf(params));
    if (!lacked?.wasShown) return [];
    this.#lacked.delete(keyOf(params));
    return lacked.rights;
  }

  /** A network command that was asked for gets the network. */
  async #rightsOf(params: ShellParams, cwd: string, granted: readonly Right[]): Promise<SandboxRights> {
    const { hasNetwork = false, autoApprove = false, sandbox } = this.#options;
    const [files, secrets] = [granted.includes('files'), granted.includes('secrets')];
    if ((await sandbox.status()).kind === 'none') return { workspace: true, network: true, files, secrets };
    const analysis = await this.#analyze(params, cwd);
    const network = hasNetwork || granted.includes('network') || (!autoApprove && analysis.network);
    // Should a proof be wrong, the sandbox is still there.
    return { workspace: !analysis.isReadOnly || granted.includes('workspace'), network, files, secrets };
  }

  async #report(
    params: ShellParams,
    result: CommandResult,
    { cwd, granted, rights }: { cwd: string; granted: readonly Right[]; rights?: SandboxRights },
  ): Promise<ToolResult> {
    if (rights) refuseBrokenSandbox(result);
    const right = rights && lackedRight(result, rights);
    const lacked = right === undefined || granted.includes(right) ? undefined : [...granted, right];
    if (lacked) this.#lacked.set(keyOf(params), { rights: lacked, wasShown: false });
    // Which program answered matters only for the one exit code that can be an answer.
    const isUnclear = result.ending.type === 'exit' && result.ending.code === 1;
    const segments = isUnclear ? (await this.#analyze(params, cwd)).segments : [];
    const report = reportOn(result, {
      command: params.command,
      directory: params.directory ?? '(root)',
      lastWords: segments.findLast(({ hidden }) => !hidden)?.words ?? [],
      ...(lacked && { remark: `${stoppedBySandbox} ${nameRights(lacked)}.` }),
    });
    const { text: llmContent, display: returnDisplay, failure } = report;
    return { llmContent, returnDisplay, ...(failure && { error: { type: failure, message: llmContent } }) };
  }
}

const stoppedBySandbox =
  'It ran in a sandbox, which seems to have stopped it; run the same command again to ask the user for a run with';

/** Only a person can say that something may stay on their machine when nobody watches it any more. */
const outlives = 'It goes on running after Lathe has ended, until somebody stops it.';

function keyOf({ command, directory }: ShellParams): string {
  return JSON.stringify([command, directory]);
}

function plain(text: string): ToolResult {
  return { llmContent: text, returnDisplay: text };
}
