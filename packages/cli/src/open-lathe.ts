import { type AgentLathe, createAgentLathe } from '@lathe/agent';
import { type Approver, type CallOutcome, type CallRequest, noOneThere } from '@lathe/core';
import { homeDirectories, visibleText } from '@lathe/core/host';
import { type ReverseRequests } from '@lathe/core/mcp';
import type { Flags } from './args.js';
import type { Io } from './io.js';

export interface OpenOptions {
  approver?: Approver;
  caller?: 'model' | 'person';
  openPage?: (url: URL) => Promise<void>;
  /** Asks the person what an MCP server wants to know; without it servers can ask nothing. */
  elicit?: NonNullable<ReverseRequests['elicit']>;
}

/** The library, set up from the command line; what is wrong with settings and hooks goes to stderr. */
export async function openLathe(flags: Flags, io: Io, options: OpenOptions = {}): Promise<AgentLathe> {
  const lathe = await createAgentLathe({
    cwd: io.cwd,
    env: io.env,
    home: io.home,
    latheHome: latheHome(io),
    approver: options.approver ?? noOneThere,
    ...(flags.trust && { isTrusted: true }),
    ...(options.caller && { caller: options.caller }),
    ...(options.openPage && { openPage: options.openPage }),
    ...(options.elicit && { handlers: { elicit: options.elicit } }),
    flags: {
      ...(flags.approvalMode && { 'tools.approvalMode': flags.approvalMode }),
      ...(flags.allowedTools.length > 0 && { 'tools.allowed': flags.allowedTools }),
      ...(flags.sandbox !== undefined && { 'tools.sandbox.mode': flags.sandbox }),
      ...(flags.screenReader && { 'ui.accessibility.screenReader': true }),
      ...(flags.model !== undefined && { 'model.name': flags.model }),
    },
  });
  for (const problem of lathe.problems) io.err(visibleText(`lathe: ${problem}`));
  return lathe;
}

/** Runs one call; what hooks have to tell people goes to stderr. */
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

const endHooksMs = 5_000;

/** Tells the hooks that a conversation is over; nobody waits long for what they do then. */
export async function tellEnd({ hooks }: AgentLathe): Promise<void> {
  await hooks?.sessionEnd('other', AbortSignal.timeout(endHooksMs)).catch(() => undefined);
}

export function latheHome(io: Io): string {
  return homeDirectories(io).latheHome;
}
