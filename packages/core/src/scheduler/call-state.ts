import type { Display } from '../contract/display.js';
import type { ToolCall } from '../contract/tool-call.js';
import { ToolError, type ToolErrorType } from '../errors.js';
import { keepEnds } from '../text/truncate.js';
import { Declined } from './approve.js';
import type { AuditRecord, CallEvent, CallOutcome, CallRequest, CallStatus, ReadyCall } from './call.js';
import { toResponse } from './respond.js';

export interface CallListeners {
  onEvent?: ((event: CallEvent) => void) | undefined;
  audit?: ((record: AuditRecord) => void) | undefined;
  now: () => number;
}

/** One call on its way through the steps. Its outcome is set once and never changes. */
export class CallState implements ToolCall {
  readonly id: string;
  readonly slots: ToolCall['slots'] = new Map();
  readonly name: string;
  readonly request: CallRequest;
  readonly record: Partial<AuditRecord> = {};
  ready: ReadyCall | undefined;
  outcome: CallOutcome | undefined;
  readonly #listeners: CallListeners;
  readonly #startedAt: number;

  constructor(id: string, request: CallRequest, listeners: CallListeners) {
    this.id = id;
    this.name = request.name ?? '';
    this.request = request;
    this.#listeners = listeners;
    this.#startedAt = listeners.now();
  }

  update(status: CallStatus): void {
    if (this.outcome !== undefined) return;
    const { id: callId, name, ready } = this;
    const description = ready?.description ?? name;
    const args: unknown = ready ? ready.params : this.request.args;
    this.emit({ type: 'call-update', callId, name, status, description, args });
  }

  output(display: Display): void {
    if (this.outcome === undefined) this.emit({ type: 'call-output', callId: this.id, display });
  }

  finish(what: Pick<CallOutcome, 'status' | 'llmContent' | 'returnDisplay' | 'error'>): void {
    if (this.outcome !== undefined) return;
    const { id: callId, name } = this;
    const durationMs = Math.round(this.#listeners.now() - this.#startedAt);
    const failure = what.status === 'success' ? undefined : (what.error?.message ?? 'failed');
    const response = toResponse({ callId, name }, what.llmContent, failure);
    this.outcome = { callId, name, ...what, response, durationMs };
    this.#audit({
      callId,
      tool: name,
      proposed: this.request.args,
      ...this.record,
      status: what.status,
      ...(what.error && { errorType: what.error.type }),
      durationMs,
    });
    this.emit({ type: 'call-end', outcome: this.outcome });
  }

  /** A front end that throws must not change what becomes of the call. */
  emit(event: CallEvent): void {
    guard(() => this.#listeners.onEvent?.(event));
  }

  #audit(record: AuditRecord): void {
    guard(() => this.#listeners.audit?.(record));
  }

  cancel(message: string, error?: CallOutcome['error']): void {
    this.finish({
      status: 'cancelled',
      llmContent: `[Operation Cancelled] Reason: ${message}`,
      returnDisplay: message,
      ...(error && { error }),
    });
  }

  /** Turns whatever was thrown into the outcome. */
  fail(thrown: unknown): void {
    if (thrown instanceof Declined) {
      const wish = thrown.message === '' ? '' : ` They said: ${thrown.message}`;
      const message = `The user did not allow this call.${wish}`;
      this.cancel(message, { type: 'execution_denied', message });
      return;
    }
    const error = describe(thrown);
    this.finish({
      status: 'error',
      llmContent: error.message,
      returnDisplay: `Error: ${error.message}`,
      error,
    });
  }
}

/** A `ToolError` speaks for itself; anything else is a bug in the tool and is named as one. */
function describe(thrown: unknown): { type: ToolErrorType; message: string } {
  if (thrown instanceof ToolError) return { type: thrown.type, message: shorten(thrown.message) };
  return { type: 'unhandled_exception', message: `The tool failed unexpectedly (${shorten(nameThrown(thrown))}).` };
}

/** Anything can be thrown, also what cannot be turned into text. */
function nameThrown(thrown: unknown): string {
  try {
    return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
  } catch {
    return 'it threw something that has no text';
  }
}

const maxMessageChars = 20_000;

function shorten(message: string): string {
  if (message.length <= maxMessageChars) return message;
  const { head, tail, omitted } = keepEnds(message, maxMessageChars);
  return `${head}\n[${omitted} characters left out]\n${tail}`;
}

function guard(notify: () => void): void {
  try {
    notify();
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error));
  }
}
