import { setTimeout as wait } from 'node:timers/promises';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { serializeMessage } from '@modelcontextprotocol/client';
import type { ContainedProgram, ProgramExit } from '../../process/run/contained-program.js';
import { OutputRing } from '../../process/run/output-ring.js';
import { plainText } from '../../text/terminal-text.js';
import { UnfinishedLine } from './unfinished-line.js';

/** More than any model takes in one answer, pictures included. */
const maxFrameMegabytes = 16;
/** More than this waiting to be read, and the server does not listen: it may ask without end and leave our answers lying. */
const maxUnreadMegabytes = 32;
/** A server that says more than this in one window has to wait for the next; what nobody asked for is dropped. */
const maxMessagesPerWindow = 50;
const windowMs = 50;
/** How long a server gets to end by itself once its input is closed. */
const goodbyeMs = 300;

/**
 * JSON lines over the streams of a contained program. Whatever the server does stays bounded: a line has a largest
 * length, noise between messages is counted and dropped, stderr is drained into a ring, and a flood is slowed down by
 * not reading it.
 */
export class StdioTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport['onmessage'];
  readonly #starting: Promise<ContainedProgram>;
  readonly #stderr = new OutputRing(2_000, 8_000);
  #program: ContainedProgram | undefined;
  #closing: Promise<void> | undefined;
  readonly #unfinished = new UnfinishedLine(maxFrameMegabytes * 1024 ** 2);
  #noise = 0;
  #budget = maxMessagesPerWindow;
  #problem = '';
  #exit: ProgramExit | undefined;

  constructor(starting: Promise<ContainedProgram>) {
    this.#starting = starting;
    // Told to whoever starts or closes the transport.
    starting.catch(() => undefined);
  }

  /** The end of what the server printed to stderr. */
  get lastWords(): string {
    return plainText(this.#stderr.end(2_000).toString('utf8')).trim();
  }

  /** Lines that were no messages. */
  get noise(): number {
    return this.#noise;
  }

  /** Why we no longer listen to it; empty when that is not our doing. */
  get problem(): string {
    return this.#problem;
  }

  /** How the server ended, once it has. */
  get exit(): ProgramExit | undefined {
    return this.#exit;
  }

  async start(): Promise<void> {
    const program = await this.#starting;
    this.#program = program;
    program.stderr.on('data', (chunk: Buffer) => this.#stderr.push(chunk));
    program.stdout.on('data', (chunk: Buffer) => this.#receive(chunk));
    // A server that closes its output can never answer again, whether it runs on or not.
    program.stdout.once('close', () => void this.close());
    program.stdin.once('close', () => void this.close());
    void program.exited.then((exit) => {
      this.#exit = exit;
      return this.close();
    });
    program.unref();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#program?.stdin;
    if (stdin === undefined || !stdin.writable) throw new Error('the server no longer takes input');
    if (stdin.writableLength > maxUnreadMegabytes * 1024 ** 2)
      throw this.#disconnect('It does not read what it is sent and was disconnected.');
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
      await Promise.race([program.exited, wait(goodbyeMs, undefined, { signal: pause.signal }).catch(() => undefined)]);
      pause.abort();
      await program.end();
      for (const stream of [program.stdin, program.stdout, program.stderr]) stream.destroy();
    }
    this.#unfinished.clear();
    this.onclose?.();
  }

  #receive(chunk: Buffer): void {
    for (const line of this.#unfinished.linesWith(chunk)) {
      if (this.#closing !== undefined) return;
      if (line === undefined) {
        this.#disconnect(`It sent a message of more than ${maxFrameMegabytes} MB and was disconnected.`);
        return;
      }
      this.#deliver(line);
    }
  }

  #disconnect(problem: string): Error {
    this.#problem = problem;
    void this.close();
    return new Error(problem);
  }

  #deliver(line: string): void {
    if (line.trim() === '') return;
    if (!this.#spend() && !line.includes('"id"')) return;
    const message = readMessage(line);
    if (message === undefined) this.#noise++;
    else if (isWanted(message)) this.onmessage?.(message);
  }

  /** False when the window's share is used up. */
  #spend(): boolean {
    if (this.#budget-- > 0) {
      if (this.#budget === maxMessagesPerWindow - 1) setTimeout(() => this.#renew(), windowMs).unref();
      return true;
    }
    this.#program?.stdout.pause();
    return false;
  }

  #renew(): void {
    this.#budget = maxMessagesPerWindow;
    this.#program?.stdout.resume();
  }
}

/** A message as far as a transport has to know one; the client looks closer. */
function readMessage(line: string): JSONRPCMessage | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isMessage(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isMessage(value: unknown): value is JSONRPCMessage {
  return typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0';
}

const useful = /^notifications\/(?:progress|cancelled|tasks|elicitation|subscriptions|.*list_changed)/;

/** The client remembers what it has looked at for a while, so that a flood of log lines would fill the memory. */
function isWanted(message: JSONRPCMessage): boolean {
  return !('method' in message) || 'id' in message || useful.test(message.method);
}
