import { visibleText } from '@lathe/core/host';
import { exitCodes } from '../command-line/exit-codes.js';
import { discoverTools, openLathe } from '../startup/open-lathe.js';
import type { Command } from './command.js';

/** `lathe tools` lists the tools a model can call. */
export const command: Command = {
  maxOperands: 0,
  async run({ flags }, io, signal) {
    const lathe = await openLathe(flags, io);
    await discoverTools(lathe, io, signal);
    const entries = lathe.tools.entries();
    if (flags.json) {
      const list = entries.map(({ tool, source }) => ({
        name: tool.name,
        displayName: tool.displayName,
        description: tool.description,
        kind: tool.kind,
        source,
        parameterSchema: tool.parameterSchema,
      }));
      io.out(JSON.stringify(list, null, 2));
    } else {
      const width = Math.max(...entries.map(({ tool }) => tool.name.length), 0);
      for (const { tool, source } of entries)
        io.out(visibleText(`${tool.name.padEnd(width)}  ${source}  ${firstSentence(tool.description)}`));
    }
    await lathe.close();
    return exitCodes.success;
  },
};

function firstSentence(text: string): string {
  return /^[^\n]*?\.(?=\s|$)/.exec(text)?.[0] ?? text.split('\n')[0] ?? '';
}
