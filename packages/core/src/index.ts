export type {
  ApprovalRequest,
  Approver,
  AuditRecord,
  CallEvent,
  CallOutcome,
  CallRequest,
  CallStatus,
} from './contract/call.js';
export type { Confirmation, Decision, GrantScope } from './contract/confirmation.js';
export {
  type Blob,
  type FileData,
  type FunctionCall,
  type FunctionDeclaration,
  type FunctionResponse,
  type FunctionResponsePart,
  type Part,
  type PartListUnion,
  type PartUnion,
  textOf,
  toParts,
} from './contract/content.js';
export type {
  DiffStat,
  Display,
  FileDiff,
  PlanSummary,
  TaskExecution,
  TerminalOutput,
  Todo,
  TodoList,
} from './contract/display.js';
export { ToolError, type ToolErrorType, toolErrorTypes } from './contract/errors.js';
export type { Target } from './contract/target.js';
export { CallSlot, directCall, type ToolCall } from './contract/tool-call.js';
export { SeenFiles } from './files/access/seen-files.js';
export type { Visibility } from './files/access/visibility.js';
export { osPath } from './files/file-name.js';
export { userExcludes } from './files/ignore/git-excludes.js';
export { type IgnoredBy, IgnoreRules } from './files/ignore/ignore-rules.js';
export { LatheHome } from './files/lathe-home.js';
export { Ripgrep } from './files/search/ripgrep.js';
export { type Change as FileChange, Journal } from './files/undo/journal.js';
export type { UndoOutcome } from './files/undo/undo.js';
export { type Location, Workspace, type WorkspaceOptions } from './files/workspace.js';
export { FileChanges } from './files/write/file-changes.js';
export { FileLocks } from './files/write/file-lock.js';
export { type HookEvent, Hooks } from './hooks/hooks.js';
export type { HookAnswer, PromptHooks } from './hooks/prompt-hooks.js';
export { createLathe, type Lathe, type LatheOptions } from './lathe/create-lathe.js';
export type { Extension, OpenedParts } from './lathe/extension.js';
export { homeDirectories } from './lathe/home-directories.js';
export { secretsOf } from './lathe/secrets-of.js';
export type { McpClient, ServerState } from './mcp/client/mcp-client.js';
export type { McpSource, ServerPrompt, ServerResource } from './mcp/client/mcp-source.js';
export type { Elicitation, ElicitationAnswer, ReverseRequests } from './mcp/client/reverse-requests.js';
export type { ServerDefinition, UnusableServer } from './mcp/client/server-definition.js';
export { type ServeHttpOptions, serveHttp } from './mcp/server/serve-http.js';
export { type ServeStdioOptions, serveStdio } from './mcp/server/serve-stdio.js';
export { AgreedRules } from './policy/agreed-rules.js';
export { Consent, type ConsentKind, definitionHash } from './policy/consent.js';
export { FolderTrust, type TrustRecord, type TrustState } from './policy/folder-trust.js';
export { type ApprovalMode, Policy, type PolicyOptions, type Verdict } from './policy/policy.js';
export { type KnownTools, type UnknownTool, unknownTools } from './policy/unknown-tools.js';
export { checkCommandRule, matchCommandRule, type RuleMatch } from './process/rules/command-rule.js';
export { type BackgroundCommand, BackgroundCommands } from './process/run/background.js';
export { childEnvironment, type EnvironmentOptions, unattendedVariables } from './process/run/environment.js';
export { type KeptCommand, KeptCommands } from './process/run/kept-commands.js';
export { CommandRunner } from './process/run/run-command.js';
export { trustedPath } from './process/run/trusted-path.js';
export { Sandbox, type SandboxMode, type SandboxOptions, type SandboxStatus } from './process/sandbox/sandbox.js';
export { analyzeCommand } from './process/shell/analyze-command.js';
export {
  type AnalysisOptions,
  type CommandAnalysis,
  type Segment,
  unknownPart,
} from './process/shell/command-analysis.js';
export { approvalText, grantableRules } from './scheduler/approval-text.js';
export { noOneThere } from './scheduler/approve.js';
export type { ConsentRequest } from './scheduler/ask-consent.js';
export { type CallRun, Scheduler, type SchedulerOptions } from './scheduler/scheduler.js';
export type { SettingKey, Settings } from './settings/keys.js';
export { type LoadedSettings, loadSettings, type SettingsSources } from './settings/load-settings.js';
export type { McpServerSettings } from './settings/mcp-server-shape.js';
export { type Ignored, type LayerName, type Origin, unagreedRules } from './settings/merge-layers.js';
export { projectSettings, saveSetting, userSettings, type WritableSettings } from './settings/save-setting.js';
export type { SettingsProblem } from './settings/settings-file.js';
export { showSetting } from './settings/show-setting.js';
export { redact } from './text/redact.js';
export { describeMismatch, type JsonSchema } from './text/schema/json-schema.js';
export { type ParameterAliases, type Repaired, repairParams } from './text/schema/repair-params.js';
export { schemaProblem } from './text/schema/schema-check.js';
export { hasHiddenText, visibleText } from './text/visible-text.js';
export { DiscoveredTool } from './tools/discovered-tool.js';
export { EditTool } from './tools/edit.js';
export { GlobTool } from './tools/glob.js';
export { type GrepOptions, GrepTool } from './tools/grep.js';
export { LSTool } from './tools/ls.js';
export { DiscoveredMCPTool, type ListedTool, type McpConnection } from './tools/mcp-tool.js';
export { ReadFileTool, type ReadLimits } from './tools/read-file.js';
export { ReadManyFilesTool } from './tools/read-many-files.js';
export { ShellTool, type ShellToolOptions } from './tools/shell.js';
export { type FinishedTask, type Task, type TaskRunner, TaskTool } from './tools/task.js';
export { type RegisteredTool, type Rejection, ToolRegistry, type ToolSource } from './tools/tool-registry.js';
export {
  type AnyTool,
  BaseTool,
  type Change,
  defineTool,
  type Tool,
  type ToolIdentity,
  type ToolKind,
  type ToolResult,
  type ToolSpec,
} from './tools/tools.js';
export { type Answerer, type WebFetchOptions, WebFetchTool } from './tools/web-fetch.js';
export { type WebSearchOptions, WebSearchTool } from './tools/web-search.js';
export { WriteFileTool } from './tools/write-file.js';
export { guardedFetch } from './web/http/guarded-fetch.js';
export { GuardedHttp, type GuardedHttpOptions, type WebAnswer, type WebRequest } from './web/http/guarded-http.js';
export type { OpenHosts } from './web/http/url-check.js';
export { openEngines, type SearchSettings, type SearchSetup } from './web/search/open-engines.js';
export type { SearchAnswer, SearchEngine, SearchResult } from './web/search/search-engine.js';
