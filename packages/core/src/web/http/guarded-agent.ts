import { lookup as lookUp } from 'node:dns';
import { isIPv6, type LookupFunction } from 'node:net';
import type { Dispatcher } from 'undici';
import { ToolError } from '../../contract/errors.js';
import { type OpenHosts, portOf, refusalOfAddress, refusalOfHost } from './url-check.js';

export interface GuardOptions {
  isOpen: OpenHosts;
  /** Connects through an HTTP proxy. The proxy resolves names itself, so names that we cannot resolve are left to it. */
  proxy?: URL | undefined;
}

/**
 * Connects only to public addresses. Checks each connection when it is made: an IP address itself, a name by every
 * address it resolves to. The connection uses one of the checked addresses, so DNS rebinding has no effect.
 */
export async function guardedAgent({ isOpen, proxy }: GuardOptions): Promise<Dispatcher> {
  // The default export, because some bundlers drop the named ones.
  const { Agent, ProxyAgent, buildConnector } = (await import('undici')).default;
  // Set here so that no environment variable can turn it off.
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

/** One forbidden address rejects the whole name: no legitimate name resolves to both kinds. */
function refusalOf(
  addresses: readonly { address: string }[],
  hostname: string,
  port: number,
  isOpen: OpenHosts,
): string | undefined {
  const host = hostname.replace(/\.$/, '');
  const refusals = addresses.map(({ address }) => refusalOfAddress(address, host, port, isOpen));
  return refusals.find((refusal) => refusal !== undefined);
}

/** Before a request through a proxy: rejects names that resolve to a private address here. The proxy decides about others. */
export async function checkResolvable(url: URL, isOpen: OpenHosts, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const addresses = await new Promise<{ address: string }[]>((resolve, reject) => {
    // The timeout of the request also covers a DNS server that does not answer.
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    lookUp(url.hostname, { all: true }, (error, found) => resolve(error ? [] : found));
  });
  const refusal = refusalOf(addresses, url.hostname, portOf(url), isOpen);
  if (refusal !== undefined) throw new ToolError('permission_denied', refusal);
}

type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * `fetch` for URLs that come from outside, such as the authorization metadata of a server. Checks every connection when
 * it is made, redirects included, and connects to the checked address.
 */
export function guardedFetch(isOpen: OpenHosts): Fetch {
  let agent: Promise<Dispatcher> | undefined;
  return async (input, init) => {
    agent ??= guardedAgent({ isOpen });
    // The built-in fetch accepts agents of this package; only the types differ.
    const guarded: RequestInit = Object.assign({}, init, { dispatcher: await agent });
    return fetch(input, guarded);
  };
}
