import type { Readable, Writable } from 'node:stream';
import { ClientTransport } from './client-transport.js';
import { createServer, type ServerIdentity } from './create-server.js';
import { type Toolbox, ToolSession } from './tool-session.js';

export interface ServeStdioOptions extends ServerIdentity {
  toolbox: Toolbox;
  /** Names of the tools to offer; by default the built-in ones that work without an agent. */
  tools?: readonly string[];
  input: Readable;
  /** Only for the protocol. */
  output: Writable;
  /** Receives messages for the operator of the server. */
  log: (message: string) => void;
}

/** Serves one client until it disconnects or `signal` aborts. Nothing keeps running afterwards. */
export async function serveStdio(options: ServeStdioOptions, signal: AbortSignal): Promise<void> {
  const { toolbox, input, output, log } = options;
  const session = new ToolSession(toolbox, options.tools);
  try {
    const [sdk, stdio] = await Promise.all([
      import('@modelcontextprotocol/server'),
      import('@modelcontextprotocol/server/stdio'),
    ]);
    const transport = new ClientTransport(sdk, input, output);
    const handle = stdio.serveStdio(() => createServer(sdk, session, options), {
      transport,
      onerror: ({ message }) => log(message),
    });
    const stop = () => void handle.close();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    await transport.closed;
    signal.removeEventListener('abort', stop);
  } finally {
    await session.close();
  }
}
