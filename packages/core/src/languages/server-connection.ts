import { setTimeout as wait } from 'node:timers/promises';
import {
  createMessageConnection,
  type MessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-jsonrpc/node';
import { OutputRing } from '../process/run/captured-output.js';
import type { ContainedProgram } from '../process/run/contained-program.js';
import { plainText } from '../text/visible-text.js';
import { field, foldersOf } from './protocol.js';

/** A server that sends more than this without completing a message, or leaves more unread, is ended. */
const maxPendingMegabytes = 32;
/** After this many bytes in one window, reading pauses until the next one. */
const maxWindowBytes = 512 << 10;
const windowMs = 50;
/** The longest that a server may think about one request. */
const requestMs = 60_000;
/** Between the end of a server's output and its exit. */
const exitMs = 300;

/** What a server may ask of us and needs more than `null` for an answer. Nothing it asks for has an effect. */
const answers: Readonly<Record<string, (params: unknown, roots: readonly string[]) => unknown>> = {
  'workspace/configuration': (params) => {
    const items = field(params, 'items');
    return Array.isArray(items) ? items.slice(0, 100).map(() => null) : [];
  },
  'workspace/workspaceFolders': (_params, roots) => foldersOf(roots),
  'workspace/applyEdit': () => ({ applied: false, failureReason: 'Only Lathe changes files.' }),
  'window/showDocument': () => ({ success: false }),
};

/** JSON-RPC with one server over the streams of its program. Sizes and times are bounded. */
export class ServerConnection {
  /** Why it is over; settles when all its processes are gone. */
  readonly ended: Promise<string>;
  isOver = false;
  readonly #program: ContainedProgram;
  readonly #rpc: MessageConnection;
  readonly #stderr = new OutputRing(2_000, 8_000);
  #end: (reason: string) => void = () => {};
  #pending = 0;
  #window = 0;

  /** `hear` gets every message of the server that has a method, in order. */
  constructor(program: ContainedProgram, roots: readonly string[], hear: (method: unknown, params: unknown) => void) {
    this.#program = program;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    const reader = new StreamMessageReader(program.stdout);
    const listen = reader.listen.bind(reader);
    reader.listen = (callback) =>
      listen((message) => {
        this.#pending = 0;
        hear(field(message, 'method'), field(message, 'params'));
        callback(message);
      });
    this.#rpc = createMessageConnection(reader, new StreamMessageWriter(program.stdin));
    // Counted before the reader sees the bytes; a message that completes sets the count back.
    program.stdout.on('data', (chunk: Buffer) => this.#count(chunk.length));
    program.stderr.on('data', (chunk: Buffer) => this.#stderr.push(chunk));
    this.#rpc.onRequest((method, params) => (Object.hasOwn(answers, method) ? answers[method]?.(params, roots) : null));
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
    if (this.isOver) return;
    if (this.#program.stdin.writableLength > maxPendingMegabytes << 20) this.close('it does not read its input');
    else void this.#rpc.sendNotification(method, params).catch(() => undefined);
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

  #count(bytes: number): void {
    this.#pending += bytes;
    this.#window += bytes;
    const most = maxPendingMegabytes << 20;
    if (this.#pending > most) this.close(`it sent a message of over ${maxPendingMegabytes} MB`);
    else if (this.#program.stdin.writableLength > most) this.close('it does not read its input');
    else if (this.#window === bytes) setTimeout(() => this.#startWindow(), windowMs).unref();
    if (this.#window > maxWindowBytes) this.#program.stdout.pause();
  }

  #startWindow(): void {
    this.#window = 0;
    if (!this.isOver) this.#program.stdout.resume();
  }
}
