import { dirname, relative, resolve } from 'node:path';
import { ToolError } from '../contract/errors.js';
import type { Target } from '../contract/target.js';
import { CallSlot, type ToolCall } from '../contract/tool-call.js';
import { isWithin, type Location, type Workspace } from '../files/workspace.js';
import { exactRule } from '../process/rules/exact-rule.js';
import { type LossContext, lossOf } from '../process/rules/losses.js';
import { type BackgroundAction, wordsOf } from '../process/run/background-command.js';
import type { PutAside } from '../process/sandbox/put-aside.js';
import type { Sandbox, SandboxStatus } from '../process/sandbox/sandbox.js';
import { allRights, nameRights, type Right, type SandboxRights } from '../process/sandbox/sandbox-rights.js';
import { isTemporary } from '../process/sandbox/session-directory.js';
import type { AnalysisMemo, AnalysisOptions, CommandAnalysis } from '../process/shell/command-analysis.js';
import { recordedTargets } from '../process/shell/recorded-files.js';
import { defaultLimits } from '../rewind/scan-workspace.js';

export interface ShellJudgeOptions {
  workspace: Workspace;
  sandbox: Sandbox;
  /** Reads a command; the built-in reader when left out. */
  analyze?: (
    command: string,
    options: AnalysisOptions,
    memo: AnalysisMemo,
  ) => CommandAnalysis | Promise<CommandAnalysis>;
  /** All variables of commands. */
  env: Readonly<Record<string, string>>;
  /** Commands inside the sandbox reach the network. */
  hasNetwork?: boolean;
  /** Commands inside the sandbox do not ask. */
  autoApprove?: boolean;
  /** The files that rules forbid to read, or ask about; `undefined` when there are no such rules. */
  isRestricted?: ((path: string) => boolean) | undefined;
  /** Where protected files go that a command created although nobody was asked; without it, every command asks. */
  aside?: PutAside;
  /** Whether git ignores a path. */
  isIgnored?: LossContext['isIgnored'];
}

/** The parameters of a call that matter for what it may do. */
export interface JudgedCommand {
  command: string;
  directory?: string;
  is_background?: boolean;
  keep?: boolean;
  rights?: readonly Right[];
}

/** The result of judging a command before it runs. */
export interface Judgement {
  cwd: Location;
  analysis: CommandAnalysis;
  targets: Target[];
  /** What the sandbox gives it. */
  rights: SandboxRights;
  /** Rights that the call asks for and would not have anyway. */
  extraRights: readonly Right[];
  /** Real paths outside the workspace that it may read once it was approved. */
  reads: readonly string[];
  /** Why `/rewind` could not bring back what it removes. */
  loss: string | undefined;
  /** The programs that would have the network only because another one in the same command uses it. */
  sharers: readonly string[];
}

const latest = new CallSlot<Judgement>();
const reading = new CallSlot<{ key: string; memo: AnalysisMemo }>();

/** Judges commands. Their text is read once per call, what depends on files is looked up each time. */
export class ShellJudge {
  readonly #options: ShellJudgeOptions;
  readonly #isOtherShell: boolean;

  constructor(options: ShellJudgeOptions, shell: string) {
    this.#options = options;
    this.#isOtherShell = !shell.endsWith('bash');
  }

  /** The newest judgement of this call. */
  async latest(command: JudgedCommand, call: ToolCall): Promise<Judgement> {
    return latest.get(call) ?? this.judge(command, call);
  }

  /** Judges the command by the files as they are now. */
  async judge(command: JudgedCommand, call: ToolCall): Promise<Judgement> {
    const { workspace, sandbox } = this.#options;
    const cwd = await workspace.locate(resolve(workspace.root, command.directory ?? '.'));
    const analysis = await this.#analyze(command.command, cwd.path, call);
    const { kind } = await sandbox.status();
    const given = kind === 'none' ? everything : this.#usualRights(analysis);
    const extraRights = allRights.filter((right) => command.rights?.includes(right) && !given[right]);
    const rights = { ...given, ...Object.fromEntries(extraRights.map((right) => [right, true])) };
    const loss = analysis.isReadOnly ? undefined : await this.#lossOf(analysis);
    const hasOwnNetwork = kind !== 'none' && !this.#options.hasNetwork && analysis.network && rights.network;
    const sharers = hasOwnNetwork ? analysis.offline : [];
    const targets = await this.#targets(command, { cwd, analysis, rights, extraRights, loss, sharers, kind });
    const reads = [
      ...targets.flatMap((target) => (isRead(target) && needsAnswer(target) ? target.path : [])),
      ...(cwd.inside || cwd.secret !== undefined ? [] : [cwd.path]),
      ...workspace.offered,
    ];
    const judgement = { cwd, analysis, targets, rights, extraRights, reads, loss, sharers };
    latest.set(call, judgement);
    return judgement;
  }

