import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { isWithin } from '../files/workspace.js';
import type { JsonValue } from '../settings/parse-jsonc.js';
import { isObject, type JsonObject, type PluginPlace } from './plugin.js';
import type { PluginFiles } from './plugin-files.js';
import { jsonOf } from './read-json.js';

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
    ...(extensions !== undefined && !isObject(extensions) ? ['plugin.json: "extensions" is no object.'] : []),
  ];
}

/** The servers of `mcp.json` as settings. A wrong file has none, a wrong server is left out and noted. */
export function portableServers(files: PluginFiles, place: PluginPlace) {
  const written = jsonOf(files, 'mcp.json');
  const servers: Record<string, JsonObject> = Object.create(null);
  const notes: string[] = [];
  if (!written) return { servers, notes };
  const { $schema, mcpServers, ...others } = written;
  if ($schema !== `${schemas}/mcp.schema.json`)
    throw new Error(`mcp.json: "$schema" must be "${schemas}/mcp.schema.json"`);
  if (!isObject(mcpServers)) throw new Error('mcp.json: "mcpServers" must be an object');
  if (Object.keys(others).length > 0) throw new Error(`mcp.json: unknown fields ${Object.keys(others).join(', ')}`);
  for (const [name, server] of Object.entries(mcpServers)) {
    const found = isObject(server) ? serverOf(server, place) : 'it must be an object';
    if (typeof found === 'string') notes.push(`The server ${JSON.stringify(name)} is not used: ${found}.`);
    else servers[name] = found;
  }
  return { servers, notes };
}

function serverOf(server: JsonObject, place: PluginPlace): JsonObject | string {
  switch (server['type']) {
    case 'stdio':
      return programOf(server, place);
    case 'streamable-http':
    case 'sse':
      return remoteOf(server);
    default:
      return 'its type must be stdio, streamable-http or sse';
  }
}

function programOf({ type: _, command, args = [], env = {}, cwd = './', ...others }: JsonObject, place: PluginPlace) {
  const { root, data } = place;
  if (Object.keys(others).length > 0) return `unknown fields ${Object.keys(others).join(', ')}`;
  if (typeof command !== 'string' || command === '') return 'it has no command';
  if (!isTextList(args)) return 'args must be a list of texts';
  if (!isTextMap(env) || 'PLUGIN_ROOT' in env || 'PLUGIN_DATA' in env) return 'env must hold texts, and not our own';
  if (typeof cwd !== 'string' || !/^(?:\.\/|\$\{PLUGIN_(?:ROOT|DATA)\}(?:\/|$))/.test(cwd))
    return 'cwd must begin with ./, ${PLUGIN_ROOT} or ${PLUGIN_DATA}';
  if (/[\\/]/.test(command) && !command.startsWith('./'))
    return 'command must be a name, or a path that begins with ./';
  const program = command.startsWith('./') ? resolve(root, command) : command;
  if (command.startsWith('./') && !isWithin(root, program)) return 'its command is outside of the plugin';
  const fill = (text: string) =>
    text.replaceAll(/\$\{PLUGIN_(ROOT|DATA)\}/g, (_whole, which: string) => (which === 'ROOT' ? root : data));
  const directory = resolve(root, fill(cwd));
  if (!isWithin(cwd.startsWith('${PLUGIN_DATA}') ? data : root, directory)) return 'its cwd is outside of the plugin';
  const variables = { ...filled(env, fill), PLUGIN_ROOT: root, PLUGIN_DATA: data };
  return { command: program, args: args.map(fill), env: variables, cwd: directory };
}

const filled = (env: Readonly<Record<string, string>>, fill: (text: string) => string) =>
  Object.fromEntries(Object.entries(env).map(([key, value]) => [key, fill(value)]));

function remoteOf({ type, url, headers = {}, ...others }: JsonObject): JsonObject | string {
  if (Object.keys(others).length > 0) return `unknown fields ${Object.keys(others).join(', ')}`;
  if (typeof url !== 'string' || !URL.canParse(url)) return 'its url is no web address';
  const { protocol, hostname, username, password, hash } = new URL(url);
  const isLoopback =
    hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && hostname.startsWith('127.'));
  if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback)) return 'its url must be https';
  if (username !== '' || password !== '' || hash !== '') return 'its url must have no password and no #';
  if (!isTextMap(headers)) return 'headers must hold texts';
  const names = Object.keys(headers);
  const isSound = Object.entries(headers).every(
    ([name, value]) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && !/[\r\n\0]/.test(value),
  );
  if (!isSound || new Set(names.map((name) => name.toLowerCase())).size < names.length) return 'its headers are wrong';
  return { ...(type === 'sse' ? { type: 'sse', url } : { type: 'http', httpUrl: url }), headers };
}

const isTextList = (value: JsonValue | undefined): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

const isTextMap = (value: JsonValue | undefined): value is Readonly<Record<string, string>> =>
  isObject(value) && Object.values(value).every((item) => typeof item === 'string');

const isAuthor = (value: JsonValue): boolean =>
  isTextMap(value) && Object.keys(value).every((key) => ['name', 'email', 'url'].includes(key));
