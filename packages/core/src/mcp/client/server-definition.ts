import { resolve } from 'node:path';
import type { LoadedSettings } from '../../settings/load-settings.js';
import type { McpServerSettings } from '../../settings/mcp-server-shape.js';
import type { Origin } from '../../settings/merge-layers.js';
import type { JsonValue } from '../../settings/parse-jsonc.js';
import { compileComponent } from '../../text/glob/glob-component.js';
import { splitArguments } from '../../text/split-arguments.js';
import { aliasOf } from './tool-names.js';

/** How a server is reached. */
export type Endpoint =
  | { type: 'stdio'; argv: readonly string[]; cwd: string; env: Readonly<Record<string, string>> }
  | { type: 'http' | 'sse'; url: URL; headers: Readonly<Record<string, string>> };

/** One configured server, validated. */
export interface ServerDefinition {
  /** The name in the settings. */
  name: string;
  /** The prefix of its tool names. */
  alias: string;
  endpoint: Endpoint;
  /** For a whole call. */
  timeoutMs: number;
  /** For connecting and listing the tools. */
  startTimeoutMs: number;
  /** Its tools run without asking. */
  isTrusted: boolean;
  /** The server's names of the tools to use. */
  include?: readonly string[];
  exclude: readonly string[];
  oauth?: NonNullable<McpServerSettings['oauth']>;
  /** A file of the workspace defines it, so the user must approve it before it starts. */
  isProjects: boolean;
  /** A plugin defines it, so the user must approve it; `pin` is the hash of the plugin's files. */
  plugin?: { source: string; pin: string };
  /** As written in the settings, without expanded references such as `$TOKEN`. */
  written: JsonValue;
}

/** A server that cannot be used, and why. */
export interface UnusableServer {
  name: string;
  problem: string;
}

export interface DefinitionOptions {
  root: string;
  home: string;
  /** Names that no server may use: those of the built-in tools. */
  reserved: ReadonlySet<string>;
}

const singleServer = 'mcp';

/** Every server in the settings that is not excluded. */
export function serverDefinitions(
  loaded: LoadedSettings,
  options: DefinitionOptions,
): { servers: ServerDefinition[]; unusable: UnusableServer[] } {
  const { mcp, mcpServers } = loaded.settings;
  const servers: ServerDefinition[] = [];
  const unusable: UnusableServer[] = [];
  const hasLine = mcp.mcpServerCommand !== undefined && !Object.hasOwn(mcpServers, singleServer);
  const single = hasLine ? { [singleServer]: { command: mcp.mcpServerCommand } } : {};
  for (const [name, settings] of Object.entries<McpServerSettings>({ ...mcpServers, ...single })) {
    if (!isSelected(name, mcp)) continue;
    const isLine = hasLine && name === singleServer;
    const origin = loaded.origins.get(isLine ? 'mcp.mcpServerCommand' : `mcpServers.${name}`)?.at(-1);
    const endpoint = endpointOf(settings, { ...options, isLine, isTrusted: loaded.isTrusted });
    if (typeof endpoint === 'string') unusable.push({ name, problem: endpoint });
    else
      servers.push({
        ...limitsOf(settings),
        name,
        alias: aliasOf(name, options.reserved),
        endpoint,
        isTrusted: settings.trust === true && loaded.isTrusted,
        ...ownerOf(origin),
      });
  }
  return { servers, unusable };
}

function ownerOf(origin: Origin | undefined): Pick<ServerDefinition, 'isProjects' | 'plugin' | 'written'> {
  const { layer, source = '', pin, written = null }: Partial<Origin> = origin ?? {};
  return { isProjects: layer === 'workspace', ...(pin !== undefined && { plugin: { source, pin } }), written };
}

function limitsOf(settings: McpServerSettings) {
  const { timeout = 600_000, discoveryTimeoutMs = 30_000, includeTools, excludeTools = [], oauth } = settings;
  return {
    timeoutMs: timeout,
    startTimeoutMs: discoveryTimeoutMs,
    // Qwen Code also accepts `name(…)` here.
    ...(includeTools && { include: includeTools.map((entry) => entry.replace(/\(.*$/s, '')) }),
    exclude: excludeTools,
    ...(oauth && { oauth }),
  };
}

/** Whether `mcp.allowed` and `mcp.excluded` let a server of this name be used. */
export function isSelected(name: string, { allowed, excluded }: LoadedSettings['settings']['mcp']): boolean {
  if (excluded.some((pattern) => matches(pattern, name))) return false;
  return allowed === undefined || allowed.some((pattern) => matches(pattern, name));
}

/** `*` and `?` as in file names. */
function matches(pattern: string, name: string): boolean {
  return compileComponent(pattern.replace(/[[\\]/g, '\\$&'))(name);
}

interface Place extends Omit<DefinitionOptions, 'reserved'> {
  /** The command is a whole command line that must be split. */
  isLine: boolean;
  isTrusted: boolean;
}

function endpointOf(settings: McpServerSettings, place: Place): Endpoint | string {
  const { type, tcp, authProviderType = 'dynamic_discovery', httpUrl, url } = settings;
  if (type === 'sdk' || tcp !== undefined) return 'only stdio, HTTP and SSE servers are supported';
  if (authProviderType !== 'dynamic_discovery')
    return `authProviderType "${authProviderType}" is not supported; use oauth or headers`;
  const address = httpUrl ?? url;
  if (address === undefined) return programOf(settings, place);
  const parsed = webAddress(address);
  if (typeof parsed === 'string') return parsed;
  const isHttp = httpUrl !== undefined || type === 'http';
  return { type: isHttp ? 'http' : 'sse', url: parsed, headers: settings.headers ?? {} };
}

function programOf(settings: McpServerSettings, { root, home, isLine, isTrusted }: Place): Endpoint | string {
  const { command, args = [], env = {}, cwd = '.' } = settings;
  if (command === undefined) return 'it has neither command nor url nor httpUrl';
  const split = isLine ? splitArguments(command, { home }) : { ok: true as const, words: [command, ...args] };
  if (!split.ok) return `mcp.mcpServerCommand: ${split.problem}`;
  // In an untrusted folder, the user's own server must not load files of that folder.
  return { type: 'stdio', argv: split.words, cwd: resolve(isTrusted ? root : home, cwd), env };
}

function webAddress(text: string): URL | string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return `${JSON.stringify(text)} is not a web address`;
  if (url.username !== '' || url.password !== '') return 'its address holds a password; use headers or oauth';
  return url;
}
