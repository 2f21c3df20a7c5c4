import type { Approver, AuditRecord, CallRequest } from '../contract/call.js';
import type { Tracer } from '../contract/trace.js';
import type { Buffers } from '../files/editor-files.js';
import type { LatheHome } from '../files/lathe-home.js';
import type { Journal } from '../files/undo/journal.js';
import type { Workspace } from '../files/workspace.js';
import type { FileChanges } from '../files/write/file-changes.js';
import type { Hooks } from '../hooks/hooks.js';
import type { ReverseRequests } from '../mcp/client/reverse-requests.js';
import type { InstalledPlugin } from '../plugins/installed-plugins.js';
import type { Exposure } from '../policy/exposure.js';
import type { Policy } from '../policy/policy.js';
import type { BackgroundCommands } from '../process/run/background.js';
import type { Sandbox } from '../process/sandbox/sandbox.js';
import type { Rewind } from '../rewind/rewind.js';
import type { CallRun, Scheduler, SchedulerOptions } from '../scheduler/scheduler.js';
import type { SettingKey, Settings } from '../settings/keys.js';
import type { LoadedSettings } from '../settings/load-settings.js';
import type { McpServerSettings } from '../settings/mcp-server-shape.js';
import type { JsonValue } from '../settings/parse-jsonc.js';
import type { Asker } from '../tools/ask-user-question.js';
import type { TodoStore } from '../tools/todoWrite.js';
import type { ToolRegistry } from '../tools/tool-registry.js';
import type { AnyTool } from '../tools/tools.js';
import type { SearchSetup } from '../web/search/open-engines.js';
import type { Extension, OpenedParts } from './extension.js';
import type { Languages } from './open-languages.js';
import type { Retention } from './retention.js';
import type { ToolSources } from './tool-sources.js';

/** How to set up the tool system. */
export interface LatheOptions {
  /** The directory to work in. */
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** The person's home directory; from `env`, or else from their account, when left out. Never the working directory. */
  home?: string;
  /** Where state is kept; `LATHE_HOME` or `~/.lathe` when left out. */
  latheHome?: string;
  /**
   * `cwd` is in a worktree that Lathe made: settings, rules, trust and hooks are those of the directory `cwd` is a copy
   * of, and commands may read the objects of its repository.
   */
  worktree?: WorktreeOrigin;
  /** Trust the folder whatever was decided before: its settings, commands and servers count. */
  isTrusted?: boolean;
  /** Settings that win over all files, by key: `{ 'tools.approvalMode': 'auto-edit' }`. An unknown key is an error. */
  flags?: Partial<Record<SettingKey, JsonValue>>;
  /** Answers confirmations. Without one, whatever needs a person is denied. */
  approver?: Approver;
  /** Puts the questions of `ask_user_question` to a person. Default: nobody is there to answer. */
  asker?: Asker;
  /** Files that are open in an editor: the tools see and change text there that is not saved yet. */
  buffers?: Buffers;
  /** Answers what MCP servers ask: without it they can ask nothing. */
  handlers?: ReverseRequests;
  /** MCP servers that another program names, such as an editor: a person is asked once before each of them starts. */
  servers?: Readonly<Record<string, McpServerSettings>>;
  /** Brings a person to a page where they log in to an MCP server; without it such servers are refused. */
  openPage?: (url: URL) => Promise<void>;
  /** Receives the record of each call instead of the log in the home directory; `false` keeps none. */
  audit?: ((record: AuditRecord) => void) | false;
  /** `false` leaves `~/.qwen` alone, as the setting `general.readQwenHome` does. */
  readsQwenHome?: boolean;
  /** Who calls the tools: a model (the default) must have read a file before it may replace it, a person need not. */
  caller?: 'model' | 'person';
  /** Tools of your own, beside the built-in ones. */
  tools?: readonly AnyTool[];
  /** Adds what some built-in tools need a model for; called once, before they are made. */
  extend?: (parts: OpenedParts) => Promise<Extension>;
}

/** Where the files of a worktree come from. */
export interface WorktreeOrigin {
  /** The directory that `cwd` is a copy of. */
  directory: string;
  /** The repository's directory, and that of its copy. */
  top: string;
  copyTop: string;
  /** The repository's object directory, when the copy borrows from it. */
  objects?: string;
}

/** The tool system, ready to run calls. */
export interface Lathe {
  readonly tools: ToolRegistry;
  readonly workspace: Workspace;
  readonly settings: Settings;
  /** What is wrong with settings and rules, for people. */
  readonly problems: readonly string[];
  /** Runs a model's calls: read what happens, or await one outcome each, in order. Never rejects. */
  run(calls: readonly CallRequest[], signal?: AbortSignal): CallRun;
  /**
   * Looks for the tools of the discovery command, files and servers; with a name, only where a tool of that name could be.
   * Returns what went wrong, by source; `NotTrusted` for what would run code of a folder that is not trusted.
   */
  discover(signal?: AbortSignal, name?: string): Promise<Map<string, unknown>>;
  /** Ends whatever is still running. Nothing can be run afterwards. */
  close(): Promise<void>;
  /** The parts for a program that builds its own front end, such as our command line. */
  readonly host: LatheHost;
}

/** What a front end needs beyond running calls. May change between minor versions. */
export interface LatheHost {
  readonly policy: Policy;
  /** The settings with their origins and problems. */
  readonly loaded: LoadedSettings;
  readonly home: LatheHome;
  /** The person's home directory. */
  readonly userHome: string;
  readonly sandbox: Sandbox;
  /** The commands that run beside the conversation. */
  readonly background: BackgroundCommands;
  /** The language servers of the project. */
  readonly languages: Pick<Languages, 'status'>;
  /** The search engines that are set up. */
  readonly search: Pick<SearchSetup, 'engines' | 'problems'>;
  /** How files are changed, and changes taken back. */
  readonly changes: FileChanges;
  readonly journal: Journal;
  /** Snapshots of the workspace, and the way back to them. */
  readonly rewind: Rewind;
  /** The todo list of this session. */
  readonly todos: Readonly<TodoStore>;
  readonly approver: Approver;
  /** Where tools come from besides the built-in ones. */
  readonly sources: ToolSources;
  /** The plugins in use. */
  readonly plugins: readonly InstalledPlugin[];
  /** The person's own programs around calls and prompts, when there are any. */
  readonly hooks: Hooks | undefined;
  /** What the session has read that makes calls that send ask; absent when a person calls the tools. */
  readonly exposure: Exposure | undefined;
  /** Records the work for a collector, when one is set. */
  readonly tracer: Tracer | undefined;
  /** What is kept of earlier work, and for how long. */
  readonly retention: Retention;
  /**
   * Names the session this is about: long output goes to a folder of its own, which it may read again when it is
   * resumed, and no other process removes its files.
   */
  useSession(id: string): Promise<void>;
  /** Another queue of calls under the same rules, for an agent or a subagent. */
  openScheduler(
    options?: Partial<
      Pick<SchedulerOptions, 'registry' | 'policy' | 'approver' | 'prepareCall' | 'beforeChange' | 'exposure'>
    >,
  ): Scheduler;
  /** New ones of the built-in tools that remember what their caller has seen and planned, for a subagent. */
  openOwnTools: () => AnyTool[];
  /** The files and folders that searches show, some at a time, for a person who types a name. */
  listPaths: (signal: AbortSignal) => AsyncIterable<string[]>;
}
