import { resolve } from 'node:path';
import { thrownText } from '../contract/errors.js';
import { isWithin } from '../files/workspace.js';
import type { JsonValue } from '../settings/parse-jsonc.js';
import { isObject, type JsonObject, jsonOf, type Plugin, type PluginPlace, type PluginReading } from './plugin.js';

/** Agent Plugins 1.0.0: https://agent-plugins.org/specification. */

const schemas = 'https://agent-plugins.org/schemas/1.0.0';
const textFields = ['version', 'description', 'homepage', 'repository', 'license'];
const knownFields = new Set(['$schema', 'name', 'author', 'keywords', 'extensions', ...textFields]);

/** Why a manifest is not valid, as the specification says; fields it does not know do not count. */
export function manifestProblem(manifest: JsonObject): string | undefined {
  const { $schema, name, author, keywords } = manifest;
  if ($schema !== `${schemas}/plugin.schema.json`) return `"$schema" must be "${schemas}/plugin.schema.json"`;
  if (typeof name !== 'string' || !/^(?!.*(?:--|\.\.))[a-z0-9](?:[a-z0-9.-]{0,62}[a-z0-9])?$/.test(name))
    return '"name" must have 1 to 64 lowercase letters, digits, single hyphens and periods';
  const wrong = textFields.find((field) => manifest[field] !== undefined && typeof manifest[field] !== 'string');
  if (wrong !== undefined) return `"${wrong}" must be a text`;
  if (author !== undefined && !isAuthor(author)) return '"author" may have name, email and url, each a text';
  if (keywords !== undefined && !isTextList(keywords)) return '"keywords" must be a list of texts';
  return undefined;
}

/** What clients must report and ignore. */
export function unknownFields({ extensions, ...manifest }: JsonObject): string[] {
  const unknown = Object.keys(manifest).filter((field) => !knownFields.has(field));
  return [
    ...unknown.map((field) => `plugin.json: the field ${JSON.stringify(field)} is not part of the format.`),
    ...(extensions !== undefined && !isObject(extensions) ? ['plugin.json: "extensions" is not an object.'] : []),
  ];
}

/** The servers of `mcp.json` as settings. A wrong file has none, a wrong server is left out and noted. */
export function portableServers({ files, place, notes }: PluginReading): Plugin['servers'] {
  const written = jsonOf(files, 'mcp.json');
  const servers: Record<string, JsonObject> = Object.create(null);
  if (!written) return servers;
  const { $schema, mcpServers, ...others } = written;
  if ($schema !== `${schemas}/mcp.schema.json`)
    throw new Error(`mcp.json: "$schema" must be "${schemas}/mcp.schema.json"`);
  if (!isObject(mcpServers)) throw new Error('mcp.json: "mcpServers" must be an object');
  if (Object.keys(others).length > 0) throw new Error(`mcp.json: unknown fields ${Object.keys(others).join(', ')}`);
  for (const [name, server] of Object.entries(mcpServers)) {
    try {
      servers[name] = serverOf(server, place);
    } catch (error) {
      notes.push(`The server ${JSON.stringify(name)} is not used: ${thrownText(error)}.`);
    }
  }
  return servers;
}

/** Throws what is wrong. */
function serverOf(server: JsonValue, place: PluginPlace): JsonObject {
  if (!isObject(server)) throw new Error('it must be an object');
  const { type } = server;
  const isProgram = type === 'stdio';
  if (!isProgram && type !== 'streamable-http' && type !== 'sse')
    throw new Error('its type must be stdio, streamable-http or sse');
  const known = ['type', ...(isProgram ? ['command', 'args', 'env', 'cwd'] : ['url', 'headers'])];
  const unknown = Object.keys(server).filter((field) => !known.includes(field));
  if (unknown.length > 0) throw new Error(`it has unknown fields: ${unknown.join(', ')}`);
  return isProgram ? programOf(server, place) : remoteOf(server);
}

function programOf(server: JsonObject, { root, data }: PluginPlace): JsonObject {
  const { command, args = [], env = {}, cwd = './' } = server;
  if (typeof command !== 'string' || typeof cwd !== 'string' || !isTextList(args) || !isTextMap(env))
    throw new Error('command and cwd must be texts, args a list of texts, and env an object of texts');
  if ('PLUGIN_ROOT' in env || 'PLUGIN_DATA' in env) throw new Error('env must not set PLUGIN_ROOT or PLUGIN_DATA');
  if (!/^(?:\.\/.|[^\\/]+$)/.test(command)) throw new Error('command must be a name, or a path that begins with ./');
  const fill = (text: string) =>
    text.replaceAll(/\$\{PLUGIN_(?:ROOT|DATA)\}/g, (name) => (name === '${PLUGIN_ROOT}' ? root : data));
  const filled = Object.fromEntries(Object.entries(env).map(([key, value]) => [key, fill(value)]));
  return {
    command: command.startsWith('./') ? inside(root, command, 'command') : command,
    cwd: directoryOf(cwd, { root, data }),
    args: args.map(fill),
    env: { ...filled, PLUGIN_ROOT: root, PLUGIN_DATA: data },
  };
}

function directoryOf(cwd: string, { root, data }: PluginPlace): string {
  const [, start, rest = ''] = /^(\.|\$\{PLUGIN_ROOT\}|\$\{PLUGIN_DATA\})(\/.*)?$/s.exec(cwd) ?? [];
  if (start === undefined || cwd === '.') throw new Error('cwd must begin with ./, ${PLUGIN_ROOT} or ${PLUGIN_DATA}');
  return inside(start === '${PLUGIN_DATA}' ? data : root, `.${rest}`, 'cwd');
}

function inside(folder: string, path: string, what: string): string {
  const full = resolve(folder, path);
  if (!isWithin(folder, full)) throw new Error(`its ${what} is outside of the plugin`);
  return full;
}

function remoteOf(server: JsonObject): JsonObject {
  const { type, url, headers = {} } = server;
  if (typeof url !== 'string' || !URL.canParse(url)) throw new Error('its url is not a web address');
  const { protocol, hostname, username, password, hash } = new URL(url);
  const isHere = hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
  if (protocol !== 'https:' && !(protocol === 'http:' && isHere)) throw new Error('its url must be https');
  if (`${username}${password}${hash}` !== '') throw new Error('its url must have no password and no #');
  if (!isTextMap(headers) || !areHeaders(headers)) throw new Error('its headers are wrong');
  return { ...(type === 'sse' ? { type: 'sse', url } : { type: 'http', httpUrl: url }), headers };
}

function areHeaders(headers: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  const areNames = names.every((name) => /^[\w!#$%&'*+.^`|~-]+$/.test(name)) && new Set(names).size === names.length;
  return areNames && !Object.values(headers).some((value) => /[\r\n\0]/.test(value));
}

const isTextList = (value: JsonValue | undefined): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

const isTextMap = (value: JsonValue | undefined): value is Readonly<Record<string, string>> =>
  isObject(value) && Object.values(value).every((item) => typeof item === 'string');

const isAuthor = (value: JsonValue): boolean =>
  isTextMap(value) && Object.keys(value).every((key) => ['name', 'email', 'url'].includes(key));
