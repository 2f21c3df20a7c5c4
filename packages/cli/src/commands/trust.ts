import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { FolderTrust, visibleText } from '@lathe/core/host';
import { LatheHome } from '@lathe/core/tools';
import { UsageError } from '../command-line/args.js';
import { exitCodes } from '../command-line/exit-codes.js';
import { approveSources } from '../startup/approve-sources.js';
import { newRules } from '../startup/new-rules.js';
import { latheHome } from '../startup/open-lathe.js';
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
      const there = { ...io, cwd: folder };
      const { rules, approve } = await newRules(there);
      await approve();
      for (const rule of rules) io.out(visibleText(`Its rule ${rule} allows calls without asking.`));
      await approveSources(flags, there, signal);
    }
    return exitCodes.success;
  },
};
