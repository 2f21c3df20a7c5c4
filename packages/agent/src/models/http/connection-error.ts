import { ModelError, type ModelErrorKind } from '../model-error.js';
import { isLoopback } from './proxy-settings.js';

/** Says plainly why a server could not be reached or a connection broke. */
export function describeConnectionError(error: unknown, url: URL): ModelError {
  if (error instanceof ModelError) return error;
  const code = codeOf(error);
  const detail = error instanceof Error ? error.message : String(error);
  const [kind, sentence] = explain(code, url) ?? [
    'network',
    `The connection to ${url.host} broke (${code || detail}).`,
  ];
  // Nobody starts a server on this machine while we wait for it.
  const isHopeless = code === 'ECONNREFUSED' && isLoopback(url.hostname);
  return new ModelError(kind, sentence, { cause: error, ...(isHopeless ? { isTransient: false } : {}) });
}

/** node reports several failed addresses as one AggregateError, whose parts carry the codes. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

function explain(code: string, { host, hostname, protocol }: URL): [ModelErrorKind, string] | undefined {
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return ['network', `The name ${hostname} could not be resolved: are you offline, or is the base URL wrong?`];
  if (code === 'ECONNREFUSED') return ['network', `Nothing answers at ${host}: is the server running?`];
  if (['ENETUNREACH', 'EHOSTUNREACH', 'ENETDOWN', 'EADDRNOTAVAIL'].includes(code))
    return ['network', `${host} cannot be reached: are you offline?`];
  if (code === 'ETIMEDOUT') return ['timeout', `${host} did not answer in time.`];
  if (code === 'CERT_HAS_EXPIRED') return ['tls', `The certificate of ${host} has expired.`];
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return ['tls', `The certificate of ${host} is for another name.`];
  if (certificateCodes.has(code))
    return [
      'tls',
      `The certificate of ${host} is not signed by an authority this machine knows (${code}). ` +
        'If it is your own, name its authority in NODE_EXTRA_CA_CERTS.',
    ];
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_'))
    return ['tls', `No TLS with ${host} (${code}): does it speak ${protocol === 'https:' ? 'https' : 'http'} at all?`];
  return undefined;
}

const certificateCodes = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_UNTRUSTED',
  'CERT_NOT_YET_VALID',
  'CERT_REVOKED',
]);
