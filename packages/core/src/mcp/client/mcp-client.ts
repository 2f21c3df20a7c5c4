import { setMaxListeners } from 'node:events';
import type { GetPromptResult, Prompt, ReadResourceResult, Resource } from '@modelcontextprotocol/client';
import { ToolError } from '../../contract/errors.js';
import type { ListedTool, McpConnection } from '../../tools/mcp-tool.js';
import type { ToolResult } from '../../tools/tools.js';
import { listPages } from './list-pages.js';
import { listTools, type ServerTools } from './list-tools.js';
import type { Session, SessionOptions } from './open-connection.js';
import { type ProgramOptions, reachServer } from './reach-server.js';
import type { ServerDefinition } from './server-definition.js';

export type ServerState =
  | { status: 'idle' | 'connecting' | 'closed' }
  | { status: 'ready'; protocolVersion: string; server: string; latencyMs: number }
  | { status: 'failed'; reason: string };

/** What a server can have more or less of. */
export type ServerList = 'tools' | 'prompts' | 'resources';

export type McpClientOptions = Pick<SessionOptions, 'roots' | 'authorization' | 'handlers' | 'era'> &
  ProgramOptions & {
    /** Asks before a server of the project's starts; throws when it must not. */
    consent?: (signal: AbortSignal) => Promise<void>;
    /** The server said that one of its lists is another now. */
    onListChanged?: (list: ServerList) => void;
  };

const maxRestarts = 5;
const firstPauseMs = 1_000;
/** A server that lived this long starts anew with a clean record. */
const healthyMs = 60_000;

