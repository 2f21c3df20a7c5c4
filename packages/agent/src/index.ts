export {
  type CommandFile,
  type CommandPlaces,
  loadCommands,
  type PromptPiece,
  withArguments,
} from './context/command-files.js';
export { type AgentLathe, type AgentLatheOptions, createAgentLathe } from './create-agent-lathe.js';
export { pluginFolders } from './definition-files.js';
export { Agent } from './loop/agent.js';
export type {
  AgentEvent,
  BudgetReason,
  Compaction,
  EndReason,
  PromptEnd,
  RequestSpending,
  UsageReport,
} from './loop/agent-event.js';
export type {
  AgentOptions,
  CallRunner,
  ContextFile,
  ContextSource,
  ContextText,
  DeclaredTools,
} from './loop/agent-options.js';
export { addSpending, type Budgets, budgetsLeft, noUsage, type Spending } from './loop/budget.js';
export { askedText } from './loop/conversation.js';
export { spentIn } from './loop/run-calls.js';
export type { Message } from './models/model.js';
export { repairHistory } from './models/repair-history.js';
export { type OpenAgentOptions, openAgent, openContextFiles } from './open-agent.js';
export { type OpenSessionOptions, openSession, Session } from './open-session.js';
export type { SideModels } from './page-answerer.js';
export type { CallRecord, TurnRecord } from './session/record.js';
export type { RewindPoint } from './session/rewind-points.js';
export { type ResumedSession, SessionStore, type SessionSummary } from './session/session-store.js';
export { recordOfCall } from './session/step-recorder.js';
export { projectFolders, type Skill, skillFolders } from './skills/find-skills.js';
export type { SkillSource } from './skills/skill-source.js';
export type { BackgroundTask } from './subagents/background-tasks.js';
export { describeMerge } from './subagents/isolated-subagent.js';
export type { SubagentDefinition } from './subagents/subagent-definition.js';
export { Subagents } from './subagents/subagents.js';
export { readTasks, TaskFileError, type TaskLine } from './tasks/read-tasks.js';
export { ResultsFile } from './tasks/results-file.js';
export { type BatchOptions, type BatchProgress, runBatch } from './tasks/run-batch.js';
export { modelOf, type RunTaskOptions, runTask, type TaskResult } from './tasks/run-task.js';
export type { MergeOutcome, Worktree } from './worktrees/worktree.js';
export { keptWorktrees, openWorktree } from './worktrees/worktrees.js';
