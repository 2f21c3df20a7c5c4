import { type ChildProcess, spawn } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { Socket } from 'node:net';
import { attempt } from '../../contract/errors.js';
import { failureOf } from './failure-of.js';
import { type ListeningPort, listeningPorts } from './listening-ports.js';

export interface SessionNetworkOptions {
  /** The path of bubblewrap. */
  bubblewrap: string;
  /** The path of `nsenter`, if there is one. */
  nsenter: string | undefined;
  /** Namespaces belong to a new user namespace. Root can do without one. */
  hasUserNamespace: boolean;
}

/**
 * The network namespace that sandboxed commands share while one of them runs in the background, so that one reaches the
 * server of another. It holds nothing but loopback. A small helper process keeps it open and, on request, connects to a
 * port in it: the connection is passed to Lathe, so that no traffic runs through the helper, and nothing inside can ask
 * for a connection to the outside. The helper starts with the first background command and ends with the last one.
 */
export class SessionNetwork {
  readonly #options: SessionNetworkOptions;
  #holder: Promise<Holder | string> | undefined;
  #current: Holder | undefined;
  #users = 0;

  constructor(options: SessionNetworkOptions) {
    this.#options = options;
  }

  /** Opens the network if it is closed. Returns the reason if that is not possible. */
  async open(): Promise<string | undefined> {
    this.#holder ??= this.#start();
    const holder = await this.#holder;
    return typeof holder === 'string' ? holder : undefined;
  }

  get isOpen(): boolean {
    return this.#current?.isAlive() ?? false;
  }

  /** What starts a program in this network, placed before its arguments; `undefined` while it is closed. */
  entry(): readonly string[] | undefined {
    return this.isOpen ? this.#current?.entry : undefined;
  }

  /** Keeps the network open until the returned function is called. */
  use(): () => void {
    this.#users++;
    return () => {
      if (--this.#users === 0) this.close();
    };
  }

  /** The TCP ports on which programs in this network listen. */
  listening(): ListeningPort[] {
    return this.isOpen && this.#current !== undefined ? listeningPorts(this.#current.pid) : [];
  }

  /** Connects to a port in this network; `undefined` if nothing accepts. */
  async connect(to: ListeningPort): Promise<Socket | undefined> {
    return this.#current?.connect(to);
  }

  close(): void {
    this.#current?.end();
    this.#current = undefined;
    this.#holder = undefined;
  }

  async #start(): Promise<Holder | string> {
    const { nsenter, bubblewrap, hasUserNamespace } = this.#options;
    if (nsenter === undefined) return 'nsenter (util-linux) is not installed outside the workspace';
    const user = hasUserNamespace ? ['--unshare-user'] : [];
    // No `--dev`: for it bubblewrap would add a second user namespace, and only the first one can be entered.
    const view = [
      '--die-with-parent',
      ...user,
      '--unshare-ipc',
      '--unshare-net',
      '--cap-drop',
      'ALL',
      '--ro-bind',
      '/',
      '/',
    ];
    const child = spawn(bubblewrap, [...view, '--', process.execPath, '-e', helper], {
      // Its own session, so that the Ctrl+C that stops a turn does not end it.
      detached: true,
      cwd: '/',
      env: {},
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const pid = await firstMessage(child);
    if (typeof pid === 'string') return pid;
    const enter = hasUserNamespace ? ['--user', '--preserve-credentials'] : [];
    const holder = new Holder(child, pid, [nsenter, '--target', `${pid}`, '--net', ...enter, '--']);
    const failure = await failureOf(nsenter, [
      ...holder.entry.slice(1),
      bubblewrap,
      ...user,
      '--ro-bind',
      '/',
      '/',
      '--',
      '/bin/true',
    ]);
    if (failure !== undefined) {
      holder.end();
      return `the namespaces of another command cannot be entered (${failure})`;
    }
    this.#current = holder;
    child.once('exit', () => {
      if (this.#current === holder) this.close();
    });
    return holder;
  }
}

/** The pid of the helper, or why it did not start. */
function firstMessage(child: ChildProcess): Promise<number | string> {
  return new Promise((resolve) => {
    let stderr = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr = (stderr + chunk.toString('utf8')).slice(0, 300);
    });
    child.once('error', (error) => resolve(error.message));
    child.once('close', () => resolve(stderr.trim() || 'the process that holds the network ended'));
    child.once('message', (message) => resolve(Number(Reflect.get(Object(message), 'pid'))));
  });
}

/** The process that holds the namespace open. */
class Holder {
  readonly pid: number;
  readonly entry: readonly string[];
  readonly #child: ChildProcess;
  readonly #namespace: string | undefined;
  readonly #waiting = new Map<number, (socket: Socket | undefined) => void>();
  #count = 0;

  constructor(child: ChildProcess, pid: number, entry: readonly string[]) {
    this.#child = child;
    this.pid = pid;
    this.entry = entry;
    this.#namespace = namespaceOf(pid);
    child.on('message', (message, handle) => {
      const id = Number(Reflect.get(Object(message), 'id'));
      this.#waiting.get(id)?.(handle instanceof Socket ? handle : undefined);
      this.#waiting.delete(id);
    });
    child.once('disconnect', () => {
      for (const answer of this.#waiting.values()) answer(undefined);
    });
    child.on('error', () => undefined);
    // It must not keep an idle Lathe running.
    child.unref();
    child.channel?.unref();
    if (child.stderr instanceof Socket) child.stderr.unref();
  }

  /** Another process may have the number by now, so the namespace counts. */
  isAlive(): boolean {
    return this.#child.connected && this.#namespace !== undefined && namespaceOf(this.pid) === this.#namespace;
  }

  connect({ port, host }: ListeningPort): Promise<Socket | undefined> {
    return new Promise((resolve) => {
      if (!this.#child.connected) return resolve(undefined);
      const id = ++this.#count;
      this.#waiting.set(id, resolve);
      this.#child.send({ id, port, host }, (error) => error && resolve(undefined));
    });
  }

  /** The helper exits when its channel closes; so it does when Lathe dies. */
  end(): void {
    if (this.#child.connected) this.#child.disconnect();
  }
}

function namespaceOf(pid: number): string | undefined {
  return attempt(() => readlinkSync(`/proc/${pid}/ns/net`));
}

/** Reads nothing from a connection before it passes it on. */
const helper = `
const net = require('node:net');
process.on('message', ({ id, port, host }) => {
  const socket = net.connect({ port, host });
  socket.pause();
  socket.once('connect', () => process.send({ id }, socket));
  socket.on('error', () => process.connected && process.send({ id }));
});
process.on('disconnect', () => process.exit());
process.send({ pid: process.pid });
`;
