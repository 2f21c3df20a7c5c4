export { Agent } from './agent/agent.js';
export type {
  AgentEvent,
  BudgetReason,
  Compaction,
  EndReason,
  PromptEnd,
  UsageReport,
} from './agent/agent-event.js';
export type {
  AgentOptions,
  CallRunner,
  ContextFile,
  ContextSource,
  ContextText,
  DeclaredTools,
  HookAnswer,
  PromptHooks,
} from './agent/agent-options.js';
export type { Budgets, Price } from './agent/budget.js';
export { type CommandFile, type CommandPlaces, loadCommands } from './agent/command-files.js';
export { type HookEvent, Hooks } from './agent/hooks.js';
export { type PromptPiece, withArguments } from './agent/prompt-pieces.js';
export { repairHistory } from './agent/repair-history.js';
export type { SubagentDefinition } from './agent/subagent-definition.js';
export { Subagents } from './agent/subagents.js';
export type {
  Blob,
  FileData,
  FunctionCall,
  FunctionDeclaration,
  FunctionResponse,
  FunctionResponsePart,
  Part,
  PartListUnion,
  PartUnion,
} from './content.js';
export { textOf, toParts } from './content.js';
export { ToolError, type ToolErrorType, toolErrorTypes } from './errors.js';
export { FileChanges } from './files/file-changes.js';
export { FileLocks } from './files/file-lock.js';
export { osPath } from './files/file-name.js';
export { userExcludes } from './files/git-excludes.js';
export { type IgnoredBy, IgnoreRules } from './files/ignore-rules.js';
export { type Change as FileChange, Journal } from './files/journal.js';
export { LatheHome } from './files/lathe-home.js';
export { Ripgrep } from './files/ripgrep.js';
export { SeenFiles } from './files/seen-files.js';
export type { UndoOutcome } from './files/undo.js';
export type { Visibility } from './files/visibility.js';
export { type Location, Workspace, type WorkspaceOptions } from './files/workspace.js';
export { createLathe, type Lathe, type LatheOptions } from './lathe/create-lathe.js';
export { type OpenAgentOptions, openAgent, openContextFiles } from './lathe/open-agent.js';
export { type OpenSessionOptions, openSession, Session } from './lathe/open-session.js';
export type { SideModels } from './lathe/page-answerer.js';
export { secretsOf } from './lathe/secrets-of.js';
export type { McpClient, ServerState } from './mcp/mcp-client.js';
export type { McpSource, ServerPrompt, ServerResource } from './mcp/mcp-source.js';
export type { Elicitation, ElicitationAnswer, ReverseRequests } from './mcp/reverse-requests.js';
export { type ServeHttpOptions, serveHttp } from './mcp/server/serve-http.js';
export { type ServeStdioOptions, serveStdio } from './mcp/server/serve-stdio.js';
export type { ServerDefinition, UnusableServer } from './mcp/server-definition.js';
export { chooseModel } from './models/choose-model.js';
export { estimateMessageTokens, estimateRequestTokens, estimateTokens } from './models/estimate-tokens.js';
export { type FoundModel, findModels } from './models/find-models.js';
export type {
  FinishReason,
  Message,
  Model,
  ModelEvent,
  ModelFeatures,
  ModelRequest,
  ReceivedCall,
  Usage,
} from './models/model.js';
export { ModelError, type ModelErrorKind } from './models/model-error.js';
export { formatModelSetup, type ModelSetup } from './models/model-setup.js';
export type { ModelChoice, ModelSources } from './models/model-sources.js';
export { type Provider, providers } from './models/providers.js';
export { recordModel } from './models/record-model.js';
export { RecordingWriter } from './models/recording.js';
export { ReplayModel } from './models/replay-model.js';
export { ScriptedModel, type ScriptedTurn, type ScriptStep } from './models/scripted.js';
export { AgreedRules } from './policy/agreed-rules.js';
export { Consent, type ConsentKind, definitionHash } from './policy/consent.js';
export { FolderTrust, type TrustRecord, type TrustState } from './policy/folder-trust.js';
export { type ApprovalMode, Policy, type PolicyOptions, type Verdict } from './policy/policy.js';
export { type KnownTools, type UnknownTool, unknownTools } from './policy/unknown-tools.js';
export { analyzeCommand } from './process/analyze-command.js';
export { type BackgroundCommand, BackgroundCommands } from './process/background.js';
export type { AnalysisOptions, CommandAnalysis, Segment } from './process/command-analysis.js';
export { unknownPart } from './process/command-analysis.js';
export { checkCommandRule, matchCommandRule, type RuleMatch } from './process/command-rule.js';
export { childEnvironment, type EnvironmentOptions, unattendedVariables } from './process/environment.js';
export { type KeptCommand, KeptCommands } from './process/kept-commands.js';
export { CommandRunner } from './process/run-command.js';
export { Sandbox, type SandboxMode, type SandboxOptions, type SandboxStatus } from './process/sandbox.js';
export { trustedPath } from './process/trusted-path.js';
export { approvalText, grantableRules } from './scheduler/approval-text.js';
export { noOneThere } from './scheduler/approve.js';
export type { ConsentRequest } from './scheduler/ask-consent.js';
export type {
  ApprovalRequest,
  Approver,
  AuditRecord,
  CallEvent,
  CallOutcome,
  CallRequest,
  CallStatus,
} from './scheduler/call.js';
export { Scheduler, type SchedulerOptions } from './scheduler/scheduler.js';
export type { CallRecord, TurnRecord } from './session/record.js';
export { type ResumedSession, SessionStore, type SessionSummary } from './session/session-store.js';
export type { SettingKey, Settings } from './settings/keys.js';
export { type LoadedSettings, loadSettings, type SettingsSources } from './settings/load-settings.js';
export type { McpServerSettings } from './settings/mcp-server-shape.js';
export { type Ignored, type LayerName, type Origin, unagreedRules } from './settings/merge-layers.js';
export { projectSettings, saveSetting, userSettings, type WritableSettings } from './settings/save-setting.js';
export type { SettingsProblem } from './settings/settings-file.js';
export { showSetting } from './settings/show-setting.js';
export { describeMismatch, type JsonSchema } from './text/json-schema.js';
export { redact } from './text/redact.js';
export { type ParameterAliases, type Repaired, repairParams } from './text/repair-params.js';
export { schemaProblem } from './text/schema-check.js';
export { hasHiddenText, visibleText } from './text/visible-text.js';
export type { Confirmation, Decision, GrantScope } from './tools/confirmation.js';
export { DiscoveredTool } from './tools/discovered-tool.js';
export type {
  DiffStat,
  Display,
  FileDiff,
  PlanSummary,
  TaskExecution,
  TerminalOutput,
  Todo,
  TodoList,
} from './tools/display.js';
export { EditTool } from './tools/edit.js';
export { GlobTool } from './tools/glob.js';
export { type GrepOptions, GrepTool } from './tools/grep.js';
export { LSTool } from './tools/ls.js';
export { DiscoveredMCPTool, type ListedTool, type McpConnection } from './tools/mcp-tool.js';
export { ReadFileTool, type ReadLimits } from './tools/read-file.js';
export { ReadManyFilesTool } from './tools/read-many-files.js';
export { ShellTool, type ShellToolOptions } from './tools/shell.js';
export type { Target } from './tools/target.js';
export { type FinishedTask, type Task, type TaskRunner, TaskTool } from './tools/task.js';
export { type RegisteredTool, type Rejection, ToolRegistry, type ToolSource } from './tools/tool-registry.js';
export {
  type AnyTool,
  BaseTool,
  type Change,
  defineTool,
  type OutputSink,
  type Tool,
  type ToolIdentity,
  type ToolKind,
  type ToolResult,
  type ToolSpec,
} from './tools/tools.js';
export { type Answerer, type WebFetchOptions, WebFetchTool } from './tools/web-fetch.js';
export { type WebSearchOptions, WebSearchTool } from './tools/web-search.js';
export { WriteFileTool } from './tools/write-file.js';
export { guardedFetch } from './web/guarded-fetch.js';
export { GuardedHttp, type GuardedHttpOptions, type WebAnswer, type WebRequest } from './web/guarded-http.js';
export { openEngines, type SearchSettings, type SearchSetup } from './web/search/open-engines.js';
export type { SearchAnswer, SearchEngine, SearchResult } from './web/search/search-engine.js';
export type { OpenHosts } from './web/url-check.js';
