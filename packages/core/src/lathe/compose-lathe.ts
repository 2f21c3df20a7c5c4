import type { Tracer } from '../contract/trace.js';
import { PrivatePlaces } from '../files/access/home-places.js';
import { LatheHome } from '../files/lathe-home.js';
import { listPaths } from '../files/search/list-paths.js';
import { SpillStore } from '../files/spill.js';
import { Workspace } from '../files/workspace.js';
import { hookFiles } from '../hooks/hook-files.js';
import type { Hooks } from '../hooks/hooks.js';
import { InstalledPlugins, pluginSettings } from '../plugins/installed-plugins.js';
import { AgreedRules } from '../policy/agreed-rules.js';
import { Exposure } from '../policy/exposure.js';
import { FolderTrust } from '../policy/folder-trust.js';
import { SessionDirectory } from '../process/sandbox/session-directory.js';
import { denyAll } from '../scheduler/approve.js';
import { Scheduler, type SchedulerOptions } from '../scheduler/scheduler.js';
import { type LoadedSettings, loadSettings } from '../settings/load-settings.js';
import { unagreedRules } from '../settings/merge-layers.js';
import type { SettingsProblem } from '../settings/settings-file.js';
import { ToolRegistry } from '../tools/tool-registry.js';
import { assertUsable } from './assert-usable.js';
import { AuditLog } from './audit-log.js';
import { builtInTools } from './built-in-tools.js';
import { homeDirectories } from './home-directories.js';
import type { Lathe, LatheHost, LatheOptions } from './lathe.js';
import type { HookOptions } from './open-hooks.js';
import { openPolicy } from './open-policy.js';
import { openTelemetry } from './open-telemetry.js';
import { Retention } from './retention.js';
import { secretsOf } from './secrets-of.js';
import { toolSources } from './tool-sources.js';

/** Puts the parts together. The only place that sees them all. */
export async function composeLathe(options: LatheOptions): Promise<Lathe> {
  assertUsable(options);
  const { approver = denyAll, caller = 'model', isTrusted: isConsented = false } = options;
  const parts = await openParts(options);
  const { workspace, loaded, home, userHome, spill, retention } = parts;
  const { settings, env } = loaded;
  const policy = await openPolicy(loaded, parts);
  const registry = new ToolRegistry();
  const { problems = [], ...extension } = (await options.extend?.(parts)) ?? {};
  const given = { caller, extension, ownEnv: options.env, asker: options.asker };
  const builtIns = await builtInTools({ ...parts, ...given, policy, settings, env });
  const { tools, openOwnTools, visibility, files, close, ...shared } = builtIns;
  for (const tool of [...tools, ...(options.tools ?? [])]) registry.registerTool(tool);
  const sources = toolSources({ ...options, ...parts, approver, registry, extension, sandbox: shared.sandbox });
  const { hooks, notices } = await hooksOf({ loaded, home, root: workspace.root, policy, approver, isConsented });
  const { log, telemetry, ...recorders } = await openRecords(options, parts);
  // A person who calls the tools sends nothing that a text made them send.
  const exposure = caller === 'model' ? new Exposure() : undefined;
  const common = { registry, policy, approver, files, exposure, spill: spill.write.bind(spill) };
  const schedulerOptions: SchedulerOptions = { ...common, ...(hooks && { hooks }), ...recorders };
  const openScheduler: LatheHost['openScheduler'] = (own) => new Scheduler({ ...schedulerOptions, ...own });
  const host = {
    ...shared,
    policy,
    loaded,
    home,
    userHome,
    approver,
    sources,
    plugins: parts.plugins,
    hooks,
    tracer: telemetry?.tracer,
    retention,
    useSession: (id: string) => useSession(id, { log, spill, workspace, tracer: telemetry?.tracer }),
    exposure,
    openScheduler,
    openOwnTools,
    listPaths: (signal: AbortSignal) => listPaths(workspace, visibility, signal),
  };
  const scheduler = openScheduler();
  const cleaning = retention.cleanLater();
  return {
    tools: registry,
    workspace,
    settings,
    problems: [...settingsProblems(loaded), ...parts.problems, ...policy.problems, ...notices, ...problems],
    run: scheduler.run.bind(scheduler),
    discover: sources.discover,
    close: async () => {
      scheduler.close();
      cleaning.abort();
      await Promise.all([close(), sources.close()]);
      await Promise.all([spill.inUse.release(), telemetry?.close(), shared.sandbox.close()]);
    },
    host,
  };
}

