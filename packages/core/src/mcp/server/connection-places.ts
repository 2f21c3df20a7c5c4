import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** More than the 511 that the system keeps waiting: no burst pushes one out before its first request was looked at. */
const maxStrangers = 512;
const maxKnown = 256;

/**
 * Who may stay connected. Connections that have not shown the token have places of their own, and the oldest of them
 * makes room; so whoever has no token can never take the place of whoever has.
 */
export class ConnectionPlaces {
  readonly #strangers = new Set<Socket>();
  /** Those that have shown the token, with the number of requests under way. The one used last stands at the end. */
  readonly #known = new Map<Socket, number>();

  constructor(http: Server) {
    http.on('connection', (socket: Socket) => {
      socket.once('close', () => this.#forget(socket));
      this.#strangers.add(socket);
      const [oldest] = this.#strangers;
      if (this.#strangers.size > maxStrangers) oldest?.destroy();
    });
  }

  /** Takes a place for a request that has shown the token; false when each one is in use. */
  enter(socket: Socket): boolean {
    this.#strangers.delete(socket);
    if (!this.#known.has(socket) && this.#known.size >= maxKnown && !this.#makeRoom()) return false;
    this.#use(socket, 1);
    return true;
  }

  /** Says that a request which had entered is over. */
  leave(socket: Socket): void {
    if (this.#known.has(socket)) this.#use(socket, -1);
  }

  #use(socket: Socket, change: number): void {
    const requests = (this.#known.get(socket) ?? 0) + change;
    this.#known.delete(socket);
    this.#known.set(socket, requests);
  }

  #makeRoom(): boolean {
    for (const [socket, requests] of this.#known) {
      if (requests > 0) continue;
      this.#forget(socket);
      socket.destroy();
      return true;
    }
    return false;
  }

  #forget(socket: Socket): void {
    this.#strangers.delete(socket);
    this.#known.delete(socket);
  }
}
