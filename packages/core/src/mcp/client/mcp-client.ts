import { setMaxListeners } from 'node:events';
import type { GetPromptResult, Prompt, ReadResourceResult, Resource } from '@modelcontextprotocol/client';
import { ToolError, thrownText } from '../../contract/errors.js';
import type { ListedTool, McpConnection } from '../../tools/mcp-tool.js';
import type { ToolResult } from '../../tools/tools.js';
import { listPages, type Page } from './list-pages.js';
import { listTools, type ServerTools } from './list-tools.js';
import type { Connection, ConnectionOptions } from './open-connection.js';
import { type ProgramOptions, reachServer } from './reach-server.js';
import type { ServerDefinition } from './server-definition.js';

export type ServerState =
  | { status: 'idle' | 'connecting' | 'closed' }
  | { status: 'ready'; protocolVersion: string; server: string; latencyMs: number }
  | { status: 'failed'; reason: string };

/** The lists that a server offers. */
export type ServerList = 'tools' | 'prompts' | 'resources';

export type McpClientOptions = Pick<ConnectionOptions, 'roots' | 'authorization' | 'handlers' | 'era'> &
  ProgramOptions & {
    /** Asks before a server of the project starts; throws if it must not. */
    consent?: (signal: AbortSignal) => Promise<void>;
    /** The server announced that one of its lists changed. */
    onListChanged?: (list: ServerList) => void;
  };

interface RequestLimits {
  signal: AbortSignal;
  timeout: number;
}

const maxRestarts = 5;
const firstPauseMs = 1_000;
/** After this time without a failure, the number of restarts is reset. */
const healthyMs = 60_000;

/** One configured server. It starts when it is first needed and restarts when it fails. Its failures affect no other server. */
export class McpClient implements McpConnection {
  readonly definition: ServerDefinition;
  state: ServerState = { status: 'idle' };
  readonly #options: McpClientOptions;
  readonly #closed = new AbortController();
  #connection: Promise<Connection> | undefined;
  #tools: ServerTools | undefined;
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

