import { randomBytes } from 'node:crypto';
import type { Attributes, Metric, Span, Tracer } from '../contract/trace.js';
import { redact } from '../text/redact.js';
import { Histograms } from './histograms.js';
import { type OtlpSpan, otlpAttributes, unixNanos } from './otlp.js';

export interface ExporterOptions {
  /** The base address of an OTLP/HTTP collector: `/v1/traces` and `/v1/metrics` are added. */
  endpoint: string;
  headers: Readonly<Record<string, string>>;
  recordsContent: boolean;
  secrets: readonly string[];
  serviceName: string;
  /** Told once, when the collector cannot be reached. */
  onProblem?: (message: string) => void;
  intervalMs?: number;
}

const maxWaiting = 2_048;
const fullBatch = 256;
const maxTextChars = 32_000;
const requestMs = 5_000;
/** The longest time that the end of the program waits for the collector. */
const closeMs = 1_000;

/**
 * Sends spans and histograms to a collector as OTLP/HTTP with JSON, in the background. A collector that is slow or gone
 * costs spans, never time: nothing waits for it, and what does not fit into the queue is dropped.
 */
export class OtlpExporter implements Tracer {
  readonly recordsContent: boolean;
  conversation: string | undefined;
  readonly #options: ExporterOptions;
  readonly #histograms: Histograms;
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #waiting: OtlpSpan[] = [];
  #sending: Promise<void> | undefined;
  #hasComplained = false;

  constructor(options: ExporterOptions) {
    this.#options = options;
    this.recordsContent = options.recordsContent;
    this.#histograms = new Histograms(this.#redact);
    this.#timer = setInterval(() => void this.#flush(), options.intervalMs ?? 5_000);
    this.#timer.unref();
  }

  begin(name: string, attributes: Attributes, { parent, isClient = false }: Parameters<Tracer['begin']>[2] = {}): Span {
    const [, parentTrace, parentSpanId] = parent?.traceparent.split('-') ?? [];
    const traceId = parentTrace ?? randomBytes(16).toString('hex');
    const spanId = randomBytes(8).toString('hex');
    const startedAt = performance.timeOrigin + performance.now();
    let all = attributes;
    let isEnded = false;
    return {
      traceparent: `00-${traceId}-${spanId}-01`,
      set: (more) => {
        all = { ...all, ...more };
      },
      end: (failure) => {
        if (isEnded) return;
        isEnded = true;
        this.#add({
          traceId,
          spanId,
          ...(parentSpanId !== undefined && { parentSpanId }),
          name: this.#redact(name),
          kind: isClient ? 3 : 1,
          startTimeUnixNano: unixNanos(startedAt),
          endTimeUnixNano: unixNanos(performance.timeOrigin + performance.now()),
          attributes: otlpAttributes({ ...all, 'error.type': failure }, this.#redact),
          status: { code: failure === undefined ? 0 : 2 },
        });
      },
    };
  }

  measure(metric: Metric, value: number, attributes: Attributes): void {
    this.#histograms.add(metric, value, attributes);
  }

  /** Sends what is left, for a moment. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    // Kept in a variable that is used below: Node 20 collects a timer that nothing else refers to.
    const timer = setTimeout(() => this.#controller.abort(), closeMs);
    await this.#flush();
    await this.#flush();
    clearTimeout(timer);
    this.#controller.abort();
  }

  readonly #redact = (text: string): string => {
    const clean = redact(text.slice(0, 2 * maxTextChars), this.#options.secrets);
    return clean.length > maxTextChars ? `${clean.slice(0, maxTextChars)}…` : clean;
  };

  #add(span: OtlpSpan): void {
    if (this.#waiting.length < maxWaiting) this.#waiting.push(span);
    if (this.#waiting.length >= fullBatch) void this.#flush();
  }

  /** One request at a time. Never rejects. */
  #flush(): Promise<void> {
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  async #send(): Promise<void> {
    const spans = this.#waiting.splice(0);
    const scope = { name: 'lathe' };
    const resource = { attributes: otlpAttributes({ 'service.name': this.#options.serviceName }, this.#redact) };
    const requests: Promise<void>[] = [];
    if (spans.length > 0)
      requests.push(this.#post('/v1/traces', { resourceSpans: [{ resource, scopeSpans: [{ scope, spans }] }] }));
    if (this.#histograms.hasNews) {
      this.#histograms.hasNews = false;
      const metrics = this.#histograms.toOtlp();
      requests.push(this.#post('/v1/metrics', { resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics }] }] }));
    }
    await Promise.all(requests);
  }

  async #post(path: string, body: object): Promise<void> {
    const { endpoint, headers } = this.#options;
    const timeout = AbortSignal.timeout(requestMs);
    try {
      const response = await fetch(`${endpoint.replace(/\/+$/, '')}${path}`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        redirect: 'error',
        signal: AbortSignal.any([this.#controller.signal, timeout]),
      });
      await response.body?.cancel();
      if (!response.ok) this.#complain(`it answered ${response.status}`);
    } catch (error) {
      this.#complain(timeout.aborted ? 'it does not answer' : error instanceof Error ? error.message : String(error));
    }
  }

  #complain(reason: string): void {
    if (this.#hasComplained || this.#controller.signal.aborted) return;
    this.#hasComplained = true;
    this.#options.onProblem?.(`Telemetry is lost: ${this.#options.endpoint}: ${reason}.`);
  }
}
