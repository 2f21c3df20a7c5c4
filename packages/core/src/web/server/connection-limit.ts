import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Above the listen backlog of 511, so that a burst cannot close a connection before its first request was checked. */
const maxUnauthenticated = 512;
const maxAuthenticated = 256;

/**
 * Limits the connections. Those without the token are counted separately, and the oldest of them is closed for a new one,
 * so a client without the token can never displace one that has it.
 */
export class ConnectionLimit {
  readonly #unauthenticated = new Set<Socket>();
  /** Connections with the token and the number of their open requests, least recently used first. */
  readonly #authenticated = new Map<Socket, number>();

  constructor(http: Server) {
    http.on('connection', (socket: Socket) => {
      socket.once('close', () => this.#forget(socket));
      this.#unauthenticated.add(socket);
      const [oldest] = this.#unauthenticated;
      if (this.#unauthenticated.size > maxUnauthenticated) oldest?.destroy();
    });
  }

  /** Counts a request with the token; false when every connection is busy. */
  enter(socket: Socket): boolean {
    this.#unauthenticated.delete(socket);
    if (!this.#authenticated.has(socket) && this.#authenticated.size >= maxAuthenticated && !this.#makeRoom())
      return false;
    this.#use(socket, 1);
    return true;
  }

  /** Counts the end of a request. */
  leave(socket: Socket): void {
    if (this.#authenticated.has(socket)) this.#use(socket, -1);
  }

  #use(socket: Socket, change: number): void {
    const requests = (this.#authenticated.get(socket) ?? 0) + change;
    this.#authenticated.delete(socket);
    this.#authenticated.set(socket, requests);
  }

  #makeRoom(): boolean {
    for (const [socket, requests] of this.#authenticated) {
      if (requests > 0) continue;
      this.#forget(socket);
      socket.destroy();
      return true;
    }
    return false;
  }

  #forget(socket: Socket): void {
    this.#unauthenticated.delete(socket);
    this.#authenticated.delete(socket);
  }
}
