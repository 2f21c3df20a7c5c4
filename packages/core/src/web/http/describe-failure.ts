import { ToolError } from '../../contract/errors.js';
import { hostOf } from './url-check.js';

/** The reason why `url` could not be fetched, as a sentence for the model. */
export function describeFailure(error: unknown, url: URL, proxy?: URL): ToolError {
  const refusal = refusalIn(error);
  if (refusal) return refusal;
  const code = codeOf(error);
  if (proxy && proxyFailures.test(code)) {
    const status = /Proxy response \((\d{3})\)/.exec(error instanceof Error ? error.message : '')?.[1];
    const reason = status === undefined ? code : `status ${status}`;
    const message = `The proxy ${proxy.host} does not connect to ${hostOf(url)} (${reason}).`;
    return new ToolError('web_fetch_fallback_failed', message, { cause: error });
  }
  const known = sentences.find(([pattern]) => pattern.test(code))?.[1].replace('%', code);
  const other = `cannot be read (${code || (error instanceof Error ? error.message : String(error))})`;
  return new ToolError('web_fetch_fallback_failed', `${hostOf(url)} ${known ?? other}.`, { cause: error });
}

/** Failures of the proxy itself: it refuses, or cannot be reached. */
const proxyFailures =
  /^(?:UND_ERR_ABORTED|UND_ERR_CONNECT_TIMEOUT|ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|E(?:NET|HOST)UNREACH)$/;

const sentences: readonly [RegExp, string][] = [
  [/^ENOTFOUND$/, 'does not exist, or DNS does not work on this machine'],
  [/^EAI_AGAIN$/, 'cannot be resolved now; the network may be down'],
  [/^ECONNREFUSED$/, 'refuses connections'],
  [/^(?:ECONNRESET|UND_ERR_SOCKET|ERR_STREAM_PREMATURE_CLOSE)$/, 'closed the connection too early'],
  [/^UND_ERR_CONNECT_TIMEOUT$/, 'cannot be reached in time'],
  [/^UND_ERR_HEADERS_OVERFLOW$/, 'sends headers that are too large'],
  [/^E(?:NET|HOST)UNREACH$/, 'cannot be reached from this network'],
  [/^Z_DATA_ERROR$/, 'sends a body that cannot be decompressed'],
  [/^Z_BUF_ERROR$/, 'closed the connection in the middle of a compressed body'],
  [/CERT|SIGNATURE|SELF_SIGNED|ALTNAME/, 'has a certificate that is not valid (%)'],
];

/** If the guard rejects a connection, its error is the cause of the connection error. */
function refusalIn(error: unknown): ToolError | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++)
    if (cause instanceof ToolError) return cause;
  return undefined;
}

/** If several addresses failed, the error of the first one counts. */
function codeOf(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error && 'code' in first && typeof first.code === 'string' ? first.code : '';
}
