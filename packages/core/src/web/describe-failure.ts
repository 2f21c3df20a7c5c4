import { ToolError } from '../errors.js';
import { hostOf } from './url-check.js';

/** What went wrong on the way to `url`, in a sentence for the model. */
export function describeFailure(error: unknown, url: URL): ToolError {
  const refusal = refusalIn(error);
  if (refusal) return refusal;
  const code = codeOf(error);
  const said = Object.hasOwn(sentences, code) ? sentences[code] : undefined;
  const certificate = /CERT|SIGNATURE|SELF_SIGNED|ALTNAME/.test(code)
    ? `has a certificate that is not valid (${code})`
    : undefined;
  const other = `cannot be read (${code || (error instanceof Error ? error.message : String(error))})`;
  return new ToolError('web_fetch_fallback_failed', `${hostOf(url)} ${said ?? certificate ?? other}.`, {
    cause: error,
  });
}

const sentences: Record<string, string> = {
  ENOTFOUND: 'does not exist, or this machine cannot look names up',
  EAI_AGAIN: 'cannot be looked up now; the network may be down',
  ECONNREFUSED: 'refuses connections',
  ECONNRESET: 'broke off the connection',
  UND_ERR_SOCKET: 'broke off the connection',
  UND_ERR_CONNECT_TIMEOUT: 'cannot be reached in time',
  UND_ERR_HEADERS_OVERFLOW: 'sends headers without end',
  ERR_STREAM_PREMATURE_CLOSE: 'broke off the connection',
  ENETUNREACH: 'cannot be reached from this network',
  EHOSTUNREACH: 'cannot be reached from this network',
  Z_DATA_ERROR: 'sends a body that cannot be decompressed',
  Z_BUF_ERROR: 'broke off in the middle of a compressed body',
};

/** A refusal of the guard arrives as the cause of a failed connection. */
function refusalIn(error: unknown): ToolError | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++)
    if (cause instanceof ToolError) return cause;
  return undefined;
}

/** Several addresses that all failed are reported together; the first stands for them. */
function codeOf(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error && 'code' in first && typeof first.code === 'string' ? first.code : '';
}
