import { SessionStore, type SessionSummary } from '@lathe/agent';
import { visibleText } from '@lathe/core/host';
import { LatheHome } from '@lathe/core/tools';
import { exitCodes } from '../command-line/exit-codes.js';
import { latheHome } from '../startup/open-lathe.js';
import type { Command } from './command.js';

/** `lathe sessions` lists the sessions that `--resume` can continue, newest first. */
export const command: Command = {
  maxOperands: 0,
  async run({ flags }, io) {
    const store = await SessionStore.open(new LatheHome(latheHome(io)), io.cwd);
    const sessions = await store.list();
    if (flags.json) io.out(JSON.stringify(sessions, null, 2));
    else if (sessions.length === 0) io.out('No sessions in this directory yet.');
    else for (const session of sessions) io.out(describe(session));
    return exitCodes.success;
  },
};

function describe({ id, updated, title }: SessionSummary): string {
  const [line = ''] = title.trim().split('\n', 1);
  return visibleText(`${id.slice(0, 8)}  ${updated.slice(0, 16).replace('T', ' ')}  ${line.slice(0, 100)}`);
}
