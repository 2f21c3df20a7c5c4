import { createAgentLathe } from '@lathe/agent';
import { visibleText } from '@lathe/core/host';
import { exitCodes } from '../command-line/exit-codes.js';
import { checks } from '../doctor/checks.js';
import type { Finding } from '../doctor/finding.js';
import { flagSettings, latheHome } from '../startup/open-lathe.js';
import type { Command } from './command.js';

const marks = { ok: 'ok  ', note: 'note', bad: 'BAD ' } as const;

/** `lathe doctor` checks the setup and says how to fix problems. */
export const command: Command = {
  maxOperands: 0,
  async run({ flags }, io, signal) {
    const lathe = await createAgentLathe({
      cwd: io.cwd,
      env: io.env,
      home: io.home,
      latheHome: latheHome(io),
      ...(flags.trust && { isTrusted: true }),
      flags: flagSettings(flags),
    });
    // In order, because the tools check includes the tools that the servers check discovers.
    const findings: Finding[] = [];
    try {
      for (const check of checks) findings.push(...(await check(lathe, io, signal)));
    } finally {
      await lathe.close();
    }
    if (flags.json) io.out(JSON.stringify(findings, null, 2));
    else
      for (const { state, title, detail, hint } of findings) {
        io.out(visibleText(`${marks[state]}  ${title}: ${detail}`));
        if (hint !== undefined) io.out(visibleText(`        ${hint}`));
      }
    return findings.some(({ state }) => state === 'bad') ? exitCodes.failure : exitCodes.success;
  },
};
