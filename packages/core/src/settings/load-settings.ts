import { realpathSync } from 'node:fs';
import { join, posix, resolve, win32 } from 'node:path';
import { attempt } from '../contract/errors.js';
import { type DotEnvResult, type Environment, foldersUpTo, loadDotEnv } from './dot-env.js';
import { assignmentsFromEnvironment, assignmentsFromFlags } from './environment-layer.js';
import { allSettings, type SettingKey, type Settings } from './keys.js';
import type { McpServerSettings } from './mcp-server-shape.js';
import { type Ignored, isLooser, type Merged, mergeLayers, type Origin } from './merge-layers.js';
import { type JsonValue, nodeOf } from './parse-jsonc.js';
import {
  type FileContent,
  type Interpretation,
  interpretFile,
  openSettingsFile,
  type SettingsFile,
  type SettingsProblem,
} from './settings-file.js';

export interface SettingsSources {
  /** The user's home folder, which may contain `.qwen`. */
  home: string;
  /** The folder of Lathe's state and settings: `~/.lathe` or `LATHE_HOME`. */
  latheHome: string;
  /** The root of the workspace. */
  root: string;
  /** The folder the program was started in, inside the root. */
  cwd?: string;
  /** The user trusts the workspace, so its files may do more than tighten. */
  isTrusted: boolean;
  /** Which allow rules of a trusted workspace count; by default all. */
  isAgreed?: (rule: string) => boolean;
  env: Environment;
  /** Settings from the command line under their canonical keys. */
  flags?: Partial<Record<SettingKey, JsonValue>>;
  /** What installed plugins bring. They can set nothing but servers and hooks, and those only after consent. */
  plugins?: readonly PluginSettings[];
  platform?: NodeJS.Platform;
  /** Replaces the default path of the platform, for tests and embedders. */
  systemFile?: string;
}

/** The settings of an installed plugin. */
export interface PluginSettings {
  name: string;
  /** The hash of its files. */
  pin: string;
  /** `$NAME` stands for a variable of the environment. */
  hasVariables: boolean;
  settings: { readonly mcpServers: JsonValue; readonly hooks: JsonValue };
}

export interface LoadedSettings {
  settings: Settings;
  /** Mistakes in the files; the program starts anyway. */
  problems: readonly SettingsProblem[];
  /** Mistakes in the system file: the program must not start, because limits of the administrator may be lost. */
  fatal: readonly SettingsProblem[];
  /** Where each setting that is not a default comes from; entries of `mcpServers` and `hooks` have their own key. */
  origins: ReadonlyMap<string, readonly Origin[]>;
  /** Values that a source is not allowed to set, to show to the user. */
  ignored: readonly Ignored[];
  /** The environment with the variables of `.env` files. */
  env: Environment;
  /** A file that may contain restrictions could not be parsed, so no call may run without asking. */
  mayLackRestrictions: boolean;
  /** The user trusts the folder, or `security.folderTrust.enabled` is off. */
  isTrusted: boolean;
  /** MCP servers that another program names, which no settings file has. */
  givenServers?: Readonly<Record<string, McpServerSettings>>;
}

/** Reads every layer: built-in < system < user < workspace < environment < flags. */
export async function loadSettings(sources: SettingsSources): Promise<LoadedSettings> {
  const { files, readsQwenHome } = await openFiles(sources);
  const own = files.filter(({ file }) => file.layer !== 'workspace');
  const isNeeded = personalValue('security.folderTrust.enabled', own, sources) !== false;
  const isTrusted = sources.isTrusted || !isNeeded;
  const dotEnv = loadEnvironment(sources, { isTrusted, readsQwenHome });
  const enabled = personalValue('plugins.enabled', own, sources);
  const layers = interpretAll(withPlugins(files, sources, enabled), sources, dotEnv.env);
  const merged = mergeLayers(layers.assignments, defaults(), {
    isTrusted,
    isAgreed: isNeeded ? sources.isAgreed : undefined,
  });
  if (layers.mayLackRestrictions) capApproval(merged);
  return {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type is made from the table that checked the values
    settings: deepFreeze(nest(merged.values, allKeys)) as unknown as Settings,
    problems: [
      ...layers.problems,
      ...dotEnv.problems.map((problem) => ({ ...problem, source: problem.file, key: '' })),
    ],
    fatal: layers.fatal,
    origins: merged.origins,
    ignored: [...merged.ignored, ...refusedVariables(dotEnv)],
    env: Object.freeze(dotEnv.env),
    mayLackRestrictions: layers.mayLackRestrictions,
    isTrusted,
  };
}

