import { statSync } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import {
  type AgentContext,
  type ClientCapabilities,
  type ListSessionsResponse,
  type McpServer,
  RequestError,
} from '@agentclientprotocol/sdk';
import { SessionStore } from '@lathe/agent';
import { NamesInUse, visibleText } from '@lathe/core/host';
import { LatheHome } from '@lathe/core/tools';
import type { Flags } from '../command-line/args.js';
import type { Io } from '../command-line/io.js';
import { latheHome } from '../startup/open-lathe.js';
import { EditorSession } from './editor-session.js';

interface Place {
  cwd: string;
  mcpServers?: readonly McpServer[];
}

/** The sessions of one editor. */
export class EditorSessions {
  capabilities: ClientCapabilities = {};
  readonly #flags: Flags;
  readonly #io: Io;
  readonly #home: LatheHome;
  readonly #open = new Map<string, EditorSession>();
  /** Sessions that are being opened. */
  readonly #opening = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(flags: Flags, io: Io) {
    this.#flags = flags;
    this.#io = io;
    this.#home = new LatheHome(latheHome(io));
  }

  get(id: string): EditorSession {
    const session = this.#open.get(id);
    if (!session) throw RequestError.sessionNotFound(id);
    return session;
  }

  create(place: Place, editor: AgentContext, signal: AbortSignal): Promise<EditorSession> {
    return this.#track(this.#start(place, editor, signal));
  }

  /** Opens an earlier session, again if it is open. */
  async restore(id: string, place: Place, editor: AgentContext, signal: AbortSignal): Promise<EditorSession> {
    assertDirectory(place.cwd);
    if (!(await SessionStore.find(this.#home, id))) throw RequestError.sessionNotFound(id);
    await this.close(id);
    return this.#track(this.#start(place, editor, signal, id));
  }

  async list(cwd: string | null | undefined): Promise<ListSessionsResponse> {
    const found = cwd
      ? await (await SessionStore.open(this.#home, cwd)).list()
      : await SessionStore.listAll(this.#home);
    const sessions = found
      .filter((each) => isAbsolute(each.cwd))
      .map(({ id, cwd: place, title, updated }) => ({
        sessionId: id,
        cwd: place,
        title: visibleText(title),
        updatedAt: updated,
      }));
    return { sessions };
  }

  async close(id: string): Promise<void> {
    const session = this.#open.get(id);
    this.#open.delete(id);
    await session?.close();
  }

  async remove(id: string): Promise<void> {
    await this.close(id);
    const path = await SessionStore.find(this.#home, id);
    if (path === undefined) throw RequestError.sessionNotFound(id);
    if ((await new NamesInUse(this.#home).list()).has(id))
      throw RequestError.invalidRequest(undefined, 'another process works with this session');
    await unlink(path);
  }

  /** The editor is gone. */
  async closeAll(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled([...this.#opening]);
    await Promise.allSettled([...this.#open.keys()].map((id) => this.close(id)));
  }

  async #start(place: Place, editor: AgentContext, signal: AbortSignal, resume?: string): Promise<EditorSession> {
    const { cwd, mcpServers: servers = [] } = place;
    assertDirectory(cwd);
    const { capabilities } = this;
    const setup = { editor, capabilities, flags: this.#flags, io: this.#io, cwd, servers };
    const session = await EditorSession.open({ ...setup, ...(resume !== undefined && { resume }) }, signal);
    if (this.#isClosed) await session.close();
    else this.#open.set(session.id, session);
    return session;
  }

  async #track<T>(opening: Promise<T>): Promise<T> {
    this.#opening.add(opening);
    try {
      return await opening;
    } finally {
      this.#opening.delete(opening);
    }
  }
}

function assertDirectory(cwd: string): void {
  const isDirectory = isAbsolute(cwd) && statSync(cwd, { throwIfNoEntry: false })?.isDirectory();
  if (!isDirectory)
    throw RequestError.invalidParams(undefined, `cwd must be an absolute path of a directory: ${JSON.stringify(cwd)}`);
}
