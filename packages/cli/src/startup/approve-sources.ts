import type { ApprovalRequest, Approver, Decision } from '@lathe/core';
import { Consent, definitionHash, visibleText } from '@lathe/core/host';
import type { Flags } from '../command-line/args.js';
import type { Io } from '../command-line/io.js';
import { terminalApprover } from '../terminal/terminal-approver.js';
import { openLathe } from './open-lathe.js';

/** Puts each command, server, hook and skill that needs an approval to the person; `--yes` approves all. */
export async function approveSources(flags: Flags, io: Io, signal: AbortSignal): Promise<void> {
  const approver = consentApprover(flags, io);
  // Hooks ask the approver while they are opened, all others here.
  const lathe = await openLathe(flags, io, { approver });
  const consent = new Consent(lathe.home);
  for (const { kind, id, definition, confirmation } of lathe.sources.consents()) {
    const hash = definitionHash(definition);
    if (await consent.isApproved(kind, id, hash)) continue;
    const about = { callId: id, tool: kind, displayName: kind, description: confirmation.title, args: {} };
    const reason = kind === 'skill' ? 'it instructs the model' : 'it starts a program';
    const decision = await approver.decide({ ...about, confirmation, reason }, signal);
    if (decision.outcome !== 'deny') await consent.approve(kind, id, hash);
  }
  await lathe.close();
}

/** `--yes` or the person decides. Prints the answer, and what it is about unless the person has just read it. */
function consentApprover({ yes }: Flags, io: Io): Approver {
  const person = terminalApprover(io);
  const isAsked = !yes && io.isInteractive;
  const decide = async (request: ApprovalRequest, signal: AbortSignal): Promise<Decision> =>
    isAsked ? person.decide(request, signal) : { outcome: yes ? 'once' : 'deny' };
  return {
    async decide(request, signal) {
      const { confirmation } = request;
      const decision = await decide(request, signal);
      const isDenied = decision.outcome === 'deny';
      const isSkill = confirmation.type === 'info';
      const verdict = isDenied
        ? `will not ${isSkill ? 'be offered' : 'start'} until you approve it: lathe trust --yes`
        : `may ${isSkill ? 'be used' : 'start'}`;
      const shown = isAsked ? [`It ${verdict}.`] : [confirmation.title, ...linesOf(confirmation), verdict];
      io.out(visibleText(shown.join('\n  ')));
      return decision;
    },
  };
}

function linesOf(confirmation: ApprovalRequest['confirmation']): string[] {
  if (confirmation.type === 'info') return confirmation.prompt.split('\n');
  if (confirmation.type !== 'exec') return [];
  const { command, directory, warnings = [] } = confirmation;
  return [...command.split('\n'), `in ${directory}`, ...warnings];
}
