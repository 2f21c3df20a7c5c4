/** What a person sees of a result: Markdown, or one of these objects that a front end draws in its own way. */
export type Display = string | FileDiff | TodoList | PlanSummary | TaskExecution | TerminalOutput;

/** A change of one file. */
export interface FileDiff {
  type: 'file_diff';
  fileName: string;
  filePath: string;
  /** Unified diff with three lines of context, whitespace and line endings included. */
  fileDiff: string;
  /** `null` for a new file; left out, like `newContent`, for files too large to keep in memory twice. */
  originalContent?: string | null;
  newContent?: string;
  diffStat: DiffStat;
  /** What language servers found wrong because of the change, one problem per line after a title. */
  problems?: string;
}

/** Lines and characters, split into what the model proposed and what the person changed in it. */
export interface DiffStat {
  model_added_lines: number;
  model_removed_lines: number;
  model_added_chars: number;
  model_removed_chars: number;
  user_added_lines: number;
  user_removed_lines: number;
  user_added_chars: number;
  user_removed_chars: number;
}

export interface Todo {
  id: string;
  content: string;
  status: 'pending' | 'in_progress' | 'completed';
}

/** The todo list of an agent. */
export interface TodoList {
  type: 'todo_list';
  todos: Todo[];
}

/** A plan that a person approved. */
export interface PlanSummary {
  type: 'plan_summary';
  message: string;
  plan: string;
}

/** A subagent at work or done. */
export interface TaskExecution {
  type: 'task_execution';
  subagentName: string;
  taskDescription: string;
  taskPrompt: string;
  status: 'running' | 'completed' | 'failed' | 'cancelled';
  terminateReason?: string;
  result?: string;
  toolCalls: { callId: string; name: string; description: string; status: string }[];
}

/** The end of what a running command has printed so far. */
export interface TerminalOutput {
  type: 'terminal_output';
  text: string;
  totalBytes: number;
}