/** The path of the administrator's settings; fixed, because the user could change a variable. */
export function systemSettingsFile(platform: NodeJS.Platform): string {
  if (platform === 'darwin') return posix.join('/Library/Application Support/Lathe', 'settings.json');
  if (platform === 'win32') return win32.join('C:\\ProgramData\\lathe', 'settings.json');
  return '/etc/lathe/settings.json';
}

function settingsFiles(sources: SettingsSources): SettingsFile[] {
  const { home, latheHome, root, systemFile, platform = process.platform } = sources;
  const user = [
    { path: join(home, '.qwen', 'settings.json'), layer: 'user', isForeign: true },
    { path: join(latheHome, 'settings.json'), layer: 'user', isForeign: false },
  ] as const;
  const workspace = [
    { path: join(root, '.qwen', 'settings.json'), layer: 'workspace', isForeign: true },
    { path: join(root, '.lathe', 'settings.json'), layer: 'workspace', isForeign: false },
  ] as const;
  const known = new Set(user.map(({ path }) => realPath(path)));
  return [
    { path: systemFile ?? systemSettingsFile(platform), layer: 'system', isForeign: false },
    ...user,
    // In the home folder, the files of the workspace are those of the user and count once.
    ...workspace.filter(({ path }) => !known.has(realPath(path))),
  ];
}

/** An unknown setting may come from a newer version; every other mistake may be a lost limit. */
const isFatal = ({ message }: SettingsProblem): boolean => !message.startsWith('Unknown setting. docs');

type OpenedFile = { file: SettingsFile; content: FileContent; hasVariables?: boolean };

/** Plugins come after the person's own files, which they cannot change, and before those of the workspace. */
function withPlugins(
  files: readonly OpenedFile[],
  { plugins = [] }: SettingsSources,
  enabled?: JsonValue,
): OpenedFile[] {
  const used = plugins.filter(({ name }) => !Array.isArray(enabled) || enabled.includes(name));
  const opened = used.map(({ name, pin, hasVariables, settings }): OpenedFile => {
    const file = { path: `plugin ${name}`, layer: 'plugin', isForeign: true, pin } as const;
    return { file, hasVariables, content: { status: 'parsed', root: nodeOf(settings) } };
  });
  const own = files.filter(({ file }) => file.layer !== 'workspace');
  return [...own, ...opened, ...files.slice(own.length)];
}

interface Layers extends Interpretation {
  fatal: SettingsProblem[];
}

function interpretAll(files: readonly OpenedFile[], sources: SettingsSources, env: Environment): Layers {
  const interpreted = files.map(({ file, content, hasVariables = true }) => ({
    file,
    ...interpretFile(file, content, hasVariables ? env : {}),
  }));
  const outside = [assignmentsFromEnvironment(env), assignmentsFromFlags(sources.flags ?? {}, env)];
  return {
    assignments: [...interpreted, ...outside].flatMap(({ assignments }) => assignments),
    problems: [...interpreted, ...outside].flatMap(({ problems }) => problems),
    mayLackRestrictions: interpreted.some((entry) => entry.mayLackRestrictions),
    fatal: interpreted
      .filter(({ file }) => file.layer === 'system')
      .flatMap(({ problems }) => problems.filter(isFatal)),
  };
}

