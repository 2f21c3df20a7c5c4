import type { Command } from './command.js';

const waiting = [
  'lathe: an agent for editors (Agent Client Protocol) on stdin and stdout. It waits for an editor, which usually starts',
  'lathe: it itself: enter "lathe acp" as the command of an agent there. Ctrl+C ends it.',
].join('\n');

/** `lathe acp` is the agent for editors. */
export const command: Command = {
  maxOperands: 0,
  async run({ flags }, io, signal) {
    if (io.stdin.isTTY) io.err(waiting);
    const { runAcp } = await import('../acp/run-acp.js');
    return runAcp(flags, io, signal);
  },
};
