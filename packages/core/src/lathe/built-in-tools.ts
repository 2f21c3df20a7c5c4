import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SeenFiles } from '../files/access/seen-files.js';
import type { Visibility } from '../files/access/visibility.js';
import { userExcludes } from '../files/ignore/git-excludes.js';
import { type IgnoredBy, IgnoreRules } from '../files/ignore/ignore-rules.js';
import { Ripgrep } from '../files/search/ripgrep.js';
import type { SpillStore } from '../files/spill.js';
import type { Journal } from '../files/undo/journal.js';
import { FileChanges } from '../files/write/file-changes.js';
import { FileLocks } from '../files/write/file-lock.js';
import type { Policy } from '../policy/policy.js';
import { BackgroundCommands } from '../process/run/background.js';
import { childEnvironment, unattendedVariables } from '../process/run/environment.js';
import { KeptCommands } from '../process/run/kept-commands.js';
import { CommandRunner } from '../process/run/run-command.js';
import { sanitizePath } from '../process/run/trusted-path.js';
import { PutAside } from '../process/sandbox/put-aside.js';
import { Sandbox } from '../process/sandbox/sandbox.js';
import type { SessionDirectory } from '../process/sandbox/session-directory.js';
import { Rewind } from '../rewind/rewind.js';
import type { FileAccess } from '../scheduler/call-files.js';
import type { Settings } from '../settings/keys.js';
import { type Asker, AskUserQuestionTool } from '../tools/ask-user-question.js';
import { EditTool } from '../tools/edit.js';
import { ExitPlanModeTool, type PlanMode } from '../tools/exitPlanMode.js';
import type { ChangeChecks } from '../tools/file-change-tool.js';
import { GlobTool } from '../tools/glob.js';
import { GrepTool } from '../tools/grep.js';
import { LSTool } from '../tools/ls.js';
import { type MemoryFiles, MemoryTool } from '../tools/memoryTool.js';
import { ReadFileTool, type ReadLimits } from '../tools/read-file.js';
import { ReadManyFilesTool } from '../tools/read-many-files.js';
import { ShellTool } from '../tools/shell.js';
import { TaskTool } from '../tools/task.js';
import { type TodoStore, TodoWriteTool } from '../tools/todoWrite.js';
import type { AnyTool } from '../tools/tools.js';
import { WriteFileTool } from '../tools/write-file.js';
import type { SearchSetup } from '../web/search/open-engines.js';
import type { Extension, OpenedParts } from './extension.js';
import type { WorktreeOrigin } from './lathe.js';
import { type Languages, openLanguages } from './open-languages.js';
import type { Retention } from './retention.js';
import { webTools } from './web-tools.js';

export interface BuiltInOptions extends Omit<OpenedParts, 'plugins'> {
  policy: Policy;
  settings: Settings;
  env: Readonly<Record<string, string | undefined>>;
  /** Without what `.env` files add, which must not choose what a sandboxed command sees. */
  ownEnv: Readonly<Record<string, string | undefined>>;
  /** The person trusts the folder for this run, its commands and servers included. */
  isTrusted: boolean;
  /** Who calls the tools: a model must have read a file before it may replace it. */
  caller: 'model' | 'person';
  spill: SpillStore;
  retention: Pick<Retention, 'journal'>;
  /** What the commands of this session share. */
  session: SessionDirectory;
  /** Files that hooks run. */
  executed: readonly string[];
  worktree?: WorktreeOrigin | undefined;
  extension: Pick<Extension, 'tasks' | 'answerer' | 'tools'>;
  /** Puts the questions of `ask_user_question` to the person. */
  asker?: Asker | undefined;
}

export interface BuiltIns {
  tools: AnyTool[];
  sandbox: Sandbox;
  background: BackgroundCommands;
  /** What the tools changed, by turn, and the way back. */
  journal: Journal;
  changes: FileChanges;
  rewind: Rewind;
  todos: TodoStore;
  search: SearchSetup;
  /** What of the workspace the tools that search show. */
  visibility: Visibility;
  /** The language servers, none of which runs yet. */
  languages: Languages;
  /** How tools of others touch files. */
  files: FileAccess;
  /** New ones of the tools that remember what their caller has seen and planned, for another agent. */
  openOwnTools: () => AnyTool[];
  /** Ends what the tools left running. */
  close: () => Promise<void>;
}

/** The built-in tools with what each of them uses. */
export async function builtInTools(options: BuiltInOptions): Promise<BuiltIns> {
  const { workspace, home, policy } = options;
  const { tasks, answerer } = options.extension;
  const seen = options.caller === 'person' ? new EverythingSeen() : new SeenFiles();
  const visibility = visibilityOf(options);
  const { journal } = options.retention;
  const shell = await shellTool(options, visibility);
  const languages = openLanguages({ ...options, visibility, sandbox: shell.sandbox });
  const shared = { locks: new FileLocks(home), journal, visibility, checks: languages.checks };
  const web = webTools({ ...options, answerer });
  const todos: TodoStore = { todos: [] };
  const ripgrep = new Ripgrep();
  const own = ownTools(options, shared, { seen, todos });
  return {
    tools: [
      new LSTool(workspace, visibility),
      own.readFile,
      own.readManyFiles,
      new GlobTool(workspace, visibility, ripgrep),
      new GrepTool(workspace, visibility, ripgrep),
      own.edit,
      own.writeFile,
      shell.tool,
      ...web.tools,
      own.memory,
      ...(tasks ? [new TaskTool(tasks)] : []),
      own.todoWrite,
      new AskUserQuestionTool(options.asker),
      new ExitPlanModeTool(planMode(policy)),
      ...(options.extension.tools ?? []),
    ],
    openOwnTools: () => {
      const { changes: _, ...tools } = ownTools(options, shared, { seen: new SeenFiles(), todos: { todos: [] } });
      return Object.values(tools);
    },
    changes: own.changes,
    rewind: openRewind(options, shared),
    todos,
    sandbox: shell.sandbox,
    background: shell.background,
    search: web.search,
    visibility,
    files: { workspace, locks: shared.locks, journal, visibility },
    languages,
    journal,
    close: async () => {
      await Promise.all([shell.background.stopAll(), web.close(), languages.close()]);
    },
  };
}