  async #targets(
    { command, is_background, keep }: JudgedCommand,
    {
      cwd,
      analysis,
      rights,
      extraRights,
      loss,
      sharers,
      kind,
    }: Omit<Judgement, 'targets' | 'reads'> & { kind: SandboxStatus['kind'] },
  ): Promise<Target[]> {
    const { workspace, autoApprove, isRestricted, env } = this.#options;
    // In bubblewrap these directories are the session's own.
    const isOwn = (target: Target) =>
      kind === 'bubblewrap' && target.type === 'path' && isTemporary(target.path) && !workspace.contains(target.path);
    const found = await targetsOf(analysis, workspace, { isOpen: kind === 'none' });
    const recorded = analysis.recorded.map((tree) => recordedTargets(tree, { isRestricted, env }));
    const touched = [
      ...found.map((target) => (isOwn(target) ? { ...target, asks: false } : target)),
      ...(await Promise.all(recorded)).flat(),
    ];
    if (!cwd.inside) touched.push({ type: 'path', access: 'write', path: cwd.path, asks: true });
    if (is_background && !touched.some(({ asks }) => asks)) touched.push(unnamed(command));
    // A rule for each part says nothing about both together.
    if (sharers.length > 0) touched.push(unnamed(command));
    const isFree = kind !== 'none' && autoApprove === true;
    const isContained = !is_background && !keep && this.#mayBeContained(kind, { analysis, cwd, loss });
    const contain = (target: Target): Target => {
      if (target.type === 'path' && target.isInside && loss !== undefined) return { ...target, isInside: false };
      return isContained && target.asks && target.type === 'command'
        ? { ...target, contained: workspace.roots }
        : target;
    };
    const directory = placeOf(cwd.path, workspace.root);
    const exact = exactRule({ command, directory, isBackground: is_background === true });
    const targets = touched.map((target) => ({
      ...(isFree ? { ...target, asks: false } : contain(target)),
      ...(!keep && extraRights.length === 0 && { exact }),
    }));
    if (keep) targets.push({ ...unnamed(command), guarded: outlives });
    // Writing in the workspace is what any command may be allowed to do; every other right is a person's to give.
    const guarded = extraRights.some((right) => right !== 'workspace') && asksForRights(extraRights);
    if (rights.network && !analysis.isReadOnly) targets.push(sending(command, analysis));
    if (extraRights.length > 0) targets.push({ ...unnamed(command), ...(guarded && { guarded }) });
    return targets;
  }

  #lossOf(analysis: CommandAnalysis): Promise<string | undefined> {
    const { workspace, isIgnored = () => false } = this.#options;
    return lossOf(analysis, { roots: workspace.roots, isIgnored, maxBytes: defaultLimits.fileBytes });
  }

  /** Whether the sandbox keeps what a command does inside, and nothing is lost that `/rewind` cannot bring back. */
  #mayBeContained(kind: SandboxStatus['kind'], { analysis, cwd, loss }: Pick<Judgement, 'analysis' | 'cwd' | 'loss'>) {
    const { hasNetwork = false, aside } = this.#options;
    const staysInside = !hasNetwork && (!analysis.needsNetwork || this.#isLocal(analysis));
    return kind !== 'none' && aside !== undefined && staysInside && cwd.inside && loss === undefined;
  }

  async #analyze(command: string, cwd: string, call: ToolCall): Promise<CommandAnalysis> {
    const { workspace, env } = this.#options;
    // A grammar of bash is a hundred kilobytes that no session needs before its first command.
    const { analyze = (await import('../process/shell/analyze-command.js')).analyzeCommand } = this.#options;
    const key = `${cwd}\0${command}`;
    const known = reading.get(call);
    const memo = known?.key === key ? known.memo : {};
    reading.set(call, { key, memo });
    const [home = '/', path = ''] = [env['HOME'], env['PATH']];
    const where = { cwd, workspaceRoots: workspace.roots, home, path, isOtherShell: this.#isOtherShell };
    return analyze(command, where, memo);
  }

  /** Whether it reaches nothing but the servers of background commands. */
  #isLocal(analysis: CommandAnalysis): boolean {
    return this.#options.sandbox.hasServers && reachesOnlyLoopback(analysis);
  }

  /** A network command that was asked for gets the network. */
  #usualRights(analysis: CommandAnalysis): SandboxRights {
    const { hasNetwork = false, autoApprove = false } = this.#options;
    const network = hasNetwork || (!autoApprove && analysis.network && !this.#isLocal(analysis));
    // Should a proof be wrong, the sandbox is still there.
    return { workspace: !analysis.isReadOnly, network, home: false, files: false, secrets: false };
  }
}

/** A directory as exact rules name it. */
function placeOf(path: string, root: string): string {
  return isWithin(root, path) ? relative(root, path) || '.' : path;
}

/** In the sandbox these names lead to the servers of background commands. */
const loopback = /^(localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\])$/;

