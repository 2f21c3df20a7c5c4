import type { Readable, Writable } from 'node:stream';
import { ClientTransport } from './client-transport.js';
import { createServer, type ServerIdentity } from './create-server.js';
import { type Toolbox, ToolSession } from './tool-session.js';

export interface ServeStdioOptions extends ServerIdentity {
  toolbox: Toolbox;
  input: Readable;
  /** Carries the protocol and nothing else. */
  output: Writable;
  /** What a person at the server may want to know. */
  log: (message: string) => void;
}

/** Serves one client until it closes its end or `signal` aborts. Leaves nothing running behind. */
export async function serveStdio(options: ServeStdioOptions, signal: AbortSignal): Promise<void> {
  const { toolbox, input, output, log } = options;
  const session = new ToolSession(toolbox);
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
