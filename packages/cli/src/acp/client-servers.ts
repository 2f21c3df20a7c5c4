import type { McpServer } from '@agentclientprotocol/sdk';
import type { LatheOptions } from '@lathe/core';

type Servers = NonNullable<LatheOptions['servers']>;

/** The MCP servers that an editor names, as settings. The person is asked before one of them starts. */
export function clientServers(servers: readonly McpServer[]): Servers {
  return Object.fromEntries(servers.map((server) => [server.name, settingsOf(server)]));
}

function settingsOf(server: McpServer): Servers[string] {
  if ('command' in server) return { command: server.command, args: server.args, env: byName(server.env) };
  const { url, headers } = server;
  return server.type === 'http' ? { httpUrl: url, headers: byName(headers) } : { url, headers: byName(headers) };
}

const byName = (list: readonly { name: string; value: string }[]): Record<string, string> =>
  Object.fromEntries(list.map(({ name, value }) => [name, value]));