interface SharedParts {
  locks: FileLocks;
  journal: Journal;
  visibility: Visibility;
  /** Looks for the problems that changes make. */
  checks: ChangeChecks;
}

/** The tools that remember what their caller has seen and planned, so that each agent needs its own. */
function ownTools(
  options: BuiltInOptions,
  { locks, journal, visibility, checks }: SharedParts,
  { seen, todos }: { seen: SeenFiles; todos: TodoStore },
) {
  const { workspace } = options;
  const changes = new FileChanges({ locks, journal, seen, editor: workspace.editor });
  return {
    changes,
    readFile: new ReadFileTool(workspace, seen, visibility, readLimits(options.settings)),
    readManyFiles: new ReadManyFilesTool(workspace, seen, visibility),
    edit: new EditTool(workspace, changes, checks),
    writeFile: new WriteFileTool(workspace, changes, checks),
    memory: new MemoryTool(workspace, changes, memoryFiles(options)),
    todoWrite: new TodoWriteTool(todos),
  };
}

/** For a person who calls tools directly: nobody has to have read a file before replacing it. */
class EverythingSeen extends SeenFiles {
  override knowledgeOf(): 'all' {
    return 'all';
  }
}

function openRewind(
  { workspace: { root }, home, env, userHome }: BuiltInOptions,
  shared: { locks: FileLocks; journal: Journal },
): Rewind {
  const excludesFile = userExcludes(env, userHome);
  return new Rewind({ root, home, path: env['PATH'] ?? '', excludesFile }, shared);
}

function planMode(policy: Policy): PlanMode {
  return {
    isActive: () => policy.mode === 'plan',
    leave: (to) => {
      policy.mode = to;
    },
  };
}

/** The first context file there is, or the first name of the list for a new one. */
function memoryFiles({ workspace, settings, home }: BuiltInOptions): MemoryFiles {
  const names = settings.context.fileName;
  const fallback = names[0] ?? 'AGENTS.md';
  const inDirectory = (directory: string) => async () =>
    join(directory, names.find((name) => existsSync(join(directory, name))) ?? fallback);
  return { global: inDirectory(home.path), project: inDirectory(workspace.root) };
}

function readLimits({ tools }: Settings): ReadLimits {
  return { lines: orMost(tools.truncateToolOutputLines), chars: orMost(tools.truncateToolOutputThreshold) };
}

/** Zero and less mean the default limit; there always is one. */
function orMost(limit: number): number {
  return limit > 0 ? limit : 1_000_000;
}

function visibilityOf({ workspace, settings, policy, env, userHome }: BuiltInOptions): Visibility {
  const { respectGitIgnore, respectQwenIgnore, respectLatheIgnore } = settings.context.fileFiltering;
  const disregard = new Set<IgnoredBy>();
  if (!respectGitIgnore) disregard.add('git');
  // One engine reads both files of agents; it is left aside only when neither counts.
  if (!respectQwenIgnore && !respectLatheIgnore) disregard.add('agent');
  const rules = new IgnoreRules(workspace.roots, { excludesFile: userExcludes(env, userHome) });
  return { rules, disregard, canRead: policy.readFilter() };
}

async function shellTool(options: BuiltInOptions, { rules }: Visibility) {
  const { workspace, settings, policy, home, userHome, env, ownEnv, executed, spill, session, worktree } = options;
  const { mode, network, autoApprove, limits } = settings.tools.sandbox;
  const path = await sanitizePath(env['PATH'] ?? '', workspace.roots);
  const { roots } = workspace;
  const sandbox = new Sandbox({
    mode,
    roots,
    protectedFiles: executed,
    obeyed: settings.context.fileName,
    readable: worktree?.objects === undefined ? [] : [worktree.objects],
    latheHome: home,
    userHome,
    path,
    env: ownEnv,
    session,
  });
  const runner = new CommandRunner(home, { limits, spill });
  const background = new BackgroundCommands(runner, new KeptCommands(home));
  const tool = new ShellTool({
    workspace,
    runner,
    sandbox,
    background,
    aside: new PutAside(home.file('put-aside')),
    env: childEnvironment(env, { set: { ...unattendedVariables, ...(path !== '' && { PATH: path }) } }),
    defaultTimeoutMs: settings.tools.shell.defaultTimeoutMs,
    hasNetwork: network,
    isRestricted: policy.readRestriction(),
    isIgnored: (file, kind) => rules.ignoredBy(file, kind) === 'git',
    autoApprove,
    hasTerminal: settings.tools.shell.enableInteractiveShell,
  });
  return { tool, sandbox, background };
}