  /** Fetches the server's tools. */
  async tools(signal: AbortSignal): Promise<ServerTools> {
    return this.#within(signal, async (within) => {
      const connection = await this.#connected(within);
      const options = { signal: within, timeout: this.definition.startTimeoutMs };
      this.#tools = await connection.authorized(() => listTools(connection.client, this.definition, options), within);
      return this.#tools;
    });
  }

  async call(
    tool: ListedTool,
    params: Record<string, unknown>,
    { signal, ...options }: { signal: AbortSignal; onProgress: (text: string) => void; traceparent?: string },
  ): Promise<ToolResult> {
    const connection = await this.#within(signal, (within) => this.#connected(within)).catch((error: unknown) => {
      signal.throwIfAborted();
      const message = `The MCP server ${this.serverName} cannot be reached: ${thrownText(error)}`;
      throw new ToolError('mcp_tool_error', message, { cause: error });
    });
    // The tool may come from an earlier session: what the server lists now decides.
    const { tools } = this.#tools ?? (await this.tools(signal));
    const current = tools.get(tool.name);
    if (current?.listed.hash !== tool.hash)
      throw new ToolError(
        'execution_failed',
        `${this.serverName} has changed the definition of ${tool.name}; read it and call it again.`,
      );
    const { timeoutMs } = this.definition;
    const { callTool } = await import('./call-tool.js');
    const call = { server: this.serverName, tool: current.sent, params, timeoutMs, signal, ...options };
    return connection.authorized(() => callTool(connection, call), signal);
  }

  prompts(signal: AbortSignal): Promise<Prompt[]> {
    return this.#list('prompts', signal, async (client, cursor, options) => {
      const { prompts, nextCursor } = await client.listPrompts({ cursor }, options);
      return { items: prompts, nextCursor };
    });
  }

  prompt(name: string, args: Record<string, string>, signal: AbortSignal): Promise<GetPromptResult> {
    return this.#ask(signal, (client, options) => client.getPrompt({ name, arguments: args }, options));
  }

  resources(signal: AbortSignal): Promise<Resource[]> {
    return this.#list('resources', signal, async (client, cursor, options) => {
      const { resources, nextCursor } = await client.listResources({ cursor }, options);
      return { items: resources, nextCursor };
    });
  }

  resource(uri: string, signal: AbortSignal): Promise<ReadResourceResult> {
    return this.#ask(signal, (client, options) => client.readResource({ uri }, options));
  }

  async close(): Promise<void> {
    this.#closed.abort(new Error(`${this.serverName} was closed`));
    clearTimeout(this.#timer);
    const connection = await this.#connection?.catch(() => undefined);
    await connection?.client.close().catch(() => undefined);
    this.#options.authorization?.close();
    this.state = { status: 'closed' };
  }

  /** All pages of a list; empty if the server does not offer it. */
  #list<T>(
    list: ServerList,
    signal: AbortSignal,
    fetchPage: (client: Connection['client'], cursor: string, options: RequestLimits) => Promise<Page<T>>,
  ): Promise<T[]> {
    return this.#ask(signal, async (client, options) => {
      if (client.getServerCapabilities()?.[list] === undefined) return [];
      return (await listPages((cursor) => fetchPage(client, cursor ?? '', options))).items;
    });
  }

  async #ask<T>(
    signal: AbortSignal,
    work: (client: Connection['client'], options: RequestLimits) => Promise<T>,
  ): Promise<T> {
    const connection = await this.#within(signal, (within) => this.#connected(within));
    const options = { signal, timeout: this.definition.startTimeoutMs };
    return connection.authorized(() => work(connection.client, options), signal);
  }

  /** Limits work to the start timeout, whatever progress the server reports. */
  async #within<T>(signal: AbortSignal, work: (within: AbortSignal) => Promise<T>): Promise<T> {
    const { startTimeoutMs } = this.definition;
    const limit = AbortSignal.timeout(startTimeoutMs);
    const within = AbortSignal.any([signal, limit, this.#closed.signal]);
    // A long list adds one listener per page, which is not a leak.
    setMaxListeners(0, within);
    try {
      return await work(within);
    } catch (error) {
      signal.throwIfAborted();
      if (limit.aborted) throw new Error(`it did not answer within ${startTimeoutMs / 1000} s`, { cause: error });
      throw error;
    }
  }

  #connected(signal: AbortSignal): Promise<Connection> {
    this.#closed.signal.throwIfAborted();
    this.#connection ??= this.#connect(signal);
    return this.#connection;
  }

  async #connect(signal: AbortSignal): Promise<Connection> {
    const { consent, onListChanged, runner, env, sandbox, ...options } = this.#options;
    const { name, startTimeoutMs } = this.definition;
    this.state = { status: 'connecting' };
    try {
      await consent?.(signal);
      const startedAt = performance.now();
      const endpoint = await reachServer(this.definition.endpoint, { runner, env, ...(sandbox && { sandbox }) });
      // Loads the SDK with the first server, while that one starts.
      const { openConnection } = await import('./open-connection.js');
      const changed = (list: ServerList) => ({
        autoRefresh: false,
        debounceMs: 300,
        onChanged: () => onListChanged?.(list),
      });
      const connection = await openConnection({
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
        protocolVersion: connection.client.getNegotiatedProtocolVersion() ?? '',
        server: describeServer(connection),
        latencyMs: Math.round(this.#readyAt - startedAt),
      };
      return connection;
    } catch (error) {
      this.#connection = undefined;
      this.state = { status: 'failed', reason: thrownText(error) };
      throw error;
    }
  }

  /** Restarts the server after a pause that doubles each time. */
  #lost(connection: Connection): void {
    this.#connection = undefined;
    if (this.#closed.signal.aborted) return;
    this.state = { status: 'failed', reason: `the connection was lost. ${connection.exitSummary()}`.trim() };
    if (performance.now() - this.#readyAt > healthyMs) this.#restarts = 0;
    if (this.#restarts >= maxRestarts) return;
    const pause = firstPauseMs * 2 ** this.#restarts++;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#options.onListChanged?.('tools'), pause);
    this.#timer.unref();
  }
}

function describeServer({ client }: Connection): string {
  const { name = 'unnamed', version = '' } = client.getServerVersion() ?? {};
  return `${name} ${version}`.trim().slice(0, 200);
}
