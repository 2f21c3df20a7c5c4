import { type AgentLathe, createAgentLathe } from '@lathe/agent';
import {
  type Approver,
  type CallEvent,
  homeDirectories,
  type Lathe,
  noOneThere,
  type ReverseRequests,
  visibleText,
} from '@lathe/core';
import type { Flags } from './args.js';
import type { Io } from './io.js';

export interface OpenOptions {
  approver?: Approver;
  onEvent?: (event: CallEvent) => void;
  caller?: 'model' | 'person';
  openPage?: (url: URL) => Promise<void>;
  /** Asks the person what an MCP server wants to know; without it servers can ask nothing. */
  elicit?: NonNullable<ReverseRequests['elicit']>;
}

/** The library, set up from the command line; what is wrong with settings and hooks goes to stderr, unless an agent shows it. */
export async function openLathe(flags: Flags, io: Io, options: OpenOptions = {}): Promise<AgentLathe> {
  const lathe = await createAgentLathe({
    cwd: io.cwd,
    env: io.env,
    home: io.home,
    latheHome: latheHome(io),
    approver: options.approver ?? noOneThere,
    ...(options.onEvent && { onEvent: options.onEvent }),
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
  const warn = (message: string) => io.err(visibleText(`lathe: ${message}`));
  lathe.problems.forEach(warn);
  lathe.hooks?.onNotice(warn);
  return lathe;
}

const endHooksMs = 5_000;

/** Tells the hooks that a conversation is over; nobody waits long for what they do then. */
export async function tellEnd({ hooks }: Lathe): Promise<void> {
  await hooks?.sessionEnd('other', AbortSignal.timeout(endHooksMs)).catch(() => undefined);
}

export function latheHome(io: Io): string {
  return homeDirectories(io).latheHome;
}
