import { resolve } from 'node:path';
import type { LoadedSettings } from '../../settings/load-settings.js';
import type { McpServerSettings } from '../../settings/mcp-server-shape.js';
import type { JsonValue } from '../../settings/parse-jsonc.js';
import { splitArguments } from '../../text/split-arguments.js';
import { aliasOf } from './tool-names.js';

/** How a server is reached. */
export type Endpoint =
  | { type: 'stdio'; argv: readonly string[]; cwd: string; env: Readonly<Record<string, string>> }
  | { type: 'http' | 'sse'; url: URL; headers: Readonly<Record<string, string>> };

/** One configured server, checked. */
export interface ServerDefinition {
  /** As the settings name it. */
  name: string;
  /** As its tools are named. */
  alias: string;
  endpoint: Endpoint;
  /** Time a call gets in all. */
  timeoutMs: number;
  /** Time the server gets to connect and list its tools. */
  startTimeoutMs: number;
  /** Its tools run without asking. */
  isTrusted: boolean;
  /** Server's own names of the tools to use. */
  include?: readonly string[];
  exclude: readonly string[];
  oauth?: NonNullable<McpServerSettings['oauth']>;
  /** A file of the workspace defines it, so that a person must agree before it starts. */
  isProjects: boolean;
  /** As written in the settings, references such as `$TOKEN` not expanded. */
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
  /** Names that no server may take: those of the built-in tools. */
  reserved: ReadonlySet<string>;
}

const singleServer = 'mcp';

/** Every server that the settings name and do not exclude. */
export function serverDefinitions(
  loaded: LoadedSettings,
  options: DefinitionOptions,
): { servers: ServerDefinition[]; unusable: UnusableServer[] } {
  const { mcp, mcpServers } = loaded.settings;
  const servers: ServerDefinition[] = [];
  const unusable: UnusableServer[] = [];
  const entries: [string, McpServerSettings, string][] = Object.entries(mcpServers).map(([name, settings]) => [
    name,
    settings,
    `mcpServers.${name}`,
  ]);
  if (mcp.mcpServerCommand !== undefined && !Object.hasOwn(mcpServers, singleServer))
    entries.push([singleServer, { command: mcp.mcpServerCommand }, 'mcp.mcpServerCommand']);
  for (const [name, settings, key] of entries) {
    if (!isSelected(name, mcp)) continue;
    const origin = loaded.origins.get(key)?.at(-1);
    const isLine = key === 'mcp.mcpServerCommand';
    const endpoint = endpointOf(settings, { ...options, isLine, isTrusted: loaded.isTrusted });
    if (typeof endpoint === 'string') unusable.push({ name, problem: endpoint });
    else
      servers.push({
        ...limitsOf(settings),
        name,
        alias: aliasOf(name, options.reserved),
        endpoint,
        isTrusted: settings.trust === true && loaded.isTrusted,
        isProjects: origin?.layer === 'workspace',
        written: origin?.written ?? null,
      });
  }
  return { servers, unusable };
}

function limitsOf(settings: McpServerSettings) {
  const { timeout = 600_000, discoveryTimeoutMs = 30_000, includeTools, excludeTools = [], oauth } = settings;
  return {
    timeoutMs: timeout,
    startTimeoutMs: discoveryTimeoutMs,
    // Qwen Code also writes `name(…)` here.
    ...(includeTools && { include: includeTools.map((entry) => entry.replace(/\(.*$/s, '')) }),
    exclude: excludeTools,
    ...(oauth && { oauth }),
  };
}

function isSelected(name: string, { allowed, excluded }: LoadedSettings['settings']['mcp']): boolean {
  if (excluded.some((pattern) => matches(pattern, name))) return false;
  return allowed === undefined || allowed.some((pattern) => matches(pattern, name));
}

/** `*` and `?` as in file names. */
function matches(pattern: string, name: string): boolean {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*+/g, '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 's').test(name);
}

interface Place {
  root: string;
  home: string;
  /** The command is a whole line, to be split. */
  isLine: boolean;
  isTrusted: boolean;
}

function endpointOf(settings: McpServerSettings, place: Place): Endpoint | string {
  const { type, tcp, authProviderType = 'dynamic_discovery', httpUrl, url } = settings;
  if (type === 'sdk' || tcp !== undefined) return 'only stdio, HTTP and SSE servers can be used';
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
  // Started in a folder nobody trusts, the person's own server must not pick up that folder's files.
  return { type: 'stdio', argv: split.words, cwd: resolve(isTrusted ? root : home, cwd), env };
}

function webAddress(text: string): URL | string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return `${JSON.stringify(text)} is not a web address`;
  if (url.username !== '' || url.password !== '') return 'its address holds a password; use headers or oauth';
  return url;
}
