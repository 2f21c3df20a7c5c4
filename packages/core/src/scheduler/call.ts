import type { FunctionCall, FunctionResponse, PartListUnion } from '../content.js';
import type { Confirmation, Decision } from '../contract/confirmation.js';
import type { Display } from '../contract/display.js';
import type { ToolCall } from '../contract/tool-call.js';
import type { ToolErrorType } from '../errors.js';
import type { AnyTool } from '../tools/tools.js';

/** A model's call as it arrives. */
export interface CallRequest extends FunctionCall {
  /** Why the arguments are not to be trusted (cut off, not JSON): such a call is answered, never executed. */
  problem?: string;
}

export type CallStatus = 'validating' | 'awaiting_approval' | 'scheduled' | 'executing' | TerminalStatus;
export type TerminalStatus = 'success' | 'error' | 'cancelled';

/** What became of a call. Every call gets exactly one. */
export interface CallOutcome {
  callId: string;
  name: string;
  status: TerminalStatus;
  llmContent: PartListUnion;
  returnDisplay: Display;
  error?: { type: ToolErrorType; message: string };
  /** For the model. */
  response: FunctionResponse;
  durationMs: number;
}

/** What happens to calls, for a front end. */
export type CallEvent =
  | { type: 'call-update'; callId: string; name: string; status: CallStatus; description: string; args: unknown }
  | { type: 'call-output'; callId: string; display: Display }
  | { type: 'call-end'; outcome: CallOutcome };

/** The front end's half of step 5. */
export interface Approver {
  decide(request: ApprovalRequest, signal: AbortSignal): Promise<Decision>;
}

export interface ApprovalRequest {
  callId: string;
  tool: string;
  displayName: string;
  description: string;
  args: unknown;
  confirmation: Confirmation;
  /** Why the policy asks. */
  reason: string;
  /** A rule or a mode could answer this question. */
  isGrantable?: true;
}

/** One line of the record of what was proposed, shown, decided and executed. */
export interface AuditRecord {
  callId: string;
  tool: string;
  proposed: unknown;
  verdict?: { verdict: string; reason: string };
  shown?: Confirmation;
  decision?: Decision;
  /** The arguments that ran, when any did. */
  executed?: unknown;
  status: TerminalStatus;
  errorType?: ToolErrorType;
  durationMs: number;
}

/** A call that passed steps 2 to 4. `params` fit the tool's schema, which `never` stands for. */
export interface ReadyCall {
  call: ToolCall;
  tool: AnyTool;
  params: never;
  description: string;
  isReadOnly: boolean;
  repairs: readonly string[];
}
