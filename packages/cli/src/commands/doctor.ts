import { createAgentLathe } from '@lathe/agent';
import { visibleText } from '@lathe/core/host';
import { exitCodes } from '../command-line/exit-codes.js';
import { checks } from '../doctor/checks.js';
import type { Finding } from '../doctor/finding.js';
import { wrapHanging } from '../render/lines.js';
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
    const width = io.isInteractive ? io.terminal.columns || 80 : Number.MAX_SAFE_INTEGER;
    const print = (line: string) => io.out(wrapHanging(visibleText(line), width).join('\n'));
    if (flags.json) io.out(JSON.stringify(findings, null, 2));
    else
      for (const { state, title, detail, hint } of findings) {
        print(`${marks[state]}  ${title}: ${detail}`);
        if (hint !== undefined) print(`        ${hint}`);
      }
    return findings.some(({ state }) => state === 'bad') ? exitCodes.failure : exitCodes.success;
  },
};
