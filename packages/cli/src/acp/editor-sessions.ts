import { statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { AgentRequestContext, ClientCapabilities, McpServer } from '@agentclientprotocol/sdk';
import { RequestError } from '@agentclientprotocol/sdk';
import { SessionStore } from '@lathe/agent';
import { NamesInUse, visibleText } from '@lathe/core/host';
import { LatheHome } from '@lathe/core/tools';
import type { Flags } from '../command-line/args.js';
import type { Io } from '../command-line/io.js';
import { latheHome } from '../startup/open-lathe.js';
import { EditorSession } from './editor-session.js';

type OpenRequest = AgentRequestContext<{ cwd: string; mcpServers?: readonly McpServer[] }>;
type RestoreRequest = OpenRequest & { params: { sessionId: string } };

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

  get({ sessionId }: { sessionId: string }): EditorSession {
    const session = this.#open.get(sessionId);
    if (!session) throw RequestError.sessionNotFound(sessionId);
    return session;
  }

  async create(request: OpenRequest) {
    const session = await this.#start(request);
    return { sessionId: session.id, ...introduced(session) };
  }

  /** Opens an earlier session, again if it is open. */
  async restore(request: RestoreRequest, { isReplayed }: { isReplayed: boolean }) {
    const { sessionId } = request.params;
    if (!(await SessionStore.find(this.#home, sessionId))) throw RequestError.sessionNotFound(sessionId);
    await this.close(sessionId);
    const session = await this.#start(request, sessionId);
    if (isReplayed) await session.replay();
    return introduced(session);
  }

  async list(cwd: string | null | undefined) {
    const store = cwd ? await SessionStore.open(this.#home, cwd) : undefined;
    const found = await (store?.list() ?? SessionStore.listAll(this.#home));
    const sessions = found.map(({ id: sessionId, title, updated: updatedAt, cwd: place }) => {
      return { sessionId, cwd: place, title: visibleText(title), updatedAt };
    });
    return { sessions: sessions.filter((each) => isAbsolute(each.cwd)) };
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
    await rm(path, { force: true });
  }

  /** The editor is gone. */
  async closeAll(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#opening);
    await Promise.allSettled([...this.#open.keys()].map((id) => this.close(id)));
  }

  async #start({ params: { cwd, mcpServers: servers = [] }, client: editor, signal }: OpenRequest, resume?: string) {
    if (!isAbsolute(cwd) || !statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
      throw RequestError.invalidParams(undefined, `cwd must be the absolute path of a directory, not ${cwd}`);
    const setup = { editor, capabilities: this.capabilities, flags: this.#flags, io: this.#io, cwd, servers };
    const opening = EditorSession.open({ ...setup, ...(resume !== undefined && { resume }) }, signal);
    this.#opening.add(opening);
    const session = await opening.finally(() => this.#opening.delete(opening));
    // Another request may have opened the same session meanwhile.
    const other = this.#open.get(session.id);
    this.#open.set(session.id, session);
    await other?.close();
    if (this.#isClosed) await this.close(session.id);
    return session;
  }
}

/** The editor knows the session only when it has the answer. */
function introduced(session: EditorSession) {
  setImmediate(() => void session.announce());
  return session.state();
}
