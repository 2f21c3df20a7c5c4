import { mcpServerShape } from './mcp-server-shape.js';
import { limit, modelSettings, url } from './model-settings.js';
import { type Nested, type Setting, setting } from './setting.js';
import {
  anyString,
  boolean,
  choice,
  integer,
  list,
  map,
  object,
  orFalse,
  pattern,
  secret,
  secrets,
  string,
} from './shape.js';

const rule = pattern(
  /^[\w*][\w*.:@/-]{0,199}(?:\([^\0]{1,4000}\))?$/,
  'a tool name or tool(spec), such as "run_shell_command(git status)"',
);
const fileName = pattern(/^(?!\.{1,2}$)[^/\\\0]{1,255}$/, 'a file name without a folder');
const rules = list(rule);
const names = list(string);

const hook = object({ type: choice(['command']), command: string, name: string, timeout: integer(1) }, ['command']);
const hookGroups = list(object({ matcher: string, hooks: list(hook) }, ['hooks']));
const fileNames = list(fileName, { allowSingle: true });
const engine = object(
  { type: string, apiKey: secret, searchEngineId: string, baseUrl: url, maxResults: integer(1, 100) },
  ['type'],
);

const languageServer = object({ command: string, args: list(anyString), extensions: names }, ['command']);

const restriction = { merge: 'union', workspace: 'tighten' } as const;
/** A workspace may turn it off, never on. */
const onlyOff = { workspace: 'tighten', strictness: [false, true], strict: false } as const;
/** A list of what exists, from which every layer can only take away. */
const onlyFewer = { merge: 'narrow', workspace: 'tighten', strict: [] } as const;
const allowRules = { merge: 'union', notFromWorkspace: /^\*(?:\(.*\))?$/s } as const;

