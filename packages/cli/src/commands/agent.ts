import type { Command } from '../commands.js';
import { exitCodes } from '../exit-codes.js';
import { helpText } from '../help.js';

/** `lathe` without a command. */
export const command: Command = {
  async run(_invocation, io) {
    io.err(helpText(undefined));
    return exitCodes.usage;
  },
};
