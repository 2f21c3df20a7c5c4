import type { Attributes, AttributeValue } from '../contract/trace.js';

/** A span as OTLP writes it in JSON. */
export interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  /** 1: inside this program, 3: a request to another one. */
  kind: 1 | 3;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: OtlpAttribute[];
  /** 0: nothing to say, 2: it failed. */
  status: { code: 0 | 2; message?: string };
}

export interface OtlpAttribute {
  key: string;
  value: OtlpValue;
}

type OtlpValue =
  | { stringValue: string }
  | { boolValue: boolean }
  | { intValue: string }
  | { doubleValue: number }
  | { arrayValue: { values: OtlpValue[] } };

/** Attributes as OTLP writes them; those without a value are left out. */
export function otlpAttributes(attributes: Attributes, redact: (text: string) => string): OtlpAttribute[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: otlpValue(value, redact) }],
  );
}

function otlpValue(value: AttributeValue, redact: (text: string) => string): OtlpValue {
  if (typeof value === 'string') return { stringValue: redact(value) };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value !== 'number') return { arrayValue: { values: value.map((each) => otlpValue(each, redact)) } };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** Milliseconds since 1970, with fractions, as nanoseconds. */
export function unixNanos(ms: number): string {
  const whole = Math.floor(ms);
  return String(BigInt(whole) * 1_000_000n + BigInt(Math.round((ms - whole) * 1_000_000)));
}