function reachesOnlyLoopback({ hosts, hasUnnamedHost }: CommandAnalysis): boolean {
  return !hasUnnamedHost && hosts.length > 0 && hosts.every((host) => loopback.test(host));
}

const everything: SandboxRights = { workspace: true, network: true, home: true, files: true, secrets: true };

/** Only a person can say that something may stay on their machine when nobody watches it any more. */
const outlives = 'It keeps running after Lathe has ended, until somebody stops it.';

/** For the person who is asked. */
export function asksForRights(rights: readonly Right[]): string {
  return `It asks to leave the sandbox for this one run, with ${nameRights(rights)}.`;
}

/** What a command touches, as permission rules see it. */
async function targetsOf(
  analysis: CommandAnalysis,
  workspace: Workspace,
  { isOpen }: { isOpen: boolean },
): Promise<Target[]> {
  const commands = analysis.segments.map(({ words, isReadOnly, hidden }): Target => {
    return { type: 'command', words, asks: !isReadOnly, ...(hidden && { hidden }) };
  });
  const reads = analysis.reads.map(async (read): Promise<Target> => {
    const { inside, readable, secret, sensitive, ...place } = await locate(read, workspace);
    const isTree = analysis.searches.includes(read);
    const target = { type: 'path', access: 'read', ...namesOf(place), asks: !inside && !readable } as const;
    const isShown = sensitive !== undefined && analysis.contents.includes(read);
    return { ...target, ...(isTree && { isTree }), ...(secret && { guarded: secret }), ...(isShown && { sensitive }) };
  });
  // Words that may name a file: rules that forbid it hold. A rule for any arguments does not cover a place outside, unless
  // the sandbox keeps the command from it.
  const mentioned = analysis.contents.filter((path) => !analysis.reads.includes(path));
  const shown = mentioned.map(async (file): Promise<Target> => {
    const { inside, readable, sensitive, ...place } = await locate(file, workspace);
    const asks = isOpen && !inside && !readable;
    return { type: 'path', access: 'read', ...namesOf(place), asks, hidden: true, ...(sensitive && { sensitive }) };
  });
  const writes = analysis.writes.map(async (write): Promise<Target> => {
    const { inside, guarded, ...place } = await locate(write, workspace);
    const asks = !inside || analysis.redirections.includes(write);
    return { type: 'path', access: 'write', ...namesOf(place), asks, isInside: inside, ...(guarded && { guarded }) };
  });
  const hosts = analysis.hosts.map((host): Target => ({ type: 'host', host, asks: false }));
  const targets = [...commands, ...(await Promise.all([...reads, ...shown, ...writes])), ...hosts];
  const isSilent = !analysis.isReadOnly && !targets.some(({ asks }) => asks);
  return isSilent ? [...targets, unnamed(analysis.rootCommand)] : targets;
}

function namesOf({ path, alias }: Pick<Location, 'path' | 'alias'>): Pick<Location, 'path' | 'alias'> {
  return { path, ...(alias !== undefined && { alias }) };
}

/** Below a file there is nothing, so that `b/a`, a guess for `cp a b`, is judged as `b`. */
async function locate(path: string, workspace: Workspace): Promise<Location> {
  try {
    return await workspace.locate(path);
  } catch (error) {
    if (!(error instanceof ToolError) || error.type !== 'file_not_found') throw error;
    return locate(dirname(path), workspace);
  }
}

function isRead(target: Target): target is Extract<Target, { type: 'path' }> {
  return target.type === 'path' && target.access === 'read';
}

export const needsAnswer = ({ asks, guarded, sensitive }: Target): boolean =>
  asks || guarded !== undefined || sensitive !== undefined;

/** Whether auto-edit may allow a target that needs an answer: inside the sandbox, or a file of the workspace. */
export const isContainable = ({ guarded, sensitive, contained, ...target }: Target): boolean =>
  guarded === undefined &&
  sensitive === undefined &&
  (contained !== undefined || (target.type === 'path' && target.access === 'write' && target.isInside === true));

/** A command that has the network. What it prints from there is as untrusted as a page. */
function sending(command: string, { network, hosts }: CommandAnalysis): Target {
  const isFetch = network && hosts.length > 0;
  return {
    type: 'command',
    words: [command],
    asks: false,
    hidden: true,
    sends: { to: hosts.join(', ') || 'the network' },
    ...(isFetch && { brings: { what: `what a command fetched from ${hosts.join(', ')}` } }),
  };
}

/** Something no rule can name, so that a person has to answer. */
function unnamed(command: string): Target {
  return { type: 'command', words: [command], asks: true, hidden: true };
}

/** Input for an approved program can make it do anything, so it is asked for like a command. */
export function orderTarget(order: BackgroundAction): Target {
  return { type: 'command', words: wordsOf(order), asks: order.action === 'send' };
}
