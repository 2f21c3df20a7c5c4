import { lookup as lookUp } from 'node:dns';
import { isIPv6, type LookupFunction } from 'node:net';
import type { Dispatcher } from 'undici';
import { ToolError } from '../errors.js';
import { type OpenHosts, portOf, refusalOfAddress, refusalOfHost } from './url-check.js';

export interface GuardOptions {
  isOpen: OpenHosts;
  /** Through an HTTP proxy. The proxy looks names up itself, so for names that we cannot resolve its judgement counts. */
  proxy?: URL | undefined;
}

/**
 * Connections that end at public addresses only. Judged where they are made: a literal by itself, a name by every
 * address it resolves to just now, and the connection goes to one of exactly these, so that a name which answers
 * differently a moment later gains nothing.
 */
export async function guardedAgent({ isOpen, proxy }: GuardOptions): Promise<Dispatcher> {
  // By its default export, the only one that every bundler brings along.
  const { Agent, ProxyAgent, buildConnector } = (await import('undici')).default;
  // Said here so that no variable in the environment can turn it off.
  const tls = { rejectUnauthorized: true };
  if (proxy) return new ProxyAgent({ uri: proxy.href, requestTls: tls, proxyTls: tls });
  return new Agent({
    allowH2: false,
    maxHeaderSize: 32 * 1024,
    connect: (options, callback) => {
      const host = isIPv6(options.hostname) ? `[${options.hostname}]` : options.hostname;
      const url = new URL(`${options.protocol}//${host}${options.port === '' ? '' : `:${options.port}`}`);
      const refusal = refusalOfHost(url, isOpen);
      if (refusal !== undefined) return callback(new ToolError('permission_denied', refusal), null);
      buildConnector({ ...tls, lookup: guardedLookup(portOf(url), isOpen) })(options, callback);
    },
  });
}

function guardedLookup(port: number, isOpen: OpenHosts): LookupFunction {
  return (hostname, options, callback) => {
    lookUp(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      const refusal = refusalOf(addresses, hostname, port, isOpen);
      const [first] = addresses;
      if (refusal !== undefined || first === undefined)
        return callback(new ToolError('permission_denied', refusal ?? `${hostname} has no address`), []);
      if (options.all) return callback(null, addresses);
      callback(null, first.address, first.family);
    });
  };
}

/** One address out of bounds spoils the whole answer: nothing good resolves to both. */
function refusalOf(
  addresses: readonly { address: string }[],
  hostname: string,
  port: number,
  isOpen: OpenHosts,
): string | undefined {
  for (const { address } of addresses) {
    const refusal = refusalOfAddress(address, hostname.replace(/\.$/, ''), port, isOpen);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/** Before a request through a proxy: refuses names that resolve to something private here; others are the proxy's. */
export async function checkResolvable(url: URL, isOpen: OpenHosts, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const addresses = await new Promise<{ address: string }[]>((resolve, reject) => {
    // A name server that does not answer is waited for no longer than the whole request.
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    lookUp(url.hostname, { all: true }, (error, found) => resolve(error ? [] : found));
  });
  const refusal = refusalOf(addresses, url.hostname, portOf(url), isOpen);
  if (refusal !== undefined) throw new ToolError('permission_denied', refusal);
}
