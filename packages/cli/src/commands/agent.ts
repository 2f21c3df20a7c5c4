import type { Command } from '../commands.js';
import { exitCodes } from '../exit-codes.js';
import { helpText } from '../help.js';

/** `lathe` without a command: the agent. */
export const command: Command = {
  async run({ operands, flags }, io, signal) {
    const isHeadless = flags.prompt !== undefined || flags.outputFormat !== undefined || !io.isInteractive;
    if (isHeadless) {
      const { runHeadless } = await import('../headless/run-headless.js');
      return runHeadless(flags.prompt === undefined ? operands : [flags.prompt, ...operands], flags, io, signal);
    }
    io.err(helpText(undefined));
    return exitCodes.usage;
  },
};
