import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import {
  AbstractMessageReader,
  createMessageConnection,
  type DataCallback,
  type Message,
  type MessageConnection,
  StreamMessageWriter,
} from 'vscode-jsonrpc/node';
import type { ConfigurationParams } from 'vscode-languageserver-protocol';
import { OutputRing } from '../process/run/captured-output.js';
import type { ContainedProgram } from '../process/run/contained-program.js';
import { framedMessages } from '../process/run/framed-messages.js';
import { plainText } from '../text/visible-text.js';
import { foldersOf } from './protocol.js';

/** A server that leaves more unread is ended. */
const maxUnreadBytes = 32 << 20;
/** The longest that a server may think about one request. */
const requestMs = 60_000;
/** Between the end of a server's output and its exit. */
const exitMs = 300;

/** JSON-RPC with one server over the streams of its program. Sizes and times are bounded. */
export class ServerConnection {
  /** Why it is over; settles when all its processes are gone. */
  readonly ended: Promise<string>;
  isOver = false;
  readonly #program: ContainedProgram;
  readonly #rpc: MessageConnection;
  readonly #stderr = new OutputRing(2_000, 8_000);
  #end: (reason: string) => void = () => {};

  /** `hear` gets what the server says or asks for unasked, in order. */
  constructor(program: ContainedProgram, roots: readonly string[], hear: (method: string, params: unknown) => void) {
    this.#program = program;
    this.ended = new Promise((resolve) => (this.#end = resolve));
    const reader = new BoundedReader(program.stdout);
    reader.onError((error) => this.close(error.message));
    this.#rpc = createMessageConnection(reader, new StreamMessageWriter(program.stdin));
    program.stderr.on('data', (chunk: Buffer) => this.#stderr.push(chunk));
    this.#rpc.onNotification(hear);
    this.#rpc.onUnhandledProgress((params) => hear('$/progress', params));
    // What a server asks for has no effect. It gets an answer, whether it reads it or not.
    this.#rpc.onRequest((method, params) => {
      this.#checkUnread();
      hear(method, params);
      return null;
    });
    this.#rpc.onRequest('workspace/workspaceFolders', () => foldersOf(roots));
    this.#rpc.onRequest('workspace/configuration', noSettings);
    this.#rpc.onError(() => {});
    const exited = program.exited.then((exit) =>
      this.close(exit.type === 'exit' ? `it exited with code ${exit.code}` : `it was killed by ${exit.signal}`),
    );
    // A server that exits closes its output first.
    this.#rpc.onClose(() => void Promise.race([exited, wait(exitMs)]).then(() => this.close('it closed its output')));
    program.unref();
    this.#rpc.listen();
  }

  notify(method: string, params: object): void {
    this.#checkUnread();
    if (!this.isOver) void this.#rpc.sendNotification(method, params).catch(() => undefined);
  }

  /** Rejects when the server refuses, or when the connection ends. A server that does not answer in time is ended. */
  async request(method: string, params: object): Promise<unknown> {
    const late = () => this.close(`it did not answer ${method} within ${requestMs / 1000} s`);
    const timer = setTimeout(late, requestMs);
    try {
      return await this.#rpc.sendRequest(method, params);
    } catch (error) {
      // The end of the connection rejects what was asked, but does not say why it ended.
      throw this.isOver ? new Error(await this.ended, { cause: error }) : error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the server with all its processes; with the last words it printed, if it failed. */
  close(reason: string): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#rpc.dispose();
    const finish = () => {
      const said = plainText(this.#stderr.end(600).toString('utf8')).trim();
      this.#end(said === '' ? reason : `${reason}. It said: ${said}`);
    };
    void this.#program.end().then(finish, finish);
  }

  #checkUnread(): void {
    if (this.#program.stdin.writableLength > maxUnreadBytes) this.close('it does not read its input');
  }
}

function noSettings({ items }: ConfigurationParams): null[] {
  return items.slice(0, 100).map(() => null);
}

/** The reader of the library has no limits. */
class BoundedReader extends AbstractMessageReader {
  readonly #stream: Readable;

  constructor(stream: Readable) {
    super();
    this.#stream = stream;
  }

  listen(callback: DataCallback) {
    const delivered = this.#deliver(callback).catch((error: unknown) => this.fireError(error));
    void delivered.then(() => this.fireClose());
    return this;
  }

  async #deliver(callback: DataCallback): Promise<void> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the connection checks what it is
    for await (const message of framedMessages(this.#stream)) callback(message as Message);
  }
}
