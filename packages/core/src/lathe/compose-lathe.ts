import { statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import type { Tracer } from '../contract/trace.js';
import { PrivatePlaces } from '../files/access/home-places.js';
import { linkedNames } from '../files/access/linked-names.js';
import { EditorFiles } from '../files/editor-files.js';
import { LatheHome } from '../files/lathe-home.js';
import { listPaths } from '../files/search/list-paths.js';
import { SpillStore } from '../files/spill.js';
import { isWithin, Workspace } from '../files/workspace.js';
import { hookFiles } from '../hooks/hook-files.js';
import type { Hooks } from '../hooks/hooks.js';
import { InstalledPlugins, pluginSettings } from '../plugins/installed-plugins.js';
import { AgreedRules } from '../policy/agreed-rules.js';
import { Exposure } from '../policy/exposure.js';
import { FolderTrust } from '../policy/folder-trust.js';
import { assertNode } from '../process/run/assert-node.js';
import { SessionDirectory } from '../process/sandbox/session-directory.js';
import type { ConfigPlaces } from '../process/shell/git-config.js';
import { obeyedByGit, ownWorktrees } from '../process/shell/git-repository.js';
import { denyAll } from '../scheduler/approve.js';
import { Scheduler, type SchedulerOptions } from '../scheduler/scheduler.js';
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
  const given = { caller, extension, ownEnv: options.env, asker: options.asker, isTrusted: isConsented };
  const builtIns = await builtInTools({ ...parts, ...given, policy, settings, env });
  const { tools, openOwnTools, visibility, files, close, ...shared } = builtIns;
  for (const tool of [...tools, ...(options.tools ?? [])]) registry.registerTool(tool);
  const { sandbox, languages } = shared;
  const sources = toolSources({ ...options, ...parts, approver, registry, extension, sandbox, languages });
  const { hooks, notices } = await hooksOf({ loaded, home, root: parts.project, policy, approver, isConsented });
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
  const session = new SessionDirectory(home);
  const places = new PrivatePlaces({ home: userHome, env: options.env });
  const { worktree, env } = options;
  // Directories beside the project are shared, and a worktree is there to change nothing that is shared.
  const extra = worktree ? [worktree.copyTop] : loaded.settings.context.includeDirectories;
  const roots = await realRoots(options.cwd, extra);
  const executed = [
    ...commandsOf(loaded).flatMap((command) => hookFiles(command, options.cwd)),
    ...(await filesOfGit(roots, { home: userHome, env })),
  ];
  if (worktree) ownWorktrees.add(await realpath(worktree.copyTop));
  const { fileName: obeyed } = loaded.settings.context;
  const linked = await linkedNames(roots, obeyed);
  const workspace = await Workspace.open(options.cwd, extra, {
    worktree: worktree?.copyTop,
    readable: [spill.directory, session.tmp],
    guarded: [home.path],
    executed,
    privacyOf: (real) => (worktree && isWithin(worktree.copyTop, real) ? undefined : places.reasonFor(real)),
    tmp: session.tmp,
    linked,
    obeyed,
    editor: options.buffers && new EditorFiles(options.buffers),
  });
  return {
    workspace,
    loaded,
    home,
    userHome,
    plugins,
    problems,
    spill,
    retention,
    executed: [...executed, ...linked],
    session,
    worktree,
    project: worktree?.directory ?? workspace.root,
  };
}

function realRoots(cwd: string, extra: readonly string[]): Promise<string[]> {
  const all = [cwd, ...extra.map((path) => resolve(cwd, path))];
  return Promise.all(all.map((path) => realpath(path).catch(() => path)));
}

/** What git's configuration names inside these: directories of hooks and included files. */
async function filesOfGit(roots: readonly string[], places: ConfigPlaces): Promise<string[]> {
  const found = await Promise.all(
    roots.map(async (root) => {
      const named = await obeyedByGit(root, places).catch(() => []);
      return named.filter((path) => path !== root && isWithin(root, path));
    }),
  );
  return found.flat();
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
  const { env } = options;
  const cwd = options.worktree?.directory ?? options.cwd;
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
  const { servers: givenServers } = options;
  return { userHome, home, loaded: { ...loaded, ...(givenServers && { givenServers }) }, plugins: used, problems };
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

/** Mistakes of the program that calls us, and a runtime that cannot work, named before anything is opened. */
function assertUsable(options: LatheOptions): void {
  assertNode();
  assertTypes(options);
  const { cwd, flags = {} } = options;
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) throw new Error(`cwd is not a directory: ${cwd}`);
  const known: readonly string[] = allSettings.map(({ key }) => key);
  for (const key of Object.keys(flags)) {
    if (known.includes(key)) continue;
    const near = likelyNames(key, known);
    throw new Error(`flags: there is no setting ${key}.${near.length > 0 ? ` Did you mean ${near.join(', ')}?` : ''}`);
  }
}

const example = 'createLathe({ cwd: process.cwd(), env: process.env })';

/** What a compiler would have found. A wrong type must not pass for a yes. */
function assertTypes(options: LatheOptions): void {
  const { cwd, env, tools = [], approver, isTrusted = false }: Partial<Record<keyof LatheOptions, unknown>> = options;
  if (cwd === undefined) throw new Error(`cwd is missing: ${example}`);
  if (env === undefined) throw new Error(`env is missing: ${example}`);
  if (typeof cwd !== 'string' || !isAbsolute(cwd))
    throw new Error(`cwd must be an absolute path, not ${JSON.stringify(cwd)}`);
  if (typeof env !== 'object' || env === null) throw new Error('env must be an object, such as process.env');
  if (!Array.isArray(tools)) throw new Error('tools must be a list');
  if (!canDecide(approver)) throw new Error('approver must have a method decide');
  if (typeof isTrusted !== 'boolean') throw new Error('isTrusted must be true or false');
}

function canDecide(approver: unknown): boolean {
  if (approver === undefined) return true;
  return typeof approver === 'object' && approver !== null && typeof Reflect.get(approver, 'decide') === 'function';
}
