import type { CallOutcome, CallRequest } from './call.js';
import { CallSlot, type ToolCall } from './tool-call.js';

export type AttributeValue = string | number | boolean | readonly string[];
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;

/** A piece of work that is measured: a prompt, a request to a model, a call. */
export interface Span {
  /** Names it for other programs, as in the W3C header of the same name. */
  readonly traceparent: string;
  set(attributes: Attributes): void;
  /** Call it once; `failure` is the type of error when it failed. */
  end(failure?: string): void;
}

/** Records spans and measurements, to watch Lathe from outside. Never throws and never waits. */
export interface Tracer {
  /** Whether a person wants prompts, answers, parameters and results in the spans. */
  readonly recordsContent: boolean;
  /** The session that the work belongs to, once it is known. */
  conversation: string | undefined;
  begin(name: string, attributes: Attributes, place?: { parent?: Span | undefined; isClient?: boolean }): Span;
  measure(metric: Metric, value: number, attributes: Attributes): void;
}

/** The histograms of the OpenTelemetry conventions for generative AI. */
export type Metric = 'gen_ai.client.token.usage' | 'gen_ai.client.operation.duration';

/** Sees each call when it arrives, and what becomes of it. `outer` is the call that runs it, if any. */
export type CallWatcher = (call: WatchedCall, outer: ToolCall | undefined) => (outcome: CallOutcome) => void;
export type WatchedCall = ToolCall & { readonly name: string; readonly request: CallRequest };

/** The span of a call, for what it starts and for the servers it asks. */
export const callSpan = new CallSlot<Span>();

/** The span of the caller. */
export const parentSpan = new CallSlot<Span>();
