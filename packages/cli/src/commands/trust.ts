import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ApprovalRequest, Approver, Decision } from '@lathe/core';
import { Consent, definitionHash, FolderTrust, visibleText } from '@lathe/core/host';
import { LatheHome } from '@lathe/core/tools';
import { type Flags, UsageError } from '../command-line/args.js';
import { exitCodes } from '../command-line/exit-codes.js';
import type { Io } from '../command-line/io.js';
import { newRules } from '../startup/new-rules.js';
import { latheHome, openLathe } from '../startup/open-lathe.js';
import { terminalApprover } from '../terminal/terminal-approver.js';
import type { Command } from './command.js';

/** `lathe trust` manages the folders whose settings, commands and servers are used. */
export const command: Command = {
  maxOperands: 1,
  async run({ operands, flags }, io, signal) {
    const trust = new FolderTrust(new LatheHome(latheHome(io)));
    if (flags.list) {
      const entries = await trust.list();
      if (entries.length === 0) io.out('No folders are trusted. Trust one with: lathe trust [dir]');
      for (const { path, state } of entries) io.out(visibleText(`${state.padEnd(9)}  ${path}`));
      return exitCodes.success;
    }
    const folder = resolve(io.cwd, operands[0] ?? '.');
    if (flags.remove) {
      await trust.forget(folder);
      io.out(`${folder} is no longer trusted.`);
    } else {
      if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
        throw new UsageError(`${folder} is not a directory`);
      await trust.trust(folder);
      io.out(`${folder} is trusted. Lathe now uses its settings, commands, servers and .env.`);
      await approveSources(flags, { ...io, cwd: folder }, signal);
    }
    return exitCodes.success;
  },
};

/** Each command, server and hook of a trusted folder needs its own approval before it may start. */
async function approveSources(flags: Flags, io: Io, signal: AbortSignal): Promise<void> {
  const { rules, approve } = await newRules(io);
  await approve();
  for (const rule of rules) io.out(visibleText(`Its rule ${rule} allows calls without asking.`));
  const approver = consentApprover(flags, io);
  // Hooks ask the approver while they are opened, all others here.
  const lathe = await openLathe(flags, io, { approver });
  const consent = new Consent(lathe.home);
  for (const { kind, id, definition, confirmation } of lathe.sources.consents()) {
    const hash = definitionHash(definition);
    if (await consent.isApproved(kind, id, hash)) continue;
    const about = { callId: id, tool: kind, displayName: kind, description: confirmation.title, args: {} };
    const decision = await approver.decide({ ...about, confirmation, reason: 'it starts a program' }, signal);
    if (decision.outcome !== 'deny') await consent.approve(kind, id, hash);
  }
  await lathe.close();
}

/** `--yes` or the person decides what may start. Prints each with the answer. */
function consentApprover({ yes }: Flags, io: Io): Approver {
  const person = terminalApprover(io);
  const decide = async (request: ApprovalRequest, signal: AbortSignal): Promise<Decision> => {
    if (yes) return { outcome: 'once' };
    return io.isInteractive ? person.decide(request, signal) : { outcome: 'deny' };
  };
  return {
    async decide(request, signal) {
      const { confirmation } = request;
      const decision = await decide(request, signal);
      const shown =
        confirmation.type === 'exec' ? [...confirmation.command.split('\n'), `in ${confirmation.directory}`] : [];
      const isDenied = decision.outcome === 'deny';
      const verdict = isDenied ? 'will not start until you approve it: lathe trust --yes' : 'may start';
      io.out(visibleText([confirmation.title, ...shown, verdict].join('\n  ')));
      return decision;
    },
  };
}
