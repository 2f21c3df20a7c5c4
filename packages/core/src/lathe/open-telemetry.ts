import { attempt } from '../contract/errors.js';
import type { CallWatcher, Tracer } from '../contract/trace.js';
import type { LoadedSettings } from '../settings/load-settings.js';
import { secretsOf } from './secrets-of.js';

/** What watches the work of this program from outside. */
export interface Telemetry {
  tracer: Tracer;
  watchCall: CallWatcher;
  close(): Promise<void>;
}

/** Telemetry is off, and nothing of it is loaded, unless an endpoint is set. */
export async function openTelemetry(loaded: LoadedSettings): Promise<Telemetry | undefined> {
  const { settings, env } = loaded;
  const { endpoint, headers, content } = settings.telemetry;
  const isOff = env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || env['OTEL_EXPORTER_OTLP_PROTOCOL'] === 'grpc';
  if (endpoint === undefined || isOff) return undefined;
  const [{ OtlpExporter }, { traceCalls }] = await Promise.all([
    import('../telemetry/otlp-exporter.js'),
    import('../telemetry/trace-calls.js'),
  ]);
  const exporter = new OtlpExporter({
    endpoint,
    headers: { ...headersIn(env['OTEL_EXPORTER_OTLP_HEADERS'] ?? ''), ...headers },
    recordsContent: content,
    secrets: secretsOf(loaded),
    serviceName: env['OTEL_SERVICE_NAME'] || 'lathe',
    onProblem: (message) => process.emitWarning(message),
  });
  return { tracer: exporter, watchCall: traceCalls(exporter), close: () => exporter.close() };
}

/** `a=1,b=2` with percent-encoded values. */
function headersIn(text: string): Record<string, string> {
  const pairs = text.split(',').flatMap((pair) => {
    const [, name, value = ''] = /^\s*([\w-]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
    return name === undefined ? [] : [[name, attempt(() => decodeURIComponent(value)) ?? value] as const];
  });
  return Object.fromEntries(pairs);
}
