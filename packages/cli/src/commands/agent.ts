import type { Io } from '../command-line/io.js';
import type { Command } from './command.js';

/** `lathe` without a command starts the agent. */
export const command: Command = {
  async run({ operands, flags }, io, signal) {
    const words = flags.prompt === undefined ? operands : [flags.prompt, ...operands];
    const isStream = flags.inputFormat === 'stream-json';
    const isHeadless = isStream || flags.prompt !== undefined || flags.outputFormat !== undefined || !io.isInteractive;
    const start = async (place: Io) => {
      if (isStream) {
        const { runStream } = await import('../headless/run-stream.js');
        return runStream(words, flags, place, signal);
      }
      if (isHeadless) {
        const { runHeadless } = await import('../headless/run-headless.js');
        return runHeadless(words, flags, place, signal);
      }
      const { startInteractive } = await import('../tui/start.js');
      return startInteractive(operands, flags, place, signal, {
        showDemo: async () =>
          (await import('./demo.js')).command.run({ command: 'demo', operands: [], flags }, io, signal),
      });
    };
    if (flags.worktree === undefined) return start(io);
    const { inWorktree } = await import('../startup/session-worktree.js');
    return inWorktree(flags.worktree, { flags, io: isHeadless ? { ...io, isInteractive: false } : io }, signal, start);
  },
};
