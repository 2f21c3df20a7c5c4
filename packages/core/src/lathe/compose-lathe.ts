import { statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { LatheHome } from '../files/lathe-home.js';
import { listPaths } from '../files/search/list-paths.js';
import { SpillStore } from '../files/spill.js';
import { Workspace } from '../files/workspace.js';
import { hookFiles } from '../hooks/hook-files.js';
import type { Hooks } from '../hooks/hooks.js';
import { AgreedRules } from '../policy/agreed-rules.js';
import { FolderTrust } from '../policy/folder-trust.js';
import { assertNode } from '../process/run/assert-node.js';
import { denyAll } from '../scheduler/approve.js';
import { Scheduler } from '../scheduler/scheduler.js';
import { allSettings } from '../settings/keys.js';
import { type LoadedSettings, loadSettings } from '../settings/load-settings.js';
import { unagreedRules } from '../settings/merge-layers.js';
import type { SettingsProblem } from '../settings/settings-file.js';
import { likelyNames } from '../text/closest-names.js';
import { ToolRegistry } from '../tools/tool-registry.js';
import { AuditLog } from './audit-log.js';
import { builtInTools } from './built-in-tools.js';
import { homeDirectories } from './home-directories.js';
import type { Lathe, LatheHost, LatheOptions } from './lathe.js';
import type { HookOptions } from './open-hooks.js';
import { openPolicy } from './open-policy.js';
import { secretsOf } from './secrets-of.js';
import { toolSources } from './tool-sources.js';

/** Puts the parts together. The only place that sees them all. */
export async function composeLathe(options: LatheOptions): Promise<Lathe> {
  assertUsable(options);
  const { approver = denyAll, caller = 'model', isTrusted: isConsented = false } = options;
  const parts = await openParts(options);
  const { workspace, loaded, home, userHome, spill } = parts;
  const { settings, env } = loaded;
  const policy = await openPolicy(loaded, parts);
  const registry = new ToolRegistry();
  const extension = (await options.extend?.(parts)) ?? {};
  const builtIns = await builtInTools({ ...parts, policy, settings, env, caller, extension, asker: options.asker });
  const { tools, openOwnTools, visibility, close, ...shared } = builtIns;
  for (const tool of [...tools, ...(options.tools ?? [])]) registry.registerTool(tool);
  const sources = toolSources({ ...options, ...parts, approver, registry, sandbox: shared.sandbox });
  const audit = new AuditLog(home, secretsOf(loaded));
  const { hooks, notices } = await hooksOf({ loaded, home, root: workspace.root, policy, approver, isConsented });
  const openScheduler: LatheHost['openScheduler'] = (own = {}) =>
    new Scheduler({
      registry,
      policy,
      approver,
      spill: spill.write.bind(spill),
      audit: options.audit ?? audit.record.bind(audit),
      ...(hooks && { hooks }),
      ...own,
    });
  const paths: LatheHost['listPaths'] = (signal) => listPaths(workspace, visibility, signal);
  const host = {
    ...shared,
    policy,
    loaded,
    home,
    userHome,
    approver,
    sources,
    hooks,
    openScheduler,
    openOwnTools,
    listPaths: paths,
  };
  const scheduler = openScheduler();
  return {
    tools: registry,
    workspace,
    settings,
    problems: [...settingsProblems(loaded), ...policy.problems, ...notices, ...(extension.problems ?? [])],
    run: scheduler.run.bind(scheduler),
    discover: sources.discover,
    close: async () => {
      scheduler.close();
      await Promise.all([close(), sources.close()]);
    },
    host,
  };
}

/** The settings, and the workspace they speak of. */
async function openParts(options: LatheOptions) {
  const { userHome, home, loaded } = await loadEverything(options);
  const spill = new SpillStore(home);
  const executed = commandsOf(loaded).flatMap((command) => hookFiles(command, options.cwd));
  const workspace = await Workspace.open(options.cwd, loaded.settings.context.includeDirectories, {
    readable: [spill.directory],
    guarded: [home.path],
    executed,
  });
  return { workspace, loaded, home, userHome, spill, executed };
}

/** The commands of all hooks in the settings. */
function commandsOf({ settings }: LoadedSettings): string[] {
  const groups = Object.values(settings.hooks).flat();
  return groups.flatMap(({ hooks }) => hooks.map(({ command }) => command));
}

/** Mistakes of the program that calls us, and a runtime that cannot work, named before anything is opened. */
function assertUsable({ cwd, flags = {} }: LatheOptions): void {
  assertNode();
  if (!isAbsolute(cwd)) throw new Error(`cwd must be an absolute path, not ${JSON.stringify(cwd)}`);
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) throw new Error(`cwd is no directory: ${cwd}`);
  const known: readonly string[] = allSettings.map(({ key }) => key);
  for (const key of Object.keys(flags)) {
    if (known.includes(key)) continue;
    const near = likelyNames(key, known);
    throw new Error(`flags: there is no setting ${key}.${near.length > 0 ? ` Did you mean ${near.join(', ')}?` : ''}`);
  }
}

/** Most people have no hooks, and then need not load what runs them. */
async function hooksOf(options: HookOptions): Promise<{ hooks: Hooks | undefined; notices: string[] }> {
  if (Object.keys(options.loaded.settings.hooks).length === 0) return { hooks: undefined, notices: [] };
  const { openHooks } = await import('./open-hooks.js');
  return openHooks(options);
}

async function loadEverything(
  options: LatheOptions,
): Promise<{ userHome: string; home: LatheHome; loaded: LoadedSettings }> {
  const { cwd, env } = options;
  const { userHome, latheHome } = homeDirectories(options);
  const home = new LatheHome(latheHome);
  const isTrusted = options.isTrusted ?? (await new FolderTrust(home).state(cwd)) === 'trusted';
  const agreed = isTrusted && options.isTrusted === undefined ? await new AgreedRules(home).of(cwd) : undefined;
  const loaded = await loadSettings({
    home: userHome,
    latheHome: home.path,
    root: cwd,
    isTrusted,
    ...(agreed && { isAgreed: (rule) => agreed.has(rule) }),
    env,
    ...(options.flags && { flags: options.flags }),
  });
  if (loaded.fatal.length > 0) throw new Error(loaded.fatal.map(describeProblem).join('\n'));
  return { userHome, home, loaded };
}

/** Mistakes, and changes of what is allowed, which are shown before they count. */
function settingsProblems({ problems, ignored }: LoadedSettings): string[] {
  const newRules = unagreedRules(ignored).map(
    ({ source, key, written, reason }) => `${source}: ${key}: ${JSON.stringify(written)} does not count: ${reason}`,
  );
  return [...problems.map(describeProblem), ...newRules];
}

function describeProblem({ source, line, key, message }: SettingsProblem): string {
  return `${source}${line === undefined ? '' : `:${line}`}: ${key === '' ? '' : `${key}: `}${message}`;
}
