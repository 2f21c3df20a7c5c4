import type { Command } from './command.js';

/** `lathe` without a command starts the agent. */
export const command: Command = {
  async run({ operands, flags }, io, signal) {
    const words = flags.prompt === undefined ? operands : [flags.prompt, ...operands];
    if (flags.inputFormat === 'stream-json') {
      const { runStream } = await import('../headless/run-stream.js');
      return runStream(words, flags, io, signal);
    }
    const isHeadless = flags.prompt !== undefined || flags.outputFormat !== undefined || !io.isInteractive;
    if (isHeadless) {
      const { runHeadless } = await import('../headless/run-headless.js');
      return runHeadless(words, flags, io, signal);
    }
    const { startInteractive } = await import('../tui/start.js');
    return startInteractive(operands, flags, io, signal, {
      showDemo: async () =>
        (await import('./demo.js')).command.run({ command: 'demo', operands: [], flags }, io, signal),
    });
  },
};
