import { type AgentLathe } from '@lathe/agent';
import { servedTools, serveHttp, serveStdio } from '@lathe/core/mcp';
import { type Flags, UsageError } from '../command-line/args.js';
import { errorMessage } from '../command-line/error-message.js';
import type { Io } from '../command-line/io.js';
import { returnIdleMemory } from '../mcp/idle-memory.js';
import { serveToken } from '../mcp/serve-token.js';
import { discoverTools, openLathe } from '../startup/open-lathe.js';

export interface OfferedTools {
  isHttp: boolean;
  port: number;
  /** By default the built-in ones. */
  tools: readonly string[] | undefined;
  tokenFile: string | undefined;
}

const waiting = [
  'lathe: an MCP server on stdin and stdout. It waits for a client, which usually starts it itself:',
  'lathe: enter "lathe serve" as the command of a server there. For a client that connects over HTTP use --http.',
  'lathe: Ctrl+C ends it.',
].join('\n');
const exitDelayMs = 1_000;

/** Offers the tools to an MCP client until it ends or `signal` aborts. */
export async function offerTools(
  { isHttp, port, tools, tokenFile }: OfferedTools,
  { flags, io }: { flags: Flags; io: Io },
  signal: AbortSignal,
): Promise<void> {
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
  if (!isHttp) {
    if (io.stdin.isTTY) io.err(waiting);
    await serveStdio({ ...common, toolbox: await open(), input: io.stdin, output: process.stdout }, signal);
    // Output that the client does not read would keep the process alive.
    setTimeout(() => process.exit(), exitDelayMs).unref();
    return;
  }
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
}

/** A wrong name should be known before the first client comes. */
async function assertServable(lathe: AgentLathe, tools: readonly string[] | undefined): Promise<void> {
  try {
    servedTools(lathe.tools, tools);
  } catch (error) {
    await lathe.close();
    throw new UsageError(errorMessage(error));
  }
}
