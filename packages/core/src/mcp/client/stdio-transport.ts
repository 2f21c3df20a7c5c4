import { setTimeout as wait } from 'node:timers/promises';
import { type JSONRPCMessage, serializeMessage, type Transport } from '@modelcontextprotocol/client';
import { OutputRing } from '../../process/run/captured-output.js';
import type { ContainedProgram, ProgramExit } from '../../process/run/contained-program.js';
import { parseJson } from '../../text/parse-json.js';
import { plainText } from '../../text/visible-text.js';
import { LineBuffer } from './line-buffer.js';

/** More than any model accepts in one result, images included. */
const maxFrameMegabytes = 16;
/** A server with more unread input than this does not read: it may send requests forever and ignore our responses. */
const maxUnreadMegabytes = 32;
/** After this many messages in one window, reading pauses until the next one, and notifications are dropped. */
const maxMessagesPerWindow = 50;
const windowMs = 50;
/** How long a server gets to exit by itself after its input is closed. */
const exitMs = 300;

/**
 * JSON lines over the streams of a contained program. Every resource is bounded: lines have a maximum length, lines that
 * are not messages are counted and dropped, stderr goes to a ring buffer, and reading pauses during a flood.
 */
export class StdioTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport['onmessage'];
  readonly #starting: Promise<ContainedProgram>;
  readonly #stderr = new OutputRing(2_000, 8_000);
  #program: ContainedProgram | undefined;
  #closing: Promise<void> | undefined;
  readonly #buffer = new LineBuffer(maxFrameMegabytes * 1024 ** 2);
  #budget = maxMessagesPerWindow;
  /** Lines that were not messages. */
  noise = 0;
  /** Why Lathe disconnected the server; empty if it did not. */
  problem = '';
  /** How the server ended. */
  exit: ProgramExit | undefined;

  constructor(starting: Promise<ContainedProgram>) {
    this.#starting = starting;
    // `start` and `close` handle the error.
    starting.catch(() => undefined);
  }

  /** The end of the server's stderr. */
  get stderrTail(): string {
    return plainText(this.#stderr.end(2_000).toString('utf8')).trim();
  }

  async start(): Promise<void> {
    const program = await this.#starting;
    this.#program = program;
    program.stderr.on('data', (chunk: Buffer) => this.#stderr.push(chunk));
    program.stdout.on('data', (chunk: Buffer) => this.#receive(chunk));
    // A server that closed its output cannot answer any more, even if it is still running.
    program.stdout.once('close', () => void this.close());
    program.stdin.once('close', () => void this.close());
    void program.exited.then((exit) => {
      this.exit = exit;
      return this.close();
    });
    program.unref();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#program?.stdin;
    if (stdin === undefined || !stdin.writable) throw new Error('the server no longer accepts input');
    if (stdin.writableLength > maxUnreadMegabytes * 1024 ** 2)
      throw this.#disconnect('It does not read its input and was disconnected.');
    await new Promise<void>((resolve, reject) => {
      stdin.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()));
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    const program = await this.#starting.catch(() => undefined);
    if (program !== undefined) {
      program.stdin.end();
      const pause = new AbortController();
      await Promise.race([program.exited, wait(exitMs, undefined, { signal: pause.signal }).catch(() => undefined)]);
      pause.abort();
      await program.end();
      for (const stream of [program.stdin, program.stdout, program.stderr]) stream.destroy();
    }
    this.#buffer.clear();
    this.onclose?.();
  }

  #receive(chunk: Buffer): void {
    for (const line of this.#buffer.linesWith(chunk)) {
      if (this.#closing !== undefined) return;
      if (line === undefined) {
        this.#disconnect(`It sent a message of more than ${maxFrameMegabytes} MB and was disconnected.`);
        return;
      }
      this.#deliver(line);
    }
  }

  #disconnect(problem: string): Error {
    this.problem = problem;
    void this.close();
    return new Error(problem);
  }

  #deliver(line: string): void {
    if (line.trim() === '') return;
    if (!this.#spend() && !line.includes('"id"')) return;
    const message = readMessage(line);
    if (message === undefined) this.noise++;
    else if (isWanted(message)) this.onmessage?.(message);
  }

  /** False when the budget of this window is used up. */
  #spend(): boolean {
    if (this.#budget === maxMessagesPerWindow) setTimeout(() => this.#startWindow(), windowMs).unref();
    if (this.#budget-- > 0) return true;
    this.#program?.stdout.pause();
    return false;
  }

  #startWindow(): void {
    this.#budget = maxMessagesPerWindow;
    this.#program?.stdout.resume();
  }
}

/** Checks only that it is a message; the client validates the rest. */
function readMessage(line: string): JSONRPCMessage | undefined {
  const parsed = parseJson(line);
  return parsed.ok && isMessage(parsed.value) ? parsed.value : undefined;
}

function isMessage(value: unknown): value is JSONRPCMessage {
  return typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0';
}

const wantedNotifications = /^notifications\/(?:progress|cancelled|tasks|elicitation|subscriptions|.*list_changed)/;

/** The client keeps messages for a while after it handled them, so a flood of log notifications would fill the memory. */
function isWanted(message: JSONRPCMessage): boolean {
  return !('method' in message) || 'id' in message || wantedNotifications.test(message.method);
}
