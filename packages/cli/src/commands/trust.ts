import { resolve } from 'node:path';
import { FolderTrust, LatheHome } from '@lathe/core';
import type { Command } from '../commands.js';
import { exitCodes } from '../exit-codes.js';
import { latheHome } from '../open-lathe.js';

/** `lathe trust`: whose settings, commands and servers may run. */
export const command: Command = {
  async run({ operands, flags }, io) {
    const trust = new FolderTrust(new LatheHome(latheHome(io)));
    if (flags.list) {
      const entries = await trust.list();
      if (entries.length === 0) io.out('No folder is trusted. `lathe trust [dir]` trusts one.');
      for (const { path, state } of entries) io.out(`${state.padEnd(9)}  ${path}`);
      return exitCodes.success;
    }
    const folder = resolve(io.cwd, operands[0] ?? '.');
    if (flags.remove) {
      await trust.forget(folder);
      io.out(`${folder} is no longer trusted.`);
    } else {
      await trust.trust(folder);
      io.out(`${folder} is trusted: its settings, commands, servers and .env now count.`);
    }
    return exitCodes.success;
  },
};
