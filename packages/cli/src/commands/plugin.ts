import { dirname, resolve } from 'node:path';
import {
  attempt,
  describePlugin,
  describeUpdate,
  fetchPlugin,
  filesHash,
  type InstalledPlugin,
  InstalledPlugins,
  type PluginFiles,
  type PluginSource,
  parseSource,
  readPlugin,
  readTree,
  visibleText,
} from '@lathe/core/host';
import { LatheHome } from '@lathe/core/tools';
import { type Flags, UsageError } from '../command-line/args.js';
import { errorMessage } from '../command-line/error-message.js';
import { exitCodes } from '../command-line/exit-codes.js';
import type { Io } from '../command-line/io.js';
import { approveSources } from '../startup/approve-sources.js';
import { latheHome, openLathe } from '../startup/open-lathe.js';
import { askOnTerminal } from '../terminal/terminal-question.js';
import type { Command } from './command.js';

interface Context {
  plugins: InstalledPlugins;
  flags: Flags;
  io: Io;
  signal: AbortSignal;
}

type Action = (args: readonly string[], context: Context) => Promise<number>;

const actions: Record<string, Action> = { add, list, remove, update };

/** `lathe plugin` manages plugins. Nothing of a plugin runs here. */
export const command: Command = {
  async run({ operands: [name = 'list', ...args], flags }, io, signal) {
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (!action)
      throw new UsageError(
        `unknown action ${JSON.stringify(name)}; use lathe plugin ${Object.keys(actions).join('|')}`,
      );
    return action(args, { plugins: new InstalledPlugins(new LatheHome(latheHome(io))), flags, io, signal });
  },
};

async function add(args: readonly string[], context: Context): Promise<number> {
  const { plugins, io, signal } = context;
  const [text, ...extra] = args;
  if (text === undefined || extra.length > 0)
    throw new UsageError('plugin add needs a folder, an archive or a repository');
  return orFailure(io, `${text} cannot be installed`, async () => {
    const source = await parseSource(text, (path) => resolve(io.cwd, path));
    const files = await fetchPlugin(source, io.env, signal);
    const { name } = readPlugin(files, { root: '<plugin>', data: '<data>' });
    const records = await plugins.records();
    if (records.some((record) => record.name.toLowerCase() === name.toLowerCase()))
      throw new Error(`there is a plugin ${name} already; use lathe plugin update ${name}, or remove it first`);
    const shown = describePlugin(readPlugin(files, plugins.placeOf(name)), files);
    return install({ name, source, files, done: 'installed' }, shown, context);
  });
}

async function update(args: readonly string[], context: Context): Promise<number> {
  const { plugins, io, signal } = context;
  let code: number = exitCodes.success;
  for (const { name, hash, source } of await recordsOf(args, plugins)) {
    const result = await orFailure(io, `${name} cannot be updated`, async () => {
      const files = await fetchPlugin(source, io.env, signal);
      const place = plugins.placeOf(name);
      const plugin = readPlugin(files, place);
      if (plugin.name !== name) throw new Error(`it is named ${plugin.name} now; remove it and add that one`);
      // Also if somebody changed it; nothing if it cannot be read.
      const before = attempt(() => readTree(place.root)) ?? new Map();
      if (filesHash(files) === hash && filesHash(before) === hash) {
        io.out(`${name} is up to date.`);
        return exitCodes.success;
      }
      const shown = [...describePlugin(plugin, files), '', ...(await describeUpdate(before, files))];
      return install({ name, source, files, done: 'updated' }, shown, context);
    });
    if (result !== exitCodes.success) code = result;
  }
  return code;
}

/** Those of these names, or all of them without a name. */
async function recordsOf(names: readonly string[], plugins: InstalledPlugins) {
  const records = await plugins.records();
  const unknown = names.find((name) => !records.some((record) => record.name === name));
  if (unknown !== undefined)
    throw new UsageError(`there is no plugin ${JSON.stringify(unknown)}; see lathe plugin list`);
  return names.length === 0 ? records : records.filter(({ name }) => names.includes(name));
}

/** Shows what would be installed, asks, installs it, and asks about each program that it wants to start. */
async function install(
  { name, source, files, done }: { name: string; source: PluginSource; files: PluginFiles; done: string },
  shown: readonly string[],
  { plugins, flags, io, signal }: Context,
): Promise<number> {
  for (const line of shown) io.out(line);
  io.out(
    'Installing runs nothing of it. Its skills instruct the model; its servers, hooks and tools ask before they start.',
  );
  const isAgreed =
    flags.yes || (io.isInteractive && /^y(es)?$/i.test(await askOnTerminal('Install it? [y/N] ', io, signal)));
  if (!isAgreed) {
    io.err(`lathe: ${name} was not ${done}. Agree in a terminal, or with --yes.`);
    return exitCodes.denied;
  }
  await plugins.install(name, files, source);
  io.out(`${name} is ${done}. Remove it with: lathe plugin remove ${name}`);
  // Above the plugin's folder, which may hold settings of a project: there only plugins ask.
  await approveSources(flags, { ...io, cwd: dirname(plugins.placeOf(name).root) }, signal);
  return exitCodes.success;
}

async function remove([name, ...extra]: readonly string[], { plugins, io }: Context): Promise<number> {
  if (name === undefined || extra.length > 0) throw new UsageError('plugin remove needs the name of a plugin');
  await recordsOf([name], plugins);
  await plugins.remove(name);
  io.out(`Removed ${name} and what its servers kept.`);
  return exitCodes.success;
}

async function list(_args: readonly string[], { plugins, flags, io }: Context): Promise<number> {
  const records = await plugins.records();
  // Says which of them are not used, and why.
  const lathe = await openLathe(flags, io);
  await lathe.close();
  const usedByName = new Map(lathe.plugins.map((plugin) => [plugin.name, plugin]));
  const entries = records.map(({ name, source: from, hash }) => {
    const source = 'url' in from ? { ...from, url: from.url.replace(/\/\/[^/@\s]+@/, '//***@') } : from;
    const used = usedByName.get(name);
    const { version = '', skills = [] } = used ?? {};
    return { name, version, isUsed: used !== undefined, skills: skills.length, source, hash };
  });
  if (flags.json) io.out(JSON.stringify(entries, null, 2));
  else if (entries.length === 0) io.out('No plugins. Add one with: lathe plugin add <folder|archive|repository>');
  else
    for (const { name, version, source } of entries) {
      const used = usedByName.get(name);
      const from = 'url' in source ? source.url : source.path;
      io.out(visibleText(`${name} ${version}  ${used ? partsOf(used) : 'not used'}  from ${from}`));
    }
  return exitCodes.success;
}

const counted = (count: number, what: string) => count > 0 && `${count} ${what}${count === 1 ? '' : 's'}`;

function partsOf({ skills, servers, commands, agents, hooks, tools }: InstalledPlugin): string {
  const parts = [
    counted(skills.length, 'skill'),
    counted(Object.keys(servers).length, 'server'),
    commands !== undefined && 'commands',
    agents !== undefined && 'subagents',
    Object.keys(hooks).length > 0 && 'hooks',
    tools !== undefined && 'tools',
  ];
  return parts.filter((part) => part !== false).join(', ') || 'empty';
}

async function orFailure(io: Io, what: string, run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof UsageError) throw error;
    io.err(visibleText(`lathe: ${what}: ${errorMessage(error)}`));
    return exitCodes.failure;
  }
}
