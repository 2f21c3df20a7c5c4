import type { Confirmation } from '../contract/confirmation.js';
import type { Target } from '../contract/target.js';
import { directCall } from '../contract/tool-call.js';
import { callSpan } from '../contract/trace.js';
import type { JsonSchema } from '../text/schema/json-schema.js';
import type { DefinitionPin } from './definition-pin.js';
import { BaseTool, type ToolResult } from './tools.js';

type Params = Record<string, unknown>;

/** What the tool needs of the connection to its server. */
export interface McpConnection {
  readonly serverName: string;
  /** The person lets this server's tools run without asking. */
  readonly isTrusted: boolean;
  /** Time one call gets in all. */
  readonly timeoutMs: number;
  /** Calls the tool as it was listed; refuses when the server has changed its definition since. */
  call(
    tool: ListedTool,
    params: Params,
    options: { signal: AbortSignal; onProgress: (text: string) => void; traceparent?: string },
  ): Promise<ToolResult>;
}

/** A tool as its server lists it, cleaned for people and models. */
export interface ListedTool {
  /** What the server calls it. */
  name: string;
  /** For people. */
  title: string;
  description: string;
  parameterSchema: JsonSchema;
  /** What the server claims; never a permission. */
  hints: { isReadOnly: boolean; isDestructive: boolean };
  /** Of the definition exactly as it was sent. */
  hash: string;
}

const updateMs = 100;

/** A tool of an MCP server, named `alias__tool`. */
export class DiscoveredMCPTool extends BaseTool<Params> {
  readonly serverName: string;
  readonly #listed: ListedTool;
  readonly #connection: McpConnection;
  readonly #pin: DefinitionPin;

  constructor(name: string, listed: ListedTool, connection: McpConnection, pin: DefinitionPin) {
    super({
      name,
      displayName: `${listed.title} (${connection.serverName} MCP Server)`,
      description: listed.description,
      kind: 'other',
      parameterSchema: listed.parameterSchema,
      timeoutMs: connection.timeoutMs + 10_000,
    });
    this.serverName = connection.serverName;
    this.#listed = listed;
    this.#connection = connection;
    this.#pin = pin;
  }

  override getDescription(params: Params): string {
    return `${this.displayName} ${JSON.stringify(params)}`;
  }

  /** What a server says about itself counts only when a person trusts the server. */
  override isReadOnly(): boolean {
    const { isReadOnly, isDestructive } = this.#listed.hints;
    return this.#connection.isTrusted && isReadOnly && !isDestructive;
  }

  override async getTargets(): Promise<Target[]> {
    const guarded = await this.#pin.change();
    const asks = !this.#connection.isTrusted;
    const result = resultOf(this.serverName);
    const target = { type: 'command', words: [this.name], asks, hidden: true, sends: { to: result.from } } as const;
    // What a trusted server returns counts as the person's own.
    const brings = asks && { brings: result };
    return [{ ...target, ...brings, ...(guarded !== undefined && { guarded }) }];
  }

  override async shouldConfirmExecute(params: Params): Promise<Confirmation | false> {
    const change = await this.#pin.change();
    if (this.#connection.isTrusted && change === undefined) return false;
    const warnings = [
      ...(change === undefined ? [] : [change]),
      ...(this.#listed.hints.isDestructive ? ['The server says that this tool destroys or overwrites things.'] : []),
    ];
    return {
      type: 'mcp',
      title: `Let ${this.serverName} run ${this.#listed.name}?`,
      serverName: this.serverName,
      toolName: this.#listed.name,
      toolDisplayName: this.#listed.title,
      args: params,
      ...(warnings.length > 0 && { warnings }),
      ...(change === undefined && { rules: [this.name] }),
    };
  }

  override async execute(params: Params, signal: AbortSignal, call = directCall()): Promise<ToolResult> {
    signal.throwIfAborted();
    await this.#pin.accept();
    let timer: NodeJS.Timeout | undefined;
    let latest = '';
    // A server may report progress a million times a second.
    const onProgress = (text: string) => {
      latest = text;
      timer ??= setTimeout(() => {
        timer = undefined;
        call.output(latest);
      }, updateMs);
    };
    try {
      const traceparent = callSpan.get(call)?.traceparent;
      const options = { signal, onProgress, ...(traceparent !== undefined && { traceparent }) };
      return await this.#connection.call(this.#listed, params, options);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** What a server returns, as a source of text that may tell the model to send something. */
export function resultOf(serverName: string): { what: string; from: string } {
  const from = `the MCP server ${serverName}`;
  return { what: `a result of ${from}`, from };
}
