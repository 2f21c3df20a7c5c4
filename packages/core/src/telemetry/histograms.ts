import type { Attributes, Metric } from '../contract/trace.js';
import { type OtlpAttribute, otlpAttributes, unixNanos } from './otlp.js';

interface Histogram {
  attributes: OtlpAttribute[];
  count: number;
  sum: number;
  buckets: number[];
}

/** Limits of the buckets, as the conventions for generative AI advise. */
const metrics: Record<Metric, { unit: string; bounds: number[] }> = {
  'gen_ai.client.token.usage': {
    unit: '{token}',
    bounds: Array.from({ length: 14 }, (_, index) => 4 ** index),
  },
  'gen_ai.client.operation.duration': {
    unit: 's',
    bounds: Array.from({ length: 14 }, (_, index) => 0.01 * 2 ** index),
  },
};

/** Tools come from models and servers, so the number of different attributes is limited. */
const maxSeries = 500;

/** Histograms that grow from the start of the program. */
export class Histograms {
  readonly #startedAt = Date.now();
  readonly #redact: (text: string) => string;
  readonly #series = new Map<Metric, Map<string, Histogram>>();
  hasNews = false;

  constructor(redact: (text: string) => string) {
    this.#redact = redact;
  }

  add(metric: Metric, value: number, attributes: Attributes): void {
    const all = this.#series.get(metric) ?? new Map<string, Histogram>();
    this.#series.set(metric, all);
    const { bounds } = metrics[metric];
    const key = JSON.stringify(attributes);
    const series = all.get(key) ?? {
      attributes: otlpAttributes(attributes, this.#redact),
      count: 0,
      sum: 0,
      buckets: Array.from({ length: bounds.length + 1 }, () => 0),
    };
    if (!all.has(key) && all.size >= maxSeries) return;
    all.set(key, series);
    const found = bounds.findIndex((bound) => value <= bound);
    const bucket = found < 0 ? bounds.length : found;
    series.count += 1;
    series.sum += value;
    series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1;
    this.hasNews = true;
  }

  /** All metrics as OTLP writes them. */
  toOtlp(): object[] {
    const startTimeUnixNano = unixNanos(this.#startedAt);
    const timeUnixNano = unixNanos(Date.now());
    return [...this.#series].map(([name, all]) => ({
      name,
      unit: metrics[name].unit,
      histogram: {
        // Cumulative.
        aggregationTemporality: 2,
        dataPoints: [...all.values()].map(({ attributes, count, sum, buckets }) => ({
          attributes,
          startTimeUnixNano,
          timeUnixNano,
          count: String(count),
          sum,
          bucketCounts: buckets.map(String),
          explicitBounds: metrics[name].bounds,
        })),
      },
    }));
  }
}
