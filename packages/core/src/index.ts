/**
 * The tool system of a coding agent: write tools, register them, run calls through the nine steps under one policy. The
 * built-in tools are in `@lathe/core/tools`, MCP in `@lathe/core/mcp`, discovery in `@lathe/core/discovery`, helpers for
 * tests of tools in `@lathe/core/testing`, and parts for front ends in `@lathe/core/host`.
 */

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
  type FunctionCall,
  type FunctionDeclaration,
  type FunctionResponse,
  type Part,
  type PartListUnion,
  type PartUnion,
  textOf,
  toParts,
} from './contract/content.js';
export type { Display, FileDiff } from './contract/display.js';
export { ToolError, type ToolErrorType } from './contract/errors.js';
export type { Target } from './contract/target.js';
export { type Answer, CallSlot, type ToolCall } from './contract/tool-call.js';
export type { Buffers } from './files/editor-files.js';
export { createLathe } from './lathe/create-lathe.js';
export type { Lathe, LatheHost, LatheOptions } from './lathe/lathe.js';
export { type ApprovalMode, Policy, type PolicyOptions, type Verdict } from './policy/policy.js';
export { denyAll } from './scheduler/approve.js';
export type { FileAccess } from './scheduler/call-files.js';
export { type CallRun, Scheduler, type SchedulerOptions } from './scheduler/scheduler.js';
export type { SettingKey, Settings } from './settings/keys.js';
export type { JsonSchema } from './text/schema/json-schema.js';
export type { Asker } from './tools/ask-user-question.js';
export { type RegisteredTool, ToolRegistry, type ToolSource } from './tools/tool-registry.js';
export {
  type AnyTool,
  BaseTool,
  type Change,
  type DefinedTool,
  defineTool,
  type Tool,
  type ToolIdentity,
  type ToolKind,
  type ToolResult,
  type ToolSpec,
} from './tools/tools.js';
