import { UsageError } from '../command-line/args.js';
import type { Command } from './command.js';

/** `lathe console`: the tools without a model, also where one is configured. */
export const command: Command = {
  maxOperands: 0,
  async run({ flags }, io, signal) {
    if (!io.isInteractive) throw new UsageError('the console needs a terminal; elsewhere use lathe call');
    const { startInteractive } = await import('../tui/start.js');
    return startInteractive([], flags, io, signal, { model: 'console' });
  },
};
