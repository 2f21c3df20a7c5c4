import { type AgentLathe, createAgentLathe } from '@lathe/agent';
import { type Approver, type Asker, type CallOutcome, type CallRequest, denyAll, type LatheOptions } from '@lathe/core';
import { homeDirectories, visibleText } from '@lathe/core/host';
import { type ReverseRequests } from '@lathe/core/mcp';
import type { Flags } from '../command-line/args.js';
import { errorMessage } from '../command-line/error-message.js';
import type { Io } from '../command-line/io.js';

export interface OpenOptions extends Pick<LatheOptions, 'buffers' | 'servers'> {
  approver?: Approver;
  /** Puts the questions of the model to the person. */
  asker?: Asker;
  caller?: 'model' | 'person';
  openPage?: (url: URL) => Promise<void>;
  /** Asks the person on behalf of an MCP server. Without it servers cannot ask. */
  elicit?: NonNullable<ReverseRequests['elicit']>;
}

/** Opens the library as the command line says. Problems with settings and hooks go to stderr. */
export async function openLathe(flags: Flags, io: Io, options: OpenOptions = {}): Promise<AgentLathe> {
  const lathe = await createAgentLathe({
    ...latheOptions(flags, io),
    ...(io.worktree && { worktree: io.worktree }),
    approver: options.approver ?? denyAll,
    ...(options.asker && { asker: options.asker }),
    ...(options.caller && { caller: options.caller }),
    ...(options.openPage && { openPage: options.openPage }),
    ...(options.buffers && { buffers: options.buffers }),
    ...(options.servers && { servers: options.servers }),
    ...(options.elicit && { handlers: { elicit: options.elicit } }),
  });
  for (const problem of lathe.problems) io.err(visibleText(`lathe: ${problem}`));
  return lathe;
}

/** What the command line and its surroundings say about any Lathe that is opened. */
export function latheOptions(
  flags: Flags,
  io: Io,
): { cwd: string } & Pick<LatheOptions, 'env' | 'home' | 'latheHome' | 'isTrusted' | 'flags'> {
  const { cwd, env, home } = io;
  const trust = flags.trust && { isTrusted: true };
  return { cwd, env, home, latheHome: latheHome(io), ...trust, flags: flagSettings(flags) };
}

/** Settings of the folder that do not count because it is not trusted. */
export function ignoredSettings({ loaded }: Pick<AgentLathe, 'loaded'>): string[] {
  if (loaded.isTrusted) return [];
  return [...new Set(loaded.ignored.filter(({ layer }) => layer === 'workspace').map(({ key }) => key))];
}

/** Says that settings of the folder do not count, if that is so. */
export function trustNotes(lathe: Pick<AgentLathe, 'loaded'>): string[] {
  const ignored = ignoredSettings(lathe).join(', ');
  return ignored === ''
    ? []
    : [`this folder is not trusted, so these settings are ignored: ${ignored} (see lathe trust)`];
}

/** The flags that are settings. */
export function flagSettings(flags: Flags): NonNullable<LatheOptions['flags']> {
  return {
    ...(flags.approvalMode && { 'tools.approvalMode': flags.approvalMode }),
    ...(flags.allowedTools.length > 0 && { 'tools.allowed': flags.allowedTools }),
    ...(flags.sandbox !== undefined && { 'tools.sandbox.mode': flags.sandbox }),
    ...(flags.screenReader && { 'ui.accessibility.screenReader': true }),
    ...(flags.model !== undefined && { 'model.name': flags.model }),
    ...(flags.effort !== undefined && { 'model.effort': flags.effort }),
  };
}

/** Discovers the tools of servers and commands, or only those that may include `tool`. Failures go to stderr. */
export async function discoverTools(
  lathe: Pick<AgentLathe, 'discover' | 'tools'>,
  io: Pick<Io, 'err'>,
  signal: AbortSignal,
  tool?: string,
): Promise<void> {
  await lathe.discover(signal, tool);
  for (const line of missingTools(lathe.tools)) io.err(`lathe: ${line}`);
}

/** Finds the tools of a session. Failures go to stderr, those of servers that start in the background when they happen. */
export async function prepareTools(
  lathe: Pick<AgentLathe, 'prepareTools' | 'tools'>,
  io: Pick<Io, 'err'>,
  signal: AbortSignal,
): Promise<void> {
  const { later } = await lathe.prepareTools(signal);
  for (const line of missingTools(lathe.tools)) io.err(`lathe: ${line}`);
  void later.then((late) => failureLines(late).forEach((line) => io.err(`lathe: ${line}`)));
}

/** One line for each source whose tools are missing, and for each tool that was skipped. */
export function missingTools(registry: AgentLathe['tools']): string[] {
  const rejected = registry.rejections();
  return [
    ...failureLines(registry.failures()),
    ...rejected.map(({ source, name, reason }) => visibleText(`${name} from ${source} skipped: ${reason}`)),
  ];
}

/** One line for each source that failed. */
export function failureLines(failures: ReadonlyMap<string, unknown>): string[] {
  return [...failures].map(([source, error]) => visibleText(`${source}: ${errorMessage(error)}`));
}

/** Runs one call. Messages from hooks go to stderr. */
export async function runOne(
  lathe: Pick<AgentLathe, 'run'>,
  call: CallRequest,
  io: Io,
  signal: AbortSignal,
): Promise<CallOutcome> {
  const run = lathe.run([call], signal);
  for await (const event of run) if (event.type === 'notice') io.err(visibleText(`lathe: ${event.message}`));
  const [outcome] = await run;
  if (!outcome) throw new Error('the scheduler returned no outcome');
  return outcome;
}

const endHooksTimeoutMs = 5_000;

/** Runs the hooks for the end of a session, for at most five seconds. */
export async function runSessionEndHooks({ hooks }: Pick<AgentLathe, 'hooks'>): Promise<void> {
  await hooks?.sessionEnd('other', AbortSignal.timeout(endHooksTimeoutMs)).catch(() => undefined);
}

export function latheHome(io: Io): string {
  return homeDirectories(io).latheHome;
}
