import type { Approver, AuditRecord, CallRequest } from '../contract/call.js';
import { LatheHome } from '../files/lathe-home.js';
import { listPaths } from '../files/search/list-paths.js';
import { SpillStore } from '../files/spill.js';
import type { Journal } from '../files/undo/journal.js';
import { Workspace } from '../files/workspace.js';
import type { FileChanges } from '../files/write/file-changes.js';
import type { Hooks } from '../hooks/hooks.js';
import type { ReverseRequests } from '../mcp/client/reverse-requests.js';
import { AgreedRules } from '../policy/agreed-rules.js';
import { FolderTrust } from '../policy/folder-trust.js';
import type { Policy } from '../policy/policy.js';
import type { BackgroundCommands } from '../process/run/background.js';
import type { Sandbox } from '../process/sandbox/sandbox.js';
import { noOneThere } from '../scheduler/approve.js';
import { type CallRun, Scheduler, type SchedulerOptions } from '../scheduler/scheduler.js';
import type { SettingKey, Settings } from '../settings/keys.js';
import { type LoadedSettings, loadSettings } from '../settings/load-settings.js';
import { unagreedRules } from '../settings/merge-layers.js';
import type { JsonValue } from '../settings/parse-jsonc.js';
import type { SettingsProblem } from '../settings/settings-file.js';
import type { TodoStore } from '../tools/todoWrite.js';
import { ToolRegistry } from '../tools/tool-registry.js';
import type { AnyTool } from '../tools/tools.js';
import type { SearchSetup } from '../web/search/open-engines.js';
import { AuditLog } from './audit-log.js';
import { builtInTools } from './built-in-tools.js';
import type { Extension, OpenedParts } from './extension.js';
import { homeDirectories } from './home-directories.js';
import type { HookOptions } from './open-hooks.js';
import { openPolicy } from './open-policy.js';
import { secretsOf } from './secrets-of.js';
import { type ToolSources, toolSources } from './tool-sources.js';

export interface LatheOptions {
  /** The directory to work in. */
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** The person's home directory; from `env`, or else from their account, when left out. Never the working directory. */
  home?: string;
  /** Where state is kept; `LATHE_HOME` or `~/.lathe` when left out. */
  latheHome?: string;
  /** Trust the folder whatever was decided before: its settings, commands and servers count. */
  isTrusted?: boolean;
  /** Settings that win over all files. */
  flags?: Partial<Record<SettingKey, JsonValue>>;
  /** Answers confirmations. Without one, whatever needs a person is denied. */
  approver?: Approver;
  /** Answers what MCP servers ask: without it they can ask nothing. */
  handlers?: ReverseRequests;
  /** Brings a person to a page where they log in to an MCP server; without it such servers are refused. */
  openPage?: (url: URL) => Promise<void>;
  /** Instead of the log in the home directory. */
  audit?: (record: AuditRecord) => void;
  /** Who calls the tools: a model (the default) must have read a file before it may replace it, a person need not. */
  caller?: 'model' | 'person';
  /** Tools of your own, beside the built-in ones. */
  tools?: readonly AnyTool[];
  /** Adds what some built-in tools need a model for; called once, before they are made. */
  extend?: (parts: OpenedParts) => Promise<Extension>;
}

/** The tool system, ready to run calls. */
export interface Lathe {
  readonly workspace: Workspace;
  readonly registry: ToolRegistry;
  readonly policy: Policy;
  readonly settings: Settings;
  readonly loaded: LoadedSettings;
  readonly home: LatheHome;
  /** The person's home directory. */
  readonly userHome: string;
  readonly sandbox: Sandbox;
  /** The commands that run beside the conversation. */
  readonly background: BackgroundCommands;
  /** The search engines that are set up. */
  readonly search: Pick<SearchSetup, 'engines' | 'problems'>;
  /** How files are changed, and changes taken back. */
  readonly changes: FileChanges;
  readonly journal: Journal;
  /** The todo list of this session. */
  readonly todos: Readonly<TodoStore>;
  readonly approver: Approver;
  /** Where tools come from besides the built-in ones. */
  readonly sources: ToolSources;
  /** The person's own programs around calls and prompts, when there are any. */
  readonly hooks: Hooks | undefined;
  /** What is wrong with settings and rules, for people. */
  readonly problems: readonly string[];
  /** Runs a model's calls: read what happens, or await one outcome each, in order. Never rejects. */
  run(calls: readonly CallRequest[], signal: AbortSignal): CallRun;
  /** Another queue of calls under the same rules, for an agent or a subagent. */
  openScheduler(
    options?: Partial<Pick<SchedulerOptions, 'registry' | 'policy' | 'approver' | 'prepareCall'>>,
  ): Scheduler;
  /** New ones of the built-in tools that remember what their caller has seen and planned, for a subagent. */
  openOwnTools: () => AnyTool[];
  /**
   * Looks for the tools of the discovery command and the servers; with a name, only where a tool of that name could be.
   * Returns what went wrong, by source.
   */
  discover(signal: AbortSignal, name?: string): Promise<Map<string, unknown>>;
  /** The files and folders that searches show, some at a time, for a person who types a name. */
  listPaths: (signal: AbortSignal) => AsyncIterable<string[]>;
  /** Ends whatever is still running. */
  close(): Promise<void>;
}

/** Puts the parts together. The only place that sees them all. */
export async function createLathe(options: LatheOptions): Promise<Lathe> {
  const { cwd, approver = noOneThere, isTrusted: isConsented = false } = options;
  const { userHome, home, loaded } = await loadEverything(options);
  const { settings } = loaded;
  const spill = new SpillStore(home);
  const workspace = await Workspace.open(cwd, settings.context.includeDirectories, {
    readable: [spill.directory],
    guarded: [home.path],
  });
  const policy = await openPolicy(loaded, { workspace, home, userHome });
  const registry = new ToolRegistry();
  const { env } = loaded;
  const { caller = 'model' } = options;
  const extension = (await options.extend?.({ workspace, loaded, home, userHome })) ?? {};
  const builtIns = await builtInTools({ workspace, policy, settings, home, userHome, env, caller, spill, extension });
  for (const tool of [...builtIns.tools, ...(options.tools ?? [])]) registry.registerTool(tool);
  const { sandbox, background, search, changes, journal, todos } = builtIns;
  const sources = toolSources({ ...options, workspace, loaded, home, userHome, approver, registry, sandbox });
  const audit = new AuditLog(home, secretsOf(loaded));
  const { hooks, notices } = await hooksOf({ loaded, home, root: workspace.root, policy, approver, isConsented });
  const openScheduler: Lathe['openScheduler'] = (own = {}) =>
    new Scheduler({
      registry,
      policy,
      approver,
      spill: (name, text) => spill.write(name, text),
      audit: options.audit ?? ((record) => audit.record(record)),
      ...(hooks && { hooks }),
      ...own,
    });
  const scheduler = openScheduler();
  return {
    workspace,
    registry,
    policy,
    settings,
    loaded,
    home,
    userHome,
    approver,
    sources,
    hooks,
    openScheduler,
    openOwnTools: () => builtIns.openOwnTools(),
    problems: [...settingsProblems(loaded), ...policy.problems, ...notices, ...(extension.problems ?? [])],
    run: (calls, signal) => scheduler.run(calls, signal),
    sandbox,
    background,
    search,
    changes,
    journal,
    todos,
    discover: sources.discover,
    listPaths: (signal) => listPaths(workspace, builtIns.visibility, signal),
    close: async () => void (await Promise.all([builtIns.close(), sources.close()])),
  };
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