const open = async (file: SettingsFile): Promise<OpenedFile> => ({ file, content: await openSettingsFile(file.path) });
const isQwenHome = ({ layer, isForeign }: SettingsFile): boolean => layer === 'user' && isForeign;

/** Opens the files that count. Whether `~/.qwen` does, the others say. */
async function openFiles(sources: SettingsSources): Promise<{ files: OpenedFile[]; readsQwenHome: boolean }> {
  const all = settingsFiles(sources);
  const others = await Promise.all(all.filter((file) => !isQwenHome(file)).map(open));
  const own = others.filter(({ file }) => file.layer !== 'workspace');
  const readsQwenHome = personalValue('general.readQwenHome', own, sources) !== false;
  const foreign = readsQwenHome ? await Promise.all(all.filter(isQwenHome).map(open)) : [];
  // In the order of `all`: the administrator's file is the first one.
  return { files: [...others.slice(0, 1), ...foreign, ...others.slice(1)], readsQwenHome };
}

/** A setting that decides which other files count, before they do. */
function personalValue(key: SettingKey, own: readonly OpenedFile[], sources: SettingsSources): JsonValue | undefined {
  const { assignments } = interpretAll(own, sources, sources.env);
  return mergeLayers(assignments, defaults(), { isTrusted: false }).values.get(key);
}

function loadEnvironment(
  sources: SettingsSources,
  { isTrusted, readsQwenHome }: { isTrusted: boolean; readsQwenHome: boolean },
): DotEnvResult {
  const { cwd, root, home, latheHome, env } = sources;
  return loadDotEnv(env, {
    project: isTrusted ? foldersUpTo(resolve(cwd ?? root), resolve(root)) : [],
    home,
    latheHome,
    readsQwenHome,
  });
}

function refusedVariables({ refused }: DotEnvResult): Ignored[] {
  return refused.map(({ file, name, reason }) => ({
    layer: 'environment',
    source: file,
    key: name,
    written: '***',
    reason,
  }));
}

/** If a file with possible restrictions cannot be parsed, calls that it may have denied ask instead. */
function capApproval(merged: Merged): void {
  const setting = allSettings.find(({ key }) => key === 'tools.approvalMode');
  const value = merged.values.get('tools.approvalMode');
  if (setting === undefined || value === undefined || !isLooser(setting, value, 'default')) return;
  merged.values.set(setting.key, 'default');
  const origin = merged.origins.get(setting.key)?.at(-1);
  if (origin === undefined) return;
  const reason = 'a settings file that may contain restrictions cannot be parsed, so calls ask';
  merged.ignored.push({ ...origin, key: setting.key, reason });
}

const allKeys = allSettings.map(({ key }) => key);

function defaults(): Map<string, JsonValue> {
  const entries = allSettings.filter(({ fallback }) => fallback !== undefined);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table writes fallbacks as plain JSON
  return new Map(entries.map(({ key, fallback }) => [key, fallback as JsonValue]));
}

function realPath(path: string): string {
  return attempt(() => realpathSync(path)) ?? resolve(path);
}

interface Tree {
  [name: string]: JsonValue | Tree;
}

/**
 * `tools.core` becomes `{ tools: { core } }`. Every group of `keys` exists, even if none of its settings has a
 * value. Keys come from the table, never from a file.
 */
export function nest(values: ReadonlyMap<string, JsonValue>, keys: Iterable<string> = []): Tree {
  const root: Tree = {};
  for (const key of keys) groupOf(root, key);
  for (const [key, value] of values) groupOf(root, key)[lastName(key)] = value;
  return root;
}

const lastName = (key: string): string => key.slice(key.lastIndexOf('.') + 1);

function groupOf(root: Tree, key: string): Tree {
  let group = root;
  for (const name of key.split('.').slice(0, -1)) {
    const next = group[name] ?? {};
    group[name] = next;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a key is never also the beginning of another key
    group = next as Tree;
  }
  return group;
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}
