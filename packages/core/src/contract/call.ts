import type { Confirmation, Decision } from './confirmation.js';
import type { FunctionCall, FunctionResponse, PartListUnion } from './content.js';
import type { Display } from './display.js';
import type { ToolErrorType } from './errors.js';

/** A model's call as it arrives. */
export interface CallRequest extends FunctionCall {
  /** Why the arguments are not to be trusted (cut off, not JSON): such a call is answered, never executed. */
  problem?: string;
}

/** How far a call has come. */
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
  /** What the call was about to do, for people. */
  description: string;
  /** When it arrived, in milliseconds since 1970. */
  startedAt: number;
  durationMs: number;
  /** What the policy or a hook said; absent when the call never got that far. */
  verdict?: { verdict: 'allow' | 'ask' | 'deny'; reason: string };
  /** What a person answered, when one was asked. */
  decision?: Decision;
}

/** What happens to calls, for a front end. */
export type CallEvent =
  /** A call has a new status. */
  | { type: 'call-update'; callId: string; name: string; status: CallStatus; description: string; args: unknown }
  /** Output of a call that is still running. It replaces the output before. */
  | { type: 'call-output'; callId: string; display: Display }
  /** A call is over: its status, its response to the model, its display. */
  | { type: 'call-end'; outcome: CallOutcome }
  /** An event of the work that a call started, such as that of a subagent. */
  | { type: 'subagent-event'; callId: string; event: unknown }
  /** Something a person should know, such as a hook that failed or a message of a hook. */
  | { type: 'notice'; level: 'info' | 'warning'; message: string };

/** The front end's half of step 5. */
export interface Approver {
  decide(request: ApprovalRequest, signal: AbortSignal): Promise<Decision>;
}

/** A question to a person: the call, what to show, and why the policy asks. */
export interface ApprovalRequest {
  callId: string;
  tool: string;
  displayName: string;
  description: string;
  args: unknown;
  confirmation: Confirmation;
  /** Why the policy asks. */
  reason: string;
  /** A rule or a mode could answer this question; `by-rule`: only a rule. */
  isGrantable?: true | 'by-rule';
  /** Asked by a call that already runs, so that it cannot be stopped now and run again with the answer. */
  isMidCall?: true;
  /** No rule and no mode may answer it, so a front end should not suggest a yes. */
  isGuarded?: true;
  /** A yes counts until what is asked about changes. No model reads the reason of a no. */
  isRemembered?: true;
}

/** One line of the record of what was proposed, shown, decided and executed. */
export interface AuditRecord {
  callId: string;
  tool: string;
  proposed: unknown;
  verdict?: CallOutcome['verdict'];
  shown?: Confirmation;
  decision?: Decision;
  /** The arguments that ran, when any did. */
  executed?: unknown;
  status: TerminalStatus;
  errorType?: ToolErrorType;
  durationMs: number;
}
