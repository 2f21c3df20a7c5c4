import { serveStdio } from '@lathe/core';
import { UsageError } from '../args.js';
import type { Command } from '../commands.js';
import { exitCodes } from '../exit-codes.js';
import { openLathe } from '../open-lathe.js';

/** `lathe serve`: the built-in tools for another program, as an MCP server. */
export const command: Command = {
  async run({ operands, flags }, io, signal) {
    if (operands.length > 0) throw new UsageError(`serve does not know ${JSON.stringify(operands[0])}`);
    const toolbox = await openLathe(flags, io);
    await serveStdio(
      {
        toolbox,
        version: io.version,
        instructions: `Tools for the folder ${toolbox.workspace.root}. Paths are absolute.`,
        input: io.stdin,
        output: process.stdout,
        log: (message) => io.err(`lathe: ${message}`),
      },
      signal,
    );
    return exitCodes.success;
  },
};