/** All settings. The key is the canonical spelling; to add a setting, add a row. */
export const settingsTable = {
  'permissions.allow': setting(rules, [], 'Calls that run without asking.', allowRules),
  'permissions.ask': setting(rules, [], 'Calls that always ask first.', restriction),
  'permissions.deny': setting(rules, [], 'Calls that never run.', restriction),
  'permissions.examples': setting(
    map(object({ match: names, not_match: names })),
    {},
    'By rule, commands that it must match (match) or must not match (not_match). Lathe checks them at the start.',
    { merge: 'by-key' },
  ),

  'tools.core': setting(rules, undefined, 'Only these tools exist. By default, all of them.', {
    ...onlyFewer,
    also: ['coreTools'],
  }),
  'tools.allowed': setting(rules, [], 'Older form of permissions.allow.', {
    ...allowRules,
    also: ['allowedTools'],
  }),
  'tools.exclude': setting(rules, [], 'Tools that do not exist, or commands that never run.', {
    ...restriction,
    also: ['excludeTools'],
  }),
  'tools.approvalMode': setting(
    choice(['plan', 'default', 'auto-edit', 'yolo'], {
      auto: 'auto-edit',
      auto_edit: 'auto-edit',
      autoEdit: 'auto-edit',
    }),
    'default',
    'What runs without asking: plan (no changes), default (asks), auto-edit (edits, sandboxed commands), yolo (all).',
    {
      also: ['approvalMode'],
      workspace: 'tighten',
      strictness: ['plan', 'default', 'auto-edit', 'yolo'],
      strict: 'default',
      env: 'LATHE_APPROVAL_MODE',
    },
  ),
  'tools.sandbox.mode': setting(
    choice(['required', 'auto', 'off'], { true: 'required', false: 'off' }),
    'auto',
    'Commands run in an operating system sandbox: always (required), where there is one (auto), never (off).',
    {
      also: ['tools.sandbox', 'sandbox'],
      workspace: 'tighten',
      strictness: ['required', 'auto', 'off'],
      strict: 'required',
      env: 'LATHE_SANDBOX',
    },
  ),
  'tools.sandbox.autoApprove': setting(boolean, false, 'Commands that run inside the sandbox do not ask.', onlyOff),
  'tools.sandbox.network': setting(boolean, false, 'Commands inside the sandbox reach the network.', onlyOff),
  'tools.sandbox.limits.processes': setting(
    integer(-1),
    4096,
    'Processes and threads of a command in the sandbox, unless Lathe runs as root; -1 for no limit.',
    limit,
  ),
  'tools.sandbox.limits.memoryMb': setting(
    integer(-1),
    -1,
    'Memory of each process of a command in the sandbox, in megabytes; -1 for no limit.',
    limit,
  ),
  'tools.sandbox.limits.fileMb': setting(
    integer(-1),
    16_384,
    'Largest file that a command in the sandbox can write, in megabytes; -1 for no limit.',
    limit,
  ),
  'tools.toolDiscoveryCommand': setting(string, undefined, 'Prints the declarations of more tools as JSON.', {
    also: ['tools.discoveryCommand', 'toolDiscoveryCommand'],
  }),
  'tools.toolCallCommand': setting(string, undefined, 'Runs a discovered tool: its name is the last argument.', {
    also: ['tools.callCommand', 'toolCallCommand'],
  }),
  'tools.truncateToolOutputThreshold': setting(
    integer(-1),
    25_000,
    'Longest part of a file read at once, in characters.',
    {
      also: ['truncateToolOutputThreshold'],
    },
  ),
  'tools.truncateToolOutputLines': setting(integer(-1), 1_000, 'Longest part of a file read at once, in lines.', {
    also: ['truncateToolOutputLines'],
  }),
  'tools.useRipgrep': setting(boolean, true, 'Search with ripgrep.', { also: ['useRipgrep'] }),
  'tools.shell.defaultTimeoutMs': setting(
    integer(1, 86_400_000),
    120_000,
    'Timeout of a command in milliseconds, if the call sets none.',
  ),
  'tools.shell.enableInteractiveShell': setting(boolean, false, 'Commands get a terminal.', {
    also: ['shouldUseNodePtyShell', 'tools.shouldUseNodePtyShell'],
  }),

  'mcp.mcpServerCommand': setting(string, undefined, 'Starts one MCP server, named "mcp".', {
    also: ['mcp.serverCommand', 'mcpServerCommand'],
  }),
  'mcp.allowed': setting(names, undefined, 'Only these MCP servers are used.', {
    ...onlyFewer,
    also: ['allowMCPServers'],
  }),
  'mcp.excluded': setting(names, [], 'MCP servers that are not used.', { ...restriction, also: ['excludeMCPServers'] }),
  mcpServers: setting(map(mcpServerShape), {}, 'MCP servers by name.', { merge: 'by-key' }),

  languages: setting(
    map(orFalse(languageServer)),
    {},
    'Language servers by language: the command to start, its arguments and the file name extensions; false for none.',
    { merge: 'by-key' },
  ),

  ...modelSettings,

  'context.fileName': setting(fileNames, ['AGENTS.md', 'QWEN.md'], 'Names of context files.', {
    also: ['contextFileName'],
  }),
  'context.includeDirectories': setting(names, [], 'More folders that belong to the workspace.', {
    also: ['includeDirectories'],
    merge: 'concat',
    workspace: 'never',
  }),
  'context.fileFiltering.respectGitIgnore': setting(boolean, true, 'Searches skip what .gitignore names.', {
    also: ['fileFiltering.respectGitIgnore'],
  }),
  'context.fileFiltering.respectQwenIgnore': setting(boolean, true, 'Searches skip what .qwenignore names.', {
    also: ['fileFiltering.respectQwenIgnore'],
  }),
  'context.fileFiltering.respectLatheIgnore': setting(boolean, true, 'Searches skip what .latheignore names.'),

  'webSearch.provider': setting(list(engine), [], 'Search engines, each with its type and key.', {
    workspace: 'never',
  }),
  'webSearch.default': setting(string, undefined, 'The search engine that Lathe uses first.'),
  'web.timeoutMs': setting(integer(1, 600_000), 30_000, 'Timeout of a request for a page, in milliseconds.'),
  'web.proxy': setting(url, undefined, 'Proxy for pages and searches.', { workspace: 'never' }),

  'agents.maxDepth': setting(integer(0, 10), 1, 'Levels of subagents that start subagents.', limit),
  'agents.maxParallel': setting(integer(1, 32), 4, 'Subagents that work at the same time.', limit),
  'agents.maxTurns': setting(integer(1), 50, 'Turns of a subagent.', limit),
  'agents.maxMinutes': setting(integer(1), 15, 'Minutes of a subagent.', limit),

  'plugins.enabled': setting(names, undefined, 'Only these installed plugins are used. By default, all of them.', {
    workspace: 'never',
  }),

  'retention.days': setting(
    integer(-1),
    30,
    'Days after which sessions, spilled output, undo journal and audit log are removed; -1 for never.',
    { workspace: 'never' },
  ),
  'retention.megabytes': setting(
    integer(-1),
    500,
    'Megabytes that each of them may use; Lathe removes the oldest first. -1 for no limit.',
    { workspace: 'never' },
  ),

  'telemetry.endpoint': setting(
    url,
    undefined,
    'Address of an OpenTelemetry collector (OTLP over HTTP with JSON). Without it nothing is recorded.',
    { workspace: 'never', env: 'OTEL_EXPORTER_OTLP_ENDPOINT' },
  ),
  'telemetry.headers': setting(secrets, {}, 'Headers sent to the collector.', { merge: 'by-key', workspace: 'never' }),
  'telemetry.content': setting(
    boolean,
    false,
    'Also record prompts, answers, parameters and results, with secrets redacted.',
    { workspace: 'never' },
  ),

  hooks: setting(map(hookGroups), {}, 'Commands that run before and after calls and prompts.', { merge: 'by-key' }),
  'general.auditLog': setting(boolean, true, 'Every call is recorded in the audit log.', {
    workspace: 'tighten',
    strictness: [true, false],
    strict: true,
  }),
  'general.readQwenHome': setting(
    boolean,
    true,
    'Read the files of Qwen Code in ~/.qwen: settings, variables, context files, subagents and commands.',
    { workspace: 'never' },
  ),
  'general.preferredEditor': setting(string, undefined, 'Editor for changing a proposal.', {
    also: ['preferredEditor'],
    workspace: 'never',
    env: 'LATHE_EDITOR',
  }),
  'ui.theme': setting(string, 'auto', 'Colours of the terminal: dark, light, or auto (Lathe asks the terminal).', {
    also: ['theme'],
    workspace: 'never',
  }),
  'ui.notifyAfterSeconds': setting(
    integer(-1),
    5,
    'Ring the bell and send a notification for a question, and at the end of work that took this many seconds; -1 for never.',
    { workspace: 'never' },
  ),
  'ui.hideWindowTitle': setting(boolean, false, 'Do not change the title of the window.', {
    also: ['hideWindowTitle'],
  }),
  'ui.accessibility.screenReader': setting(
    boolean,
    false,
    'Plain lines for a screen reader: no spinner, no frames, and only the input line is drawn again.',
    { also: ['accessibility.screenReader'], env: 'INK_SCREEN_READER' },
  ),
  'security.folderTrust.enabled': setting(
    boolean,
    true,
    'Settings of a folder can only restrict until you trust the folder.',
    {
      also: ['folderTrust', 'security.folderTrust'],
      workspace: 'tighten',
      strictness: [true, false],
      strict: true,
    },
  ),
};

/** The name of a setting, such as `tools.approvalMode`. */
export type SettingKey = keyof typeof settingsTable;

/** Checked settings as plain data, `settings.tools.approvalMode`. */
export type Settings = Nested<typeof settingsTable>;

/** A setting under its canonical key. */
export interface KnownSetting extends Setting {
  readonly key: SettingKey;
}

const isKey = (name: string): name is SettingKey => Object.hasOwn(settingsTable, name);

export const allSettings: readonly KnownSetting[] = Object.keys(settingsTable)
  .filter(isKey)
  .map((key) => ({ ...settingsTable[key], key }));

/** Every accepted spelling. */
export const settingBySpelling: ReadonlyMap<string, KnownSetting> = new Map(
  allSettings.flatMap((entry) => [entry.key, ...entry.also].map((spelling) => [spelling, entry] as const)),
);

/** The groups that spellings begin with, such as `tools` and `tools.shell`. */
export const settingGroups: ReadonlySet<string> = new Set(
  [...settingBySpelling.keys()].flatMap((spelling) => {
    const parts = spelling.split('.');
    return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('.'));
  }),
);
