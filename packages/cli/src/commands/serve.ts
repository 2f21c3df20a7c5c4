import { parseArgs } from 'node:util';
import { type AgentLathe } from '@lathe/agent';
import { serveHttp, serveStdio } from '@lathe/core/mcp';
import { UsageError } from '../command-line/args.js';
import { errorMessage } from '../command-line/error-message.js';
import { exitCodes } from '../command-line/exit-codes.js';
import { openLathe } from '../startup/open-lathe.js';
import type { Command } from './command.js';

const waiting = [
  'lathe: an MCP server on stdin and stdout. It waits for a client, which usually starts it itself:',
  'lathe: enter "lathe serve" as the command of a server there. For a client that connects over HTTP use --http.',
  'lathe: Ctrl+C ends it.',
].join('\n');
const exitDelayMs = 1_000;

/** `lathe serve` offers the built-in tools to another program as an MCP server. */
export const command: Command = {
  async run({ operands, flags }, io, signal) {
    const { isHttp, port } = parse(operands);
    const open = (): Promise<AgentLathe> => openLathe(flags, io);
    const common = {
      version: io.version,
      instructions: `Tools for the folder ${io.cwd}. Paths are absolute.`,
      log: (message: string) => io.err(`lathe: ${message}`),
    };
    if (isHttp) {
      const onListening = (url: string, token: string) =>
        io.err(`lathe: serving ${url}\nlathe: requests need the header Authorization: Bearer ${token}`);
      await serveHttp({ ...common, open, port, onListening }, signal);
    } else {
      if (io.stdin.isTTY) io.err(waiting);
      await serveStdio({ ...common, toolbox: await open(), input: io.stdin, output: process.stdout }, signal);
      // Output that the client does not read would keep the process alive.
      setTimeout(() => process.exit(), exitDelayMs).unref();
    }
    return exitCodes.success;
  },
};

function parse(operands: readonly string[]): { isHttp: boolean; port: number } {
  const { http = false, port = '0' } = parseFlags(operands);
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
    throw new UsageError(`--port must be a number up to 65535, not ${JSON.stringify(port)}`);
  if (!http && port !== '0') throw new UsageError('--port needs --http');
  return { isHttp: http, port: Number(port) };
}

function parseFlags(operands: readonly string[]) {
  try {
    return parseArgs({ args: [...operands], options: { http: { type: 'boolean' }, port: { type: 'string' } } }).values;
  } catch (error) {
    const message = errorMessage(error);
    throw new UsageError(`${message}; flags of lathe itself go before serve`);
  }
}
