import { setTimeout as wait } from 'node:timers/promises';
import {
  createMessageConnection,
  type MessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-jsonrpc/node';
import { OutputRing } from '../process/run/captured-output.js';
import type { ContainedProgram, ProgramExit } from '../process/run/contained-program.js';
import { plainText } from '../text/visible-text.js';
import { foldersOf } from './file-uri.js';
import { field } from './problem.js';

/** A server that sends more than this without completing a message, or leaves more unread, is ended. */
const maxPendingMegabytes = 32;
/** After this many bytes in one window, reading pauses until the next one. */
const maxWindowBytes = 512 << 10;
const windowMs = 50;
/** The longest that a server may think about one request. */
const requestMs = 60_000;
/** Between the end of a server's output and its exit. */
const exitMs = 300;

/** What a server may ask of us, and the answer, which changes nothing. Everything else is refused. */
const answers: Readonly<Record<string, (params: unknown, roots: readonly string[]) => unknown>> = {
  'workspace/configuration': (params) => itemsOf(params).map(() => null),
  'workspace/workspaceFolders': (_params, roots) => foldersOf(roots),
  'workspace/applyEdit': () => ({ applied: false, failureReason: 'Only Lathe changes files.' }),
  'window/showMessageRequest': () => null,
  'window/showDocument': () => ({ success: false }),
  'window/workDoneProgress/create': () => null,
  'client/registerCapability': () => null,
  'client/unregisterCapability': () => null,
  'workspace/diagnostic/refresh': () => null,
};

/**
 * JSON-RPC with one server over the streams of its program. Sizes and times are bounded; what it asks for has no effect.
 * Loaded when a server starts, because it brings the library of the protocol.
 */
export class ServerConnection {
  readonly #program: ContainedProgram;
  readonly #rpc: MessageConnection;
  readonly #stderr = new OutputRing(2_000, 8_000);
  readonly #ended: Promise<string>;
  #end: (reason: string) => void = () => {};
  #pending = 0;
  #window = 0;
  #isOver = false;

  constructor(program: ContainedProgram, roots: readonly string[]) {
    this.#program = program;
    const reader = new StreamMessageReader(program.stdout);
    const rpc = createMessageConnection(reader, new StreamMessageWriter(program.stdin));
    this.#rpc = rpc;
    this.#ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    // Counted before the reader sees the bytes; a message that completes sets the count back.
    program.stdout.on('data', (chunk: Buffer) => this.#count(chunk.length));
    program.stderr.on('data', (chunk: Buffer) => this.#stderr.push(chunk));
    rpc.onRequest((method, params) => {
      this.#pending = 0;
      if (method === 'window/workDoneProgress/create') this.onProgress(field(params, 'token'), 'begin');
      const answer = Object.hasOwn(answers, method) ? answers[method] : undefined;
      if (answer === undefined) throw new Error(`${method} is not supported`);
      return answer(params, roots);
    });
    rpc.onNotification(() => {
      this.#pending = 0;
    });
    rpc.onError(() => {});
    const exited = program.exited.then((exit) => this.close(`it ${exitText(exit)}`));
    // A server that exits closes its output first.
    rpc.onClose(() => void Promise.race([exited, wait(exitMs)]).then(() => this.close('it closed its output')));
    program.unref();
    rpc.listen();
  }

  /** Why it is over; settles when all its processes are gone. */
  get ended(): Promise<string> {
    return this.#ended;
  }

  /** The server began or ended a piece of work; one that is announced will begin. */
  onProgress: (token: unknown, kind: unknown) => void = () => {};

  onNotification(method: string, listener: (params: unknown) => void): void {
    this.#rpc.onNotification(method, (params: unknown) => {
      this.#pending = 0;
      listener(params);
    });
  }

  notify(method: string, params: object): void {
    if (this.#isOver) return;
    if (this.#program.stdin.writableLength > maxPendingMegabytes << 20) this.close('it does not read its input');
    else void this.#rpc.sendNotification(method, params).catch(() => undefined);
  }

  /** Rejects when the server refuses, or when the connection ends. A server that does not answer in time is ended. */
  async request(method: string, params: object): Promise<unknown> {
    if (this.#isOver) throw new Error(await this.#ended);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        this.close(`it did not answer ${method} within ${requestMs / 1000} s`);
        reject(new Error('late'));
      }, requestMs);
    });
    try {
      const answer: unknown = await Promise.race([this.#rpc.sendRequest(method, params), late]);
      this.#pending = 0;
      return answer;
    } catch (error) {
      // The end of the connection rejects what was asked, but does not say why it ended.
      if (this.#isOver) throw new Error(await this.#ended, { cause: error });
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the server with all its processes; with the last words it printed, if it failed. */
  close(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#rpc.dispose();
    void this.#program.end().finally(() => {
      const said = plainText(this.#stderr.end(600).toString('utf8')).trim();
      this.#end(said === '' ? reason : `${reason}. It said: ${said}`);
    });
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
    if (!this.#isOver) this.#program.stdout.resume();
  }
}

function itemsOf(params: unknown): readonly unknown[] {
  const items = field(params, 'items');
  return Array.isArray(items) ? items.slice(0, 100) : [];
}

function exitText(exit: ProgramExit): string {
  return exit.type === 'exit' ? `exited with code ${exit.code}` : `was killed by ${exit.signal}`;
}
