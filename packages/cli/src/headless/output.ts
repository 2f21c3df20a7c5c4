import type { AgentEvent, EndReason } from '@lathe/agent';
import type { Usage } from '@lathe/agent/models';

/** A call that was denied. */
export interface Denial {
  tool_name: string;
  tool_use_id: string;
  tool_input: unknown;
}

/** The result of the run. */
export interface Outcome {
  reason: EndReason | 'no-model' | 'bad-answer';
  text: string;
  message?: string;
  turns: number;
  usage: Usage;
  /** In cents; missing when a price is not known. */
  cost?: number;
  durationMs: number;
  modelMs: number;
  denials: readonly Denial[];
  /** The parsed answer, if a JSON schema was given. */
  value?: unknown;
}

/** Describes the run before the first event. */
export interface RunInfo {
  sessionId: string;
  cwd: string;
  tools: readonly string[];
  mcpServers: readonly { name: string; status: string }[];
  model: string;
  permissionMode: string;
  version: string;
  /** Settings of the folder that are ignored because it is not trusted. */
  ignoredSettings: readonly string[];
}

/** An output format. */
export interface Output {
  begin(info: RunInfo): void;
  event(event: AgentEvent): void;
  end(outcome: Outcome): void;
}