/** Where calls are recorded: the audit log, and a collector of telemetry if one is set. */
async function openRecords(options: LatheOptions, { home, loaded, workspace }: Parts) {
  const log = loaded.settings.general.auditLog ? new AuditLog(home, secretsOf(loaded), workspace.root) : undefined;
  const audit = options.audit ?? log?.record.bind(log);
  const telemetry = await openTelemetry(loaded);
  return { log, telemetry, ...(audit && { audit }), ...(telemetry && { watch: telemetry.watchCall }) };
}

type Parts = Awaited<ReturnType<typeof openParts>>;

interface SessionParts {
  log: AuditLog | undefined;
  spill: SpillStore;
  workspace: Workspace;
  tracer: Tracer | undefined;
}

async function useSession(id: string, { log, spill, workspace, tracer }: SessionParts): Promise<void> {
  if (log) log.session = id;
  if (tracer) tracer.conversation = id;
  await spill.enter(id);
  await workspace.allowReading(spill.directory);
}

/** The settings, and the workspace they speak of. */
async function openParts(options: LatheOptions) {
  const { userHome, home, loaded, plugins, problems } = await loadEverything(options);
  const retention = new Retention(home, loaded.settings.retention);
  const spill = new SpillStore(home, { secrets: secretsOf(loaded), keepRule: () => retention.rule });
  const executed = commandsOf(loaded).flatMap((command) => hookFiles(command, options.cwd));
  const session = new SessionDirectory(home);
  const places = new PrivatePlaces({ home: userHome, env: options.env });
  const workspace = await Workspace.open(options.cwd, loaded.settings.context.includeDirectories, {
    readable: [spill.directory, session.tmp],
    guarded: [home.path],
    executed,
    privacyOf: (real) => places.reasonFor(real),
    tmp: session.tmp,
    obeyed: loaded.settings.context.fileName,
  });
  return { workspace, loaded, home, userHome, plugins, problems, spill, retention, executed, session };
}

/** The commands of all hooks in the settings. */
function commandsOf({ settings }: LoadedSettings): string[] {
  const groups = Object.values(settings.hooks).flat();
  return groups.flatMap(({ hooks }) => hooks.map(({ command }) => command));
}

/** Most people have no hooks, and then need not load what runs them. */
async function hooksOf(options: HookOptions): Promise<{ hooks: Hooks | undefined; notices: string[] }> {
  if (Object.keys(options.loaded.settings.hooks).length === 0) return { hooks: undefined, notices: [] };
  const { openHooks } = await import('./open-hooks.js');
  return openHooks(options);
}

async function loadEverything(options: LatheOptions) {
  const { cwd, env } = options;
  const { userHome, latheHome } = homeDirectories(options);
  const home = new LatheHome(latheHome);
  const isTrusted = options.isTrusted ?? (await new FolderTrust(home).state(cwd)) === 'trusted';
  const agreed = isTrusted && options.isTrusted === undefined ? await new AgreedRules(home).of(cwd) : undefined;
  const { plugins, problems } = await new InstalledPlugins(home).load();
  const loaded = await loadSettings({
    home: userHome,
    latheHome: home.path,
    root: cwd,
    isTrusted,
    ...(agreed && { isAgreed: (rule) => agreed.has(rule) }),
    env,
    plugins: plugins.map(pluginSettings),
    flags: {
      ...(options.readsQwenHome !== undefined && { 'general.readQwenHome': options.readsQwenHome }),
      ...options.flags,
    },
  });
  if (loaded.fatal.length > 0) throw new Error(loaded.fatal.map(describeProblem).join('\n'));
  const { enabled } = loaded.settings.plugins;
  const used = plugins.filter(({ name }) => enabled === undefined || enabled.includes(name));
  return { userHome, home, loaded, plugins: used, problems };
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
