import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { parseBoundedJson } from '../../text/parse-json.js';
import { UnfinishedLine } from '../client/unfinished-line.js';
import type { ServerSdk } from './create-server.js';

const maxLineBytes = 16 * 1024 ** 2;
/** More than this waiting to be read, and the client does not listen: it may ask without end and leave the answers lying. */
const maxUnreadBytes = 64 * 1024 ** 2;

/**
 * JSON lines from and to the client. Whatever it does stays bounded: a line has a largest length, a message a largest
 * depth and number of values, and what is no message is answered with an error.
 */
export class ClientTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport['onmessage'];
  /** Resolves when the connection has ended, whoever ended it. */
  readonly closed: Promise<void>;
  readonly #sdk: ServerSdk;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #unfinished = new UnfinishedLine(maxLineBytes);
  #tellClosed: () => void = () => undefined;
  #isClosed = false;

  constructor(sdk: ServerSdk, input: Readable, output: Writable) {
    this.#sdk = sdk;
    this.#input = input;
    this.#output = output;
    this.closed = new Promise((resolve) => {
      this.#tellClosed = resolve;
    });
  }

  async start(): Promise<void> {
    const end = () => void this.close();
    this.#input.on('data', this.#receive);
    for (const event of ['end', 'close', 'error']) this.#input.on(event, end);
    for (const event of ['close', 'error']) this.#output.on(event, end);
    if (this.#input.readableEnded || this.#input.destroyed) end();
  }

  /** Does not wait for the client to read: it may send and read in turns. */
  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) throw new Error('the connection has ended');
    this.#output.write(this.#sdk.serializeMessage(message));
    if (this.#output.writableLength > maxUnreadBytes) this.#disconnect('does not read what it is sent');
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#input.off('data', this.#receive);
    this.#input.pause();
    this.#unfinished.clear();
    this.onclose?.();
    this.#tellClosed();
  }

  readonly #receive = (chunk: Buffer): void => {
    for (const line of this.#unfinished.linesWith(chunk)) {
      if (this.#isClosed) return;
      if (line === undefined) return this.#disconnect(`sent a line of more than ${maxLineBytes} bytes`);
      if (line.trim() !== '') this.#deliver(line);
    }
  };

  #deliver(line: string): void {
    const parsed = parseBoundedJson(line);
    const { ParseError, InvalidRequest } = this.#sdk.ProtocolErrorCode;
    if (!parsed.ok) return this.#refuse(ParseError, `This cannot be read: ${parsed.problem}`);
    if (this.#sdk.isSpecType.JSONRPCMessage(parsed.value)) this.onmessage?.(parsed.value);
    else this.#refuse(InvalidRequest, 'This is no message of JSON-RPC 2.0');
  }

  #refuse(code: number, message: string): void {
    void this.send({ jsonrpc: '2.0', error: { code, message } });
  }

  #disconnect(what: string): void {
    this.onerror?.(new Error(`the client ${what} and is disconnected`));
    void this.close();
  }
}
