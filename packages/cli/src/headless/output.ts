import type { AgentEvent, EndReason } from '@lathe/agent';
import type { Usage } from '@lathe/agent/models';

/** A call that did not run because somebody, or nobody, said no. */
export interface Denial {
  tool_name: string;
  tool_use_id: string;
  tool_input: unknown;
}

/** How it all ended. */
export interface Outcome {
  reason: EndReason | 'no-model' | 'bad-answer';
  text: string;
  message?: string;
  turns: number;
  usage: Usage;
  durationMs: number;
  modelMs: number;
  denials: readonly Denial[];
  /** The answer as JSON, when a schema was given. */
  value?: unknown;
}

/** What is known when the work begins. */
export interface Beginning {
  sessionId: string;
  cwd: string;
  tools: readonly string[];
  mcpServers: readonly { name: string; status: string }[];
  model: string;
  permissionMode: string;
  version: string;
  /** Settings of the folder that do not count because nobody trusts it. */
  ignoredSettings: readonly string[];
}

/** One format of output. */
export interface Output {
  begin(beginning: Beginning): void;
  event(event: AgentEvent): void;
  end(outcome: Outcome): void;
}
