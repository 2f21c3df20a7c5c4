import { statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { type AgentLathe } from '@lathe/agent';
import { projectSettings, saveSetting, showSetting, userSettings, visibleText } from '@lathe/core/host';
import type { McpServerSettings, McpSource } from '@lathe/core/mcp';
import { LatheHome } from '@lathe/core/tools';
import { type Flags, UsageError } from '../command-line/args.js';
import { errorMessage } from '../command-line/error-message.js';
import { exitCodes } from '../command-line/exit-codes.js';
import type { Io } from '../command-line/io.js';
import { parseAdd } from '../mcp/add-arguments.js';
import { openBrowser } from '../mcp/open-browser.js';
import { latheHome, openLathe } from '../startup/open-lathe.js';
import { terminalApprover } from '../terminal/terminal-approver.js';
import type { Command } from './command.js';

type Action = (args: readonly string[], flags: Flags, io: Io, signal: AbortSignal) => Promise<number>;

const noServers = 'No MCP servers. Add one with: lathe mcp add <name> <command|url>';
const actions: Record<string, Action> = { add, list, remove, test, auth };

/** `lathe mcp` manages the MCP servers. */
export const command: Command = {
  async run({ operands: [name = 'list', ...args], flags }, io, signal) {
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (!action)
      throw new UsageError(`unknown action ${JSON.stringify(name)}; use lathe mcp ${Object.keys(actions).join('|')}`);
    return action(args, flags, io, signal);
  },
};

async function add(args: readonly string[], flags: Flags, io: Io): Promise<number> {
  const { name, scope, server } = parseAdd(args);
  const { path, home, file } = settingsFile(scope, io);
  await saveSetting(home, file, ['mcpServers', name], (current) => {
    if (current !== undefined)
      throw new UsageError(`${path} already has a server named ${name}; remove it first: lathe mcp remove ${name}`);
    return JSON.parse(JSON.stringify(server));
  });
  const isUsed = scope === 'user' || (await isTrusted(flags, io));
  const next = isUsed ? '' : 'This folder is not trusted, so its servers are not used yet: lathe trust\n';
  const notes = scope === 'user' ? relativeFileNotes(server, io.cwd) : '';
  io.out(`Added ${name} to ${path}.\n${next}${notes}Test it with: lathe mcp test ${name}`);
  return exitCodes.success;
}

/** A server for all folders starts where another file may have this name, or none. */
function relativeFileNotes({ command: program = '', args = [], cwd }: McpServerSettings, here: string): string {
  const isFileHere = (word: string) =>
    !isAbsolute(word) && statSync(join(here, word), { throwIfNoEntry: false })?.isFile() === true;
  const files = cwd === undefined ? [program, ...args].filter(isFileHere) : [];
  return files
    .map((file) =>
      visibleText(
        `The server starts in your home directory or, if you trust it, in the current one: use the full path of ${file}.\n`,
      ),
    )
    .join('');
}

async function isTrusted(flags: Flags, io: Io): Promise<boolean> {
  const lathe = await openLathe(flags, io);
  await lathe.close();
  return lathe.loaded.isTrusted;
}

async function remove(args: readonly string[], _flags: Flags, io: Io): Promise<number> {
  const scopes = args.includes('project') ? ['project' as const] : ['user' as const, 'project' as const];
  const name = args.find((arg) => !arg.startsWith('-') && arg !== 'user' && arg !== 'project');
  if (name === undefined) throw new UsageError('mcp remove needs the name of a server');
  for (const scope of scopes) {
    const { path, home, file } = settingsFile(scope, io);
    let wasThere = false;
    await saveSetting(home, file, ['mcpServers', name], (current) => {
      wasThere = current !== undefined;
      return undefined;
    }).catch((error: unknown) => {
      if (wasThere) throw error;
    });
    if (!wasThere) continue;
    io.out(`Removed ${name} from ${path}.`);
    return exitCodes.success;
  }
  io.err(`lathe: no server named ${name} in your settings or in this project's`);
  return exitCodes.failure;
}

async function list(_args: readonly string[], flags: Flags, io: Io, signal: AbortSignal): Promise<number> {
  const lathe = await openLathe(flags, io);
  try {
    const { servers, unusable } = lathe.sources;
    const states = await Promise.all(servers.map((source) => stateOf(source, signal)));
    for (const [index, { client }] of servers.entries()) {
      const { name, written, isProjects, plugin } = client.definition;
      const shown = JSON.stringify(showSetting(`mcpServers.${name}`, written));
      const origin = plugin?.source ?? (isProjects ? 'project' : 'user');
      io.out(visibleText(`${name}  (${origin})  ${states[index]}\n  ${shown}`));
    }
    for (const { name, problem } of unusable) io.out(visibleText(`${name}  (cannot be used: ${problem})`));
    const known = [...servers.map(({ client }) => client.definition.name), ...unusable.map(({ name }) => name)];
    const disabled = Object.keys(lathe.settings.mcpServers).filter((name) => !known.includes(name));
    for (const name of disabled) io.out(visibleText(`${name}  disabled by mcp.excluded or mcp.allowed`));
    if (known.length + disabled.length === 0) io.out(noServers);
  } finally {
    await lathe.close();
  }
  return exitCodes.success;
}

/** How long `mcp list` waits for a server. */
const maxListMs = 10_000;

/** Whether a server answers, in a few words. */
async function stateOf(source: McpSource, signal: AbortSignal): Promise<string> {
  const deadline = AbortSignal.timeout(maxListMs);
  try {
    const { length } = await source.discover(AbortSignal.any([signal, deadline]));
    return `connected, ${length} ${length === 1 ? 'tool' : 'tools'}`;
  } catch (error) {
    signal.throwIfAborted();
    if (deadline.aborted) return `no answer within ${maxListMs / 1000} s`;
    return `not connected: ${errorMessage(error)}`;
  }
}

async function test(args: readonly string[], flags: Flags, io: Io, signal: AbortSignal): Promise<number> {
  const lathe = await openLathe(flags, io, io.isInteractive ? { approver: terminalApprover(io) } : {});
  try {
    const chosen = selectServers(lathe, args[0]);
    if (chosen.length === 0) io.out(noServers);
    const results = await Promise.all(chosen.map((source) => testServer(source, io, signal)));
    return results.every(Boolean) ? exitCodes.success : exitCodes.failure;
  } finally {
    await lathe.close();
  }
}

async function auth(args: readonly string[], flags: Flags, io: Io, signal: AbortSignal): Promise<number> {
  const [name] = args;
  if (name === undefined) throw new UsageError('mcp auth needs the name of a server');
  const lathe = await openLathe(flags, io, { openPage: (url) => openBrowser(url, io) });
  try {
    const [source] = selectServers(lathe, name);
    return source && (await testServer(source, io, signal)) ? exitCodes.success : exitCodes.failure;
  } finally {
    await lathe.close();
  }
}

async function testServer(source: McpSource, io: Io, signal: AbortSignal): Promise<boolean> {
  const { name } = source.client.definition;
  try {
    const tools = await source.discover(signal);
    const { state } = source.client;
    const about =
      state.status === 'ready' ? `${state.server}, protocol ${state.protocolVersion}, ${state.latencyMs} ms` : '';
    io.out(
      visibleText(`${name}: works (${about}), ${tools.length} tools: ${tools.map((tool) => tool.name).join(', ')}`),
    );
    for (const { name: tool, reason } of source.rejections()) io.out(visibleText(`  skipped: ${tool} (${reason})`));
    return true;
  } catch (error) {
    io.err(visibleText(`${name}: ${errorMessage(error)}`));
    return false;
  }
}

function selectServers({ sources }: Pick<AgentLathe, 'sources'>, name: string | undefined): readonly McpSource[] {
  const { servers, unusable } = sources;
  if (name === undefined) return servers;
  const found = servers.filter(({ client }) => client.definition.name === name);
  if (found.length > 0) return found;
  const problem = unusable.find((server) => server.name === name)?.problem;
  throw new UsageError(
    problem === undefined
      ? `there is no server named ${name}; lathe doctor shows which settings are ignored here`
      : `${name} cannot be used: ${problem}`,
  );
}

function settingsFile(scope: 'user' | 'project', io: Io) {
  const home = new LatheHome(latheHome(io));
  const file = scope === 'user' ? userSettings(home) : projectSettings(io.cwd);
  return { home, file, path: file.path };
}
