import type { DefinitionPins } from '../../policy/definition-pins.js';
import type { ConsentGate } from '../../scheduler/ask-consent.js';
import type { AnyTool } from '../../tools/tools.js';
import { loginMs, ServerAuthorization } from '../auth/oauth.js';
import type { TokenStore } from '../auth/token-store.js';
import { McpClient } from './mcp-client.js';
import { McpSource } from './mcp-source.js';
import type { ProgramOptions } from './reach-server.js';
import type { ReverseRequests } from './reverse-requests.js';
import { serverConsent } from './server-consent.js';
import type { ServerDefinition } from './server-definition.js';

/** What the clients of MCP servers need. */
export interface McpOptions extends ProgramOptions {
  servers: readonly ServerDefinition[];
  root: string;
  /** The workspace's folders: the roots that servers hear of. */
  roots: readonly string[];
  pins: DefinitionPins;
  /** Asked before a server of the project's starts; left out when the person trusts the folder for this run. */
  gate?: ConsentGate;
  handlers?: ReverseRequests;
  tokens: TokenStore;
  /** Brings a person to a page where they log in; without it, servers that want that are refused. */
  openPage?: (url: URL) => Promise<void>;
  /** The tools of a server are others now. */
  onTools: (label: string, tools: readonly AnyTool[]) => void;
}

/** One source for each configured server. None is started before it is asked for its tools. */
export function createMcp(options: McpOptions): McpSource[] {
  return options.servers.map((configured) => {
    const definition = options.openPage ? { ...configured, startTimeoutMs: loginMs } : configured;
    const { root, gate, runner, env, roots, handlers = {} } = options;
    const consent = serverConsent(definition, root);
    const client = new McpClient(definition, {
      roots,
      runner,
      env,
      handlers,
      ...authorizationFor(definition, options),
      ...(options.sandbox && { sandbox: options.sandbox }),
      ...(gate && definition.isProjects && { consent: (signal: AbortSignal) => gate.pass(consent, signal) }),
      onListChanged: (list) => {
        if (list === 'tools') void republish(source, options.onTools);
        else source.listChanged(list);
      },
    });
    const source = new McpSource(client, options);
    return source;
  });
}

/** A server on the web may want a person to log in. */
function authorizationFor(definition: ServerDefinition, { tokens, openPage }: McpOptions) {
  const { endpoint, name, oauth: settings = {} } = definition;
  if (endpoint.type === 'stdio' || settings.enabled === false) return {};
  const options = { server: endpoint.url, name, settings, store: tokens, ...(openPage && { openPage }) };
  return { authorization: new ServerAuthorization(options) };
}

/** Who is being asked, and whether the answer is out of date already. */
const asked = new WeakMap<McpSource, boolean>();

/** A server that announces changes without end is asked once, and once more when it has answered. */
async function republish(source: McpSource, onTools: McpOptions['onTools']): Promise<void> {
  const isBusy = asked.has(source);
  asked.set(source, isBusy);
  if (isBusy) return;
  try {
    onTools(source.label, await source.discover(AbortSignal.timeout(source.client.definition.startTimeoutMs)));
  } catch {
    // The state of the client says what happened; the tools it had stay until it answers again.
  }
  const isStale = asked.get(source);
  asked.delete(source);
  if (isStale) await republish(source, onTools);
}
