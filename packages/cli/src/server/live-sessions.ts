import { SessionStore } from '@lathe/agent';
import type { ApiSession, SessionSettings } from '@lathe/agent/client';
import { LatheHome } from '@lathe/core/tools';
import { modeNamed } from '../command-line/approval-modes.js';
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
    const found = (await (await this.#store()).list()).filter(({ id }) => !this.#open.has(id));
    const stored = found.map(({ path: _path, cwd: _cwd, ...rest }) => ({ ...rest, status: 'stored' as const }));
    return [...open, ...stored].sort((a, b) => (a.updated < b.updated ? 1 : -1));
  }

  /** An open session. */
  get(id: string): LiveSession {
    const session = this.#open.get(id);
    if (!session) throw new Rejection(404, `The session ${id} is not open`);
    this.#open.delete(id);
    this.#open.set(id, session);
    session.wasPresent = true;
    return session;
  }

  create({ mode, ...settings }: SessionSettings): Promise<LiveSession> {
    const approvalMode = modeNamed(mode ?? '');
    const flags = { ...this.#options.flags, ...settings, ...(approvalMode && { approvalMode }) };
    return this.#openNext({ ...this.#options, flags });
  }

  /** Continues an earlier session. */
  resume(id: string): Promise<LiveSession> {
    return this.#openNext({ ...this.#options, resume: id });
  }

  async close(id: string): Promise<void> {
    const session = this.get(id);
    this.#open.delete(id);
    const closed = session.close();
    // It can be opened again when all of it is stored.
    this.#opening = Promise.allSettled([this.#opening, closed]);
    await closed;
  }

  /** Closes the session if it is open, and removes its transcript. */
  async remove(id: string): Promise<void> {
    const wasOpen = this.#open.has(id);
    if (wasOpen) await this.close(id);
    // A session without a prompt has no transcript.
    if (!(await this.#isStored(id))) return wasOpen ? undefined : Promise.reject(missing(id));
    await (await this.#store()).remove(id).catch((error: unknown) => {
      throw new Rejection(409, errorMessage(error));
    });
  }

  async closeAll(): Promise<void> {
    await this.#opening;
    await Promise.all([...this.#open.keys()].map((id) => this.close(id)));
  }

  /** Opens sessions one at a time, so that each finds room and none is opened twice. */
  #openNext(options: LiveOptions): Promise<LiveSession> {
    const opened = this.#opening.then(async () => {
      this.#signal.throwIfAborted();
      const { resume } = options;
      if (resume !== undefined && this.#open.has(resume)) return this.get(resume);
      if (resume !== undefined && !(await this.#isStored(resume))) throw missing(resume);
      await this.#makeRoom();
      const session = await LiveSession.open(options, this.#signal);
      this.#open.set(session.id, session);
      return session;
    });
    this.#opening = opened.catch(() => undefined);
    return opened;
  }

  async #makeRoom(): Promise<void> {
    if (this.#open.size < maxOpen) return;
    const idle = [...this.#open.values()].find(({ info, log }) => info.status === 'idle' && log.listenerCount === 0);
    if (!idle) throw new Rejection(503, `${maxOpen} sessions are open; close one of them`);
    await this.close(idle.id);
  }

  async #isStored(id: string): Promise<boolean> {
    return (await (await this.#store()).list()).some((each) => each.id === id);
  }

  #store(): Promise<SessionStore> {
    return SessionStore.open(new LatheHome(latheHome(this.#options.io)), this.#options.io.cwd);
  }
}

const missing = (id: string) => new Rejection(404, `There is no session ${id} in this directory`);
