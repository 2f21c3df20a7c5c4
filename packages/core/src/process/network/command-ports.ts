import { createServer, type Server, type Socket } from 'node:net';
import { type ListeningPort, socketsOf } from './listening-ports.js';
import type { SessionNetwork } from './session-network.js';

/** A port of a background command that programs outside the sandbox can reach. */
export interface OpenPort {
  /** The port inside the sandbox. */
  port: number;
  /** The address on this machine. */
  url: string;
}

interface Relay {
  target: ListeningPort;
  server: Server;
  sockets: Set<Socket>;
  open?: OpenPort;
}

/** Ports of one command that are opened at most. */
const maxPorts = 16;
const lookEveryMs = 250;
/** Ports of the system's services are never taken, not even as root. */
const firstPort = 1024;

/**
 * Opens the ports on which a background command listens at 127.0.0.1 of the machine, while it listens. Ports of other
 * commands in the same network stay closed. Connections lead into the sandbox only: nothing inside can start one.
 */
export class CommandPorts {
  readonly #network: SessionNetwork;
  readonly #processes: () => number[];
  readonly #onOpen: (port: OpenPort) => void;
  readonly #relays = new Map<number, Relay>();
  /** Whether a socket belongs to the command, by its inode. */
  #isOwn = new Map<string, boolean>();
  readonly #timer: NodeJS.Timeout;
  #isClosed = false;

  /** `processes` returns the processes of the command. */
  constructor(network: SessionNetwork, processes: () => number[], onOpen: (port: OpenPort) => void = () => undefined) {
    this.#network = network;
    this.#processes = processes;
    this.#onOpen = onOpen;
    this.#timer = setInterval(() => void this.look(), lookEveryMs).unref();
  }

  list(): OpenPort[] {
    return [...this.#relays.values()].flatMap(({ open }) => open ?? []);
  }

  /** Opens the ports that are new, and closes those that are gone. */
  async look(): Promise<void> {
    if (this.#isClosed) return;
    const found = this.#ownPorts();
    for (const [port, relay] of this.#relays) if (!found.has(port)) this.#close(port, relay);
    const added = [...found.values()].filter(({ port }) => !this.#relays.has(port));
    await Promise.all(added.slice(0, maxPorts - this.#relays.size).map((port) => this.#open(port)));
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const [port, relay] of this.#relays) this.#close(port, relay);
  }

  #ownPorts(): Map<number, ListeningPort> {
    const listening = this.#network.listening();
    const isNew = listening.some(({ inode }) => !this.#isOwn.has(inode));
    const own = isNew ? socketsOf(this.#processes()) : new Set<string>();
    const isOwn = (inode: string) => this.#isOwn.get(inode) ?? own.has(inode);
    this.#isOwn = new Map(listening.map(({ inode }) => [inode, isOwn(inode)]));
    const ports = listening.filter(({ inode }) => this.#isOwn.get(inode)).map((one) => [one.port, one] as const);
    // IPv4 comes first in the list, so it is set last.
    return new Map(ports.toReversed());
  }

  async #open(target: ListeningPort): Promise<void> {
    const sockets = new Set<Socket>();
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
    const relay: Relay = { target, server, sockets };
    server.on('connection', (socket) => void this.#forward(socket, relay));
    this.#relays.set(target.port, relay);
    const wanted = target.port < firstPort ? 0 : target.port;
    const port = (await listen(server, wanted)) ?? (await listen(server, 0));
    server.unref();
    if (port === undefined) return;
    // It may have been closed meanwhile.
    if (this.#relays.get(target.port) !== relay) return void server.close();
    relay.open = { port: target.port, url: `http://127.0.0.1:${port}` };
    this.#onOpen(relay.open);
  }

  async #forward(outer: Socket, { target, sockets }: Relay): Promise<void> {
    outer.on('error', () => outer.destroy()).unref();
    const inner = await this.#network.connect(target);
    if (inner === undefined || outer.destroyed) {
      inner?.destroy();
      return void outer.destroy();
    }
    inner.on('error', () => inner.destroy()).unref();
    for (const [from, to] of [[outer, inner] as const, [inner, outer] as const]) {
      sockets.add(from);
      from.pipe(to);
      from.once('close', () => {
        sockets.delete(from);
        to.destroySoon();
      });
    }
  }

  #close(port: number, { server, sockets }: Relay): void {
    this.#relays.delete(port);
    server.close();
    for (const socket of sockets) socket.destroy();
  }
}

/** The port, or `undefined` if it is taken. */
function listen(server: Server, port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const fail = () => resolve(undefined);
    server.once('error', fail);
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.off('error', fail);
      const address = server.address();
      resolve(typeof address === 'object' ? address?.port : undefined);
    });
  });
}
