import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type AgentLathe } from '@lathe/agent';
import { servedTools, serveHttp, serveStdio } from '@lathe/core/mcp';
import { UsageError } from '../command-line/args.js';
import { errorMessage } from '../command-line/error-message.js';
import { exitCodes } from '../command-line/exit-codes.js';
import type { Io } from '../command-line/io.js';
import { returnIdleMemory } from '../mcp/idle-memory.js';
import { serveToken } from '../mcp/serve-token.js';
import { discoverTools, openLathe } from '../startup/open-lathe.js';
import type { Command } from './command.js';

const waiting = [
  'lathe: an MCP server on stdin and stdout. It waits for a client, which usually starts it itself:',
  'lathe: enter "lathe serve" as the command of a server there. For a client that connects over HTTP use --http.',
  'lathe: Ctrl+C ends it.',
].join('\n');
const exitDelayMs = 1_000;

/** `lathe serve` offers the built-in tools, or those with the given names, to another program as an MCP server. */
export const command: Command = {
  async run({ operands, flags }, io, signal) {
    const { isHttp, port, tools, tokenFile } = parse(operands, io);
    const open = async (): Promise<AgentLathe> => {
      const lathe = await openLathe(flags, io);
      const isThere = (name: string) => lathe.tools.getTool(name) !== undefined;
      if (tools && !tools.every(isThere)) await discoverTools(lathe, io, signal);
      await assertServable(lathe, tools);
      return lathe;
    };
    const common = {
      version: io.version,
      instructions: `Tools for the folder ${io.cwd}. Paths are absolute.`,
      log: (message: string) => io.err(`lathe: ${message}`),
      ...(tools && { tools }),
    };
    if (isHttp) {
      const known = await serveToken(tokenFile, io.env);
      // Each client gets tools of its own, opened when it comes.
      if (tools) await (await open()).close();
      const onListening = (url: string, token: string) => {
        const shown = known === undefined ? token : `and the token of ${tokenFile ?? 'LATHE_SERVE_TOKEN'}`;
        io.err(`lathe: serving ${url}\nlathe: requests need the header Authorization: Bearer ${shown}`);
      };
      const stopReturning = returnIdleMemory();
      await serveHttp({ ...common, open, port, onListening, ...(known !== undefined && { token: known }) }, signal);
      stopReturning();
    } else {
      if (io.stdin.isTTY) io.err(waiting);
      await serveStdio({ ...common, toolbox: await open(), input: io.stdin, output: process.stdout }, signal);
      // Output that the client does not read would keep the process alive.
      setTimeout(() => process.exit(), exitDelayMs).unref();
    }
    return exitCodes.success;
  },
};

/** A wrong name should be known before the first client comes. */
async function assertServable(lathe: AgentLathe, tools: readonly string[] | undefined): Promise<void> {
  try {
    servedTools(lathe.tools, tools);
  } catch (error) {
    await lathe.close();
    throw new UsageError(errorMessage(error));
  }
}

function parse(operands: readonly string[], { cwd }: Io) {
  const { http = false, port = '0', tools, 'token-file': tokenFile } = parseFlags(operands);
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
    throw new UsageError(`--port must be a number up to 65535, not ${JSON.stringify(port)}`);
  if (!http && port !== '0') throw new UsageError('--port needs --http');
  if (!http && tokenFile !== undefined) throw new UsageError('--token-file needs --http');
  return {
    isHttp: http,
    port: Number(port),
    tools: tools?.flatMap((names) => names.split(',')).filter((name) => name !== ''),
    tokenFile: tokenFile && resolve(cwd, tokenFile),
  };
}

function parseFlags(operands: readonly string[]) {
  const options = {
    http: { type: 'boolean' },
    port: { type: 'string' },
    tools: { type: 'string', multiple: true },
    'token-file': { type: 'string' },
  } as const;
  try {
    return parseArgs({ args: [...operands], options }).values;
  } catch (error) {
    const message = errorMessage(error);
    throw new UsageError(`${message}; flags of lathe itself go before serve`);
  }
}
