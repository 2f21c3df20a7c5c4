import { SessionStore } from '@lathe/agent';
import type { ApiSession, SessionSettings } from '@lathe/agent/client';
import { LatheHome } from '@lathe/core/tools';
import { errorMessage } from '../command-line/error-message.js';
import { latheHome } from '../startup/open-lathe.js';
import { type LiveOptions, LiveSession } from './live-session.js';
import { Rejection } from './rejection.js';

/** Each has tools, a history and a log of its own. */
const maxOpen = 16;

/** The sessions of one directory: those that are open here, and those that can be opened. */
export class LiveSessions {
  readonly #options: LiveOptions;
  readonly #signal: AbortSignal;
  /** By id, least recently used first. */
  readonly #open = new Map<string, LiveSession>();
  #opening: Promise<unknown> = Promise.resolve();

  constructor(options: LiveOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  async list(): Promise<ApiSession[]> {
    const open = [...this.#open.values()].map(({ info }) => info);
    const stored = (await (await this.#store()).list()).filter(({ id }) => !this.#open.has(id));
    const all = [
      ...open,
      ...stored.map(({ path: _path, cwd: _cwd, ...rest }) => ({ ...rest, status: 'stored' as const })),
    ];
    return all.sort((a, b) => (a.updated < b.updated ? 1 : -1));
  }

  /** An open session. */
  get(id: string): LiveSession {
    const session = this.#open.get(id);
    if (!session) throw new Rejection(404, `The session ${id} is not open`);
    this.#open.delete(id);
    this.#open.set(id, session);
    session.notePresence();
    return session;
  }

  async create({ mode, model, effort }: SessionSettings): Promise<LiveSession> {
    const { flags } = this.#options;
    return this.#openNext(() => ({
      ...this.#options,
      flags: {
        ...flags,
        ...(mode !== undefined && { approvalMode: mode }),
        ...(model !== undefined && { model }),
        ...(effort !== undefined && { effort }),
      },
    }));
  }

  /** Continues an earlier session. */
  async resume(id: string): Promise<LiveSession> {
    if (this.#open.has(id)) return this.get(id);
    const known = (await (await this.#store()).list()).some((each) => each.id === id);
    if (!known) throw new Rejection(404, `There is no session ${id} in this directory`);
    return this.#openNext(() => ({ ...this.#options, resume: id }), id);
  }

  async close(id: string): Promise<void> {
    const session = this.get(id);
    this.#open.delete(id);
    await session.close();
  }

  /** Closes the session if it is open, and removes its transcript. */
  async remove(id: string): Promise<void> {
    const wasOpen = this.#open.has(id);
    if (wasOpen) await this.close(id);
    const store = await this.#store();
    const isStored = (await store.list()).some((each) => each.id === id);
    if (!wasOpen && !isStored) throw new Rejection(404, `There is no session ${id} in this directory`);
    // A session without a prompt has no transcript.
    if (!isStored) return;
    await store.remove(id).catch((error: unknown) => {
      throw new Rejection(409, errorMessage(error));
    });
  }

  async closeAll(): Promise<void> {
    await this.#opening;
    await Promise.all([...this.#open.keys()].map((id) => this.close(id)));
  }

  /** Opens sessions one at a time, so that each finds room and none is opened twice. */
  #openNext(options: () => LiveOptions, id?: string): Promise<LiveSession> {
    const opened = this.#opening.then(async () => {
      this.#signal.throwIfAborted();
      if (id !== undefined && this.#open.has(id)) return this.get(id);
      await this.#makeRoom();
      const session = await LiveSession.open(options(), this.#signal);
      this.#open.set(session.id, session);
      return session;
    });
    this.#opening = opened.catch(() => undefined);
    return opened;
  }

  async #makeRoom(): Promise<void> {
    if (this.#open.size < maxOpen) return;
    const idle = [...this.#open.values()].find(({ isWorking, log }) => !isWorking && log.listenerCount === 0);
    if (!idle) throw new Rejection(503, `${maxOpen} sessions are open; close one of them`);
    await this.close(idle.id);
  }

  #store(): Promise<SessionStore> {
    const { io } = this.#options;
    return SessionStore.open(new LatheHome(latheHome(io)), io.cwd);
  }
}