/** One configured server: started when it is first needed, started again when it fails, never anybody else's problem. */
export class McpClient implements McpConnection {
  readonly definition: ServerDefinition;
  state: ServerState = { status: 'idle' };
  readonly #options: McpClientOptions;
  readonly #closed = new AbortController();
  #session: Promise<Session> | undefined;
  #tools: ServerTools = { tools: new Map(), rejections: [] };
  #restarts = 0;
  #readyAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(definition: ServerDefinition, options: McpClientOptions) {
    this.definition = definition;
    this.#options = options;
  }

  get serverName(): string {
    return this.definition.name;
  }

  get isTrusted(): boolean {
    return this.definition.isTrusted;
  }

  get timeoutMs(): number {
    return this.definition.timeoutMs;
  }

  /** The server's tools, asked for anew. */
  async tools(signal: AbortSignal): Promise<ServerTools> {
    return this.#within(signal, async (within) => {
      const session = await this.#connected(within);
      const options = { signal: within, timeout: this.definition.startTimeoutMs };
      this.#tools = await session.authorized(() => listTools(session.client, this.definition, options), within);
      return this.#tools;
    });
  }

  async call(
    tool: ListedTool,
    params: Record<string, unknown>,
    { signal, onProgress }: { signal: AbortSignal; onProgress: (text: string) => void },
  ): Promise<ToolResult> {
    const session = await this.#within(signal, (within) => this.#connected(within)).catch((error: unknown) => {
      signal.throwIfAborted();
      throw new ToolError(
        'mcp_tool_error',
        `The MCP server ${this.serverName} cannot be reached: ${messageOf(error)}`,
        {
          cause: error,
        },
      );
    });
    const current = this.#tools.tools.get(tool.name);
    if (current?.listed.hash !== tool.hash)
      throw new ToolError(
        'execution_failed',
        `${this.serverName} has changed ${tool.name} meanwhile; look at it and call it again.`,
      );
    const { timeoutMs } = this.definition;
    const { callTool } = await import('./call-tool.js');
    const call = { server: this.serverName, tool: current.sent, params, timeoutMs, signal, onProgress };
    return session.authorized(() => callTool(session, call), signal);
  }

  prompts(signal: AbortSignal): Promise<Prompt[]> {
    return this.#ask(signal, async (client, options) => {
      if (client.getServerCapabilities()?.prompts === undefined) return [];
      const { items } = await listPages<Prompt>(async (cursor) => {
        const { prompts, nextCursor } = await client.listPrompts({ cursor: cursor ?? '' }, options);
        return { items: prompts, nextCursor };
      });
      return items;
    });
  }

  prompt(name: string, args: Record<string, string>, signal: AbortSignal): Promise<GetPromptResult> {
    return this.#ask(signal, (client, options) => client.getPrompt({ name, arguments: args }, options));
  }

  resources(signal: AbortSignal): Promise<Resource[]> {
    return this.#ask(signal, async (client, options) => {
      if (client.getServerCapabilities()?.resources === undefined) return [];
      const { items } = await listPages<Resource>(async (cursor) => {
        const { resources, nextCursor } = await client.listResources({ cursor: cursor ?? '' }, options);
        return { items: resources, nextCursor };
      });
      return items;
    });
  }

  resource(uri: string, signal: AbortSignal): Promise<ReadResourceResult> {
    return this.#ask(signal, (client, options) => client.readResource({ uri }, options));
  }

  async close(): Promise<void> {
    this.#closed.abort(new Error(`${this.serverName} was closed`));
    clearTimeout(this.#timer);
    const session = await this.#session?.catch(() => undefined);
    await session?.client.close().catch(() => undefined);
    this.#options.authorization?.close();
    this.state = { status: 'closed' };
  }

  async #ask<T>(
    signal: AbortSignal,
    work: (client: Session['client'], options: { signal: AbortSignal; timeout: number }) => Promise<T>,
  ): Promise<T> {
    const session = await this.#within(signal, (within) => this.#connected(within));
    const options = { signal, timeout: this.definition.startTimeoutMs };
    return session.authorized(() => work(session.client, options), signal);
  }

  /** Nothing a server does may take longer than it was given to start, however busy it looks. */
  async #within<T>(signal: AbortSignal, work: (within: AbortSignal) => Promise<T>): Promise<T> {
    const { startTimeoutMs } = this.definition;
    const limit = AbortSignal.timeout(startTimeoutMs);
    const within = AbortSignal.any([signal, limit, this.#closed.signal]);
    // One listener for each page of a long list is no leak.
    setMaxListeners(0, within);
    try {
      return await work(within);
    } catch (error) {
      signal.throwIfAborted();
      if (limit.aborted) throw new Error(`it did not answer within ${startTimeoutMs / 1000} s`, { cause: error });
      throw error;
    }
  }

  #connected(signal: AbortSignal): Promise<Session> {
    this.#closed.signal.throwIfAborted();
    this.#session ??= this.#connect(signal);
    return this.#session;
  }

  async #connect(signal: AbortSignal): Promise<Session> {
    const { consent, onListChanged, runner, env, sandbox, ...options } = this.#options;
    const { name, startTimeoutMs } = this.definition;
    this.state = { status: 'connecting' };
    try {
      await consent?.(signal);
      const startedAt = performance.now();
      const endpoint = await reachServer(this.definition.endpoint, { runner, env, ...(sandbox && { sandbox }) });
      // The SDK is loaded when the first server is needed, and while that one starts.
      const { openSession } = await import('./open-connection.js');
      const changed = (list: ServerList) => ({
        autoRefresh: false,
        debounceMs: 300,
        onChanged: () => onListChanged?.(list),
      });
      const session = await openSession({
        ...options,
        server: name,
        endpoint,
        listChanged: { tools: changed('tools'), prompts: changed('prompts'), resources: changed('resources') },
        onClose: (lost) => this.#lost(lost),
        signal,
        timeoutMs: startTimeoutMs,
      });
      this.#readyAt = performance.now();
      this.state = {
        status: 'ready',
        protocolVersion: session.client.getNegotiatedProtocolVersion() ?? '',
        server: describeServer(session),
        latencyMs: Math.round(this.#readyAt - startedAt),
      };
      return session;
    } catch (error) {
      this.#session = undefined;
      this.state = { status: 'failed', reason: messageOf(error) };
      throw error;
    }
  }

  /** Starts the server again after a pause that grows, so that one which dies at once does not spin. */
  #lost(session: Session): void {
    this.#session = undefined;
    if (this.#closed.signal.aborted) return;
    this.state = { status: 'failed', reason: `the connection was lost. ${session.epitaph()}`.trim() };
    if (performance.now() - this.#readyAt > healthyMs) this.#restarts = 0;
    if (this.#restarts >= maxRestarts) return;
    const pause = firstPauseMs * 2 ** this.#restarts++;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#options.onListChanged?.('tools'), pause);
    this.#timer.unref();
  }
}

function describeServer({ client }: Session): string {
  const { name = 'unnamed', version = '' } = client.getServerVersion() ?? {};
  return `${name} ${version}`.trim().slice(0, 200);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
