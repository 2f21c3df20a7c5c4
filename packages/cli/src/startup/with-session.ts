import type { AgentLathe } from '@lathe/agent';
import type { Approver } from '@lathe/core';
import { visibleText } from '@lathe/core/host';
import { type Flags, resumeOf } from '../command-line/args.js';
import type { Io } from '../command-line/io.js';
import { type ChosenSession, openChosenSession } from './open-chosen-session.js';
import { openLathe, runSessionEndHooks } from './open-lathe.js';

interface SessionOptions {
  flags: Flags;
  io: Io;
  /** Answers questions. Those about calls go to `callApprover`, if there is one. */
  approver?: Approver;
  callApprover?: Approver;
}

/** Opens Lathe and the session that flags name, and closes both at the end. A text says why there is no session. */
export async function withSession<T>(
  { flags, io, approver, callApprover }: SessionOptions,
  signal: AbortSignal,
  work: (session: ChosenSession['session'] | string, lathe: AgentLathe) => Promise<T>,
): Promise<T> {
  const lathe = await openLathe(flags, io, approver && { approver });
  try {
    const options = { flags, io, ...resumeOf(flags), ...(callApprover && { approver: callApprover }) };
    const opened = await openChosenSession(lathe, options, signal);
    if (typeof opened === 'string') return await work(opened, lathe);
    for (const note of opened.notes) io.err(`lathe: ${visibleText(note)}`);
    return await work(opened.session, lathe);
  } finally {
    await runSessionEndHooks(lathe);
    await lathe.close();
  }
}
