import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { parseBoundedJson } from '../../text/parse-json.js';
import { LineBuffer } from '../client/line-buffer.js';
import { createServer, type ServerIdentity, type ServerSdk } from './create-server.js';
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
export async function serveStdio(
  options: ServeStdioOptions,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
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

const maxLineBytes = 16 * 1024 ** 2;
/** A client with more unread output than this does not read: it may send requests forever and ignore the responses. */
const maxUnreadBytes = 64 * 1024 ** 2;

/**
 * JSON lines from and to the client. Lines have a maximum length, messages a maximum depth and number of values, and
 * anything else is answered with an error.
 */
class ClientTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport['onmessage'];
  /** Resolves when the connection has ended, whichever side ended it. */
  readonly closed: Promise<void>;
  readonly #sdk: ServerSdk;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #buffer = new LineBuffer(maxLineBytes);
  #resolveClosed: () => void = () => undefined;
  #isClosed = false;

  constructor(sdk: ServerSdk, input: Readable, output: Writable) {
    this.#sdk = sdk;
    this.#input = input;
    this.#output = output;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
  }

  async start(): Promise<void> {
    const end = () => void this.close();
    this.#input.on('data', this.#receive);
    for (const event of ['end', 'close', 'error']) this.#input.on(event, end);
    for (const event of ['close', 'error']) this.#output.on(event, end);
    if (this.#input.readableEnded || this.#input.destroyed) end();
  }

  /** Does not wait for the client to read, because it may send and read in turns. */
  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) throw new Error('the connection has ended');
    this.#output.write(this.#sdk.serializeMessage(message));
    if (this.#output.writableLength > maxUnreadBytes) this.#disconnect('does not read its input');
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#input.off('data', this.#receive);
    this.#input.pause();
    this.#buffer.clear();
    this.onclose?.();
    this.#resolveClosed();
  }

  readonly #receive = (chunk: Buffer): void => {
    for (const line of this.#buffer.linesWith(chunk)) {
      if (this.#isClosed) return;
      if (line === undefined) return this.#disconnect(`sent a line of more than ${maxLineBytes} bytes`);
      if (line.trim() !== '') this.#deliver(line);
    }
  };

  #deliver(line: string): void {
    const parsed = parseBoundedJson(line);
    const { ParseError, InvalidRequest } = this.#sdk.ProtocolErrorCode;
    if (!parsed.ok) return this.#refuse(ParseError, `The message cannot be parsed: ${parsed.problem}`);
    if (this.#sdk.isSpecType.JSONRPCMessage(parsed.value)) this.onmessage?.(parsed.value);
    else this.#refuse(InvalidRequest, 'The message is not JSON-RPC 2.0');
  }

  #refuse(code: number, message: string): void {
    void this.send({ jsonrpc: '2.0', error: { code, message } });
  }

  #disconnect(what: string): void {
    this.onerror?.(new Error(`the client ${what} and is disconnected`));
    void this.close();
  }
}
