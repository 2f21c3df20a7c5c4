import { UsageError } from '../command-line/args.js';
import type { Command } from './command.js';

/** `lathe console` offers the tools without a model, even if one is configured. */
export const command: Command = {
  maxOperands: 0,
  async run({ flags }, io, signal) {
    if (!io.isInteractive) throw new UsageError('the console needs a terminal; use lathe call instead');
    const { startInteractive } = await import('../tui/start.js');
    return startInteractive([], flags, io, signal, { model: 'console' });
  },
};
