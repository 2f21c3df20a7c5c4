import type { DefinitionPins } from '../../policy/definition-pins.js';
import type { ConsentGate } from '../../scheduler/ask-consent.js';
import type { AnyTool } from '../../tools/tools.js';
import { loginMs, ServerAuthorization } from '../auth/oauth.js';
import type { TokenStore } from '../auth/token-store.js';
import type { KnownTools } from './known-tools.js';
import { McpClient } from './mcp-client.js';
import { McpSource } from './mcp-source.js';
import type { ProgramOptions } from './reach-server.js';
import type { ReverseRequests } from './reverse-requests.js';
import { serverConsent } from './server-consent.js';
import type { ServerDefinition } from './server-definition.js';

/** What the clients of MCP servers need. */
export interface McpOptions extends ProgramOptions {
  servers: readonly ServerDefinition[];
  /** The folder whose servers the person agreed to: in a worktree, the one that it is a copy of. */
  root: string;
  /** The folders of the workspace, which servers get as roots. */
  roots: readonly string[];
  pins: DefinitionPins;
  /** Remembers tools between sessions; without it every session waits for its servers. */
  knownTools?: KnownTools;
  /** Asks before a server of the project starts; not set if the user trusts the folder for this run. */
  gate?: ConsentGate;
  /** Asks before a server that another program names starts. */
  clientGate?: ConsentGate;
  /** Asks before a server of a plugin starts. */
  pluginGate?: ConsentGate;
  handlers?: ReverseRequests;
  tokens: TokenStore;
  /** Opens the login page of a server; without it, servers that need a login fail. */
  openPage?: (url: URL) => Promise<void>;
  /** A server's tool list changed. */
  onTools: (label: string, tools: readonly AnyTool[]) => void;
}

/** One source per configured server. A server starts when its tools are first requested. */
export function createMcp(options: McpOptions): McpSource[] {
  return options.servers.map((configured) => {
    const definition = options.openPage ? { ...configured, startTimeoutMs: loginMs } : configured;
    const { root, pluginGate, runner, env, roots, handlers = {} } = options;
    const gate = definition.isClients ? options.clientGate : options.gate;
    const consent = serverConsent(definition, root);
    const judge = definition.plugin ? pluginGate : definition.isProjects ? gate : undefined;
    const client = new McpClient(definition, {
      roots,
      runner,
      env,
      handlers,
      ...authorizationFor(definition, options),
      ...(options.sandbox && { sandbox: options.sandbox }),
      ...(judge && { consent: (signal: AbortSignal) => judge.pass(consent, signal) }),
      onListChanged: (list) => {
        if (list === 'tools') void republish(source, options.onTools);
        else source.listChanged(list);
      },
    });
    const mayStart = async () => !judge || (await judge.unapproved([consent])).length === 0;
    const source = new McpSource(client, { ...options, mayStart });
    return source;
  });
}

/** A web server may require a login. */
function authorizationFor(definition: ServerDefinition, { tokens, openPage }: McpOptions) {
  const { endpoint, name, oauth: settings = {} } = definition;
  if (endpoint.type === 'stdio' || settings.enabled === false) return {};
  const options = { server: endpoint.url, name, settings, store: tokens, ...(openPage && { openPage }) };
  return { authorization: new ServerAuthorization(options) };
}

/** The sources that are being read, and whether another change was announced meanwhile. */
const pending = new WeakMap<McpSource, boolean>();

/** Reads the tools again, once at a time: many announcements during a read cause only one more. */
async function republish(source: McpSource, onTools: McpOptions['onTools']): Promise<void> {
  const isBusy = pending.has(source);
  pending.set(source, isBusy);
  if (isBusy) return;
  try {
    onTools(source.label, await source.discover(AbortSignal.timeout(source.client.definition.startTimeoutMs)));
  } catch {
    // The client's state holds the reason; its earlier tools stay until it answers again.
  }
  const isStale = pending.get(source);
  pending.delete(source);
  if (isStale) await republish(source, onTools);
}
