import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Flags, UsageError } from '../command-line/args.js';
import { errorMessage } from '../command-line/error-message.js';
import { exitCodes } from '../command-line/exit-codes.js';
import type { Io } from '../command-line/io.js';
import { serveToken } from '../mcp/serve-token.js';
import type { Command } from './command.js';

/**
 * `lathe serve` offers the built-in tools, or those with the given names, to another program as an MCP server;
 * `lathe serve --agent` offers the agent itself over HTTP.
 */
export const command: Command = {
  async run({ operands, flags }, io, signal) {
    const parsed = parse(operands, io);
    if (parsed.isAgent) {
      await offerAgent(parsed, { flags, io }, signal);
      return exitCodes.success;
    }
    const { offerTools } = await import('./serve-tools.js');
    await offerTools(parsed, { flags, io }, signal);
    return exitCodes.success;
  },
};

type Parsed = ReturnType<typeof parse>;

async function offerAgent(
  { port, tokenFile }: Parsed,
  { flags, io }: { flags: Flags; io: Io },
  signal: AbortSignal,
): Promise<void> {
  const token = await serveToken(tokenFile, io.env);
  const { serveAgent } = await import('../server/serve-agent.js');
  const onListening = (origin: string, secret: string) => {
    const shown = token === undefined ? `#token=${secret}` : ` with the token of ${tokenFile ?? 'LATHE_SERVE_TOKEN'}`;
    io.out(`lathe: serving ${origin}/${shown}`);
  };
  await serveAgent({ flags, io, port, onListening, page: livePage, ...(token !== undefined && { token }) }, signal);
}

const livePage = async () => (await import('../view/page.js')).livePage();

function parse(operands: readonly string[], { cwd }: Io) {
  const { agent = false, http = false, port = '0', tools, 'token-file': tokenFile } = parseFlags(operands);
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
    throw new UsageError(`--port must be a number up to 65535, not ${JSON.stringify(port)}`);
  if (agent && (http || tools)) throw new UsageError('--agent serves the agent; --http and --tools are for its tools');
  if (!http && !agent) assertNone({ '--port': port !== '0', '--token-file': tokenFile !== undefined });
  return {
    isAgent: agent,
    isHttp: http,
    port: Number(port),
    tools: tools?.flatMap((names) => names.split(',')).filter((name) => name !== ''),
    tokenFile: tokenFile && resolve(cwd, tokenFile),
  };
}

function assertNone(given: Record<string, boolean>): void {
  for (const [flag, isGiven] of Object.entries(given))
    if (isGiven) throw new UsageError(`${flag} needs --http or --agent`);
}

function parseFlags(operands: readonly string[]) {
  const options = {
    agent: { type: 'boolean' },
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
