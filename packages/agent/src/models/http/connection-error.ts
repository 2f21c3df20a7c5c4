import { ModelError, type ModelErrorKind } from '../model-error.js';
import { isLoopback } from './proxy-settings.js';

/** Explains why a server could not be reached or a connection broke. */
export function describeConnectionError(error: unknown, url: URL): ModelError {
  if (error instanceof ModelError) return error;
  const code = codeOf(error);
  const detail = error instanceof Error ? error.message : String(error);
  const [, kind, explain] = explanations.find(([codes]) => codes.test(code)) ?? unknown;
  // Nobody starts a server on this machine while we wait for it.
  const isHopeless = code === 'ECONNREFUSED' && isLoopback(url.hostname);
  const sentence = explain(url, code || detail);
  return new ModelError(kind, sentence, { cause: error, ...(isHopeless && { isTransient: false }) });
}

/** Node reports several failed addresses as one AggregateError, whose parts carry the codes. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

type Explanation = [codes: RegExp, kind: ModelErrorKind, explain: (url: URL, code: string) => string];

const unknown: Explanation = [/$/, 'network', ({ host }, code) => `The connection to ${host} broke (${code}).`];

const explanations: Explanation[] = [
  [
    /^(?:ENOTFOUND|EAI_AGAIN)$/,
    'network',
    ({ hostname }) => `The name ${hostname} could not be resolved: are you offline, or is the base URL wrong?`,
  ],
  [/^ECONNREFUSED$/, 'network', ({ host }) => `Nothing answers at ${host}: is the server running?`],
  [
    /^(?:ENETUNREACH|EHOSTUNREACH|ENETDOWN|EADDRNOTAVAIL)$/,
    'network',
    ({ host }) => `${host} cannot be reached: are you offline?`,
  ],
  [/^ETIMEDOUT$/, 'timeout', ({ host }) => `${host} did not answer in time.`],
  [/^CERT_HAS_EXPIRED$/, 'tls', ({ host }) => `The certificate of ${host} has expired.`],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'tls', ({ host }) => `The certificate of ${host} is for another name.`],
  [
    /SELF_SIGNED_CERT|^UNABLE_TO_(?:VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT)|^CERT_(?:UNTRUSTED|NOT_YET_VALID|REVOKED)$/,
    'tls',
    ({ host }, code) =>
      `The certificate of ${host} is not signed by an authority this machine knows (${code}). ` +
      'If it is your own, name its authority in NODE_EXTRA_CA_CERTS.',
  ],
  [
    /^EPROTO$|^ERR_SSL_/,
    'tls',
    ({ host, protocol }, code) => `No TLS with ${host} (${code}): does it speak ${protocol.slice(0, -1)} at all?`,
  ],
];
