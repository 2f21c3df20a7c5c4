import type { Dispatcher } from 'undici';
import { ToolError, thrownText } from '../../contract/errors.js';
import { acceptedCodings, type Body, readBody } from './decode-body.js';
import { checkResolvable, guardedAgent } from './guarded-agent.js';
import { hostOf, type OpenHosts, parseWebUrl, portOf, refusalOfHost } from './url-check.js';

export interface GuardedHttpOptions {
  /** Hosts and ports outside the public network that the user opened. */
  isOpen?: OpenHosts;
  proxy?: ProxySettings;
  /** For the whole request: DNS, connection, redirects and body. */
  timeoutMs?: number;
  /** Largest body, after decompression. */
  maxBytes?: number;
  requestsPerMinute?: number;
}

export interface WebRequest {
  url: URL;
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string;
  /** A request with a key in its headers must not follow redirects. */
  redirects?: 'same-host' | 'never';
}

export type WebAnswer =
  | { type: 'page'; url: URL; status: number; contentType: string; retryAfter?: string; body: Body }
  /** A redirect to another host, which the caller must check like any new URL. */
  | { type: 'redirect'; url: URL; to: URL };

const maxRedirects = 5;
const noOpenHosts: OpenHosts = () => false;

/** Sends every request that a model or a page can influence. Sends no cookies, credentials or referrer. */
export class GuardedHttp {
  readonly #isOpen: OpenHosts;
  readonly #proxy: ProxySettings;
  readonly #timeoutMs: number;
  readonly #maxBytes: number;
  readonly #rate: RateLimit;
  readonly #agents = new Map<string, Promise<Dispatcher>>();

  constructor(options: GuardedHttpOptions = {}) {
    this.#isOpen = options.isOpen ?? noOpenHosts;
    this.#proxy = options.proxy ?? { env: {} };
    this.#timeoutMs = options.timeoutMs ?? 30_000;
    this.#maxBytes = options.maxBytes ?? 10_000_000;
    this.#rate = new RateLimit(options.requestsPerMinute ?? 60);
  }

  /** The reason why the host of `url` is forbidden, if that is known without DNS. */
  refusal(url: URL): string | undefined {
    return refusalOfHost(url, this.#isOpen);
  }

  /** True when the user opened this host and port. */
  opens(url: URL): boolean {
    return this.#isOpen(hostOf(url), portOf(url));
  }

  async send(request: WebRequest, signal: AbortSignal): Promise<WebAnswer> {
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    const either = AbortSignal.any([signal, timeout]);
    try {
      return await this.#follow(request, either);
    } catch (error) {
      signal.throwIfAborted();
      const proxy = this.#proxyFor(request.url);
      const through = proxy instanceof URL ? ` (through the proxy ${proxy.host})` : '';
      if (timeout.aborted)
        throw new ToolError(
          'web_fetch_fallback_failed',
          `${hostOf(request.url)} did not finish answering within ${this.#timeoutMs / 1000} s${through}.`,
        );
      throw describeFailure(error, request.url, proxy instanceof URL ? proxy : undefined);
    }
  }

  /** Closes open connections. */
  async close(): Promise<void> {
    const agents = [...this.#agents.values()];
    this.#agents.clear();
    await Promise.allSettled(agents.map(async (agent) => (await agent).destroy()));
  }

  async #follow(request: WebRequest, signal: AbortSignal): Promise<WebAnswer> {
    let { url } = request;
    for (let hop = 0; ; hop++) {
      const answer = await this.#sendOne({ ...request, url }, signal);
      if (answer.type === 'page') return answer;
      if (request.redirects === 'never' || !isSameHost(url, answer.to)) return answer;
      if (hop === maxRedirects)
        throw new ToolError('web_fetch_fallback_failed', `${hostOf(url)} redirects more than ${maxRedirects} times.`);
      url = answer.to;
    }
  }

  async #sendOne(request: WebRequest, signal: AbortSignal): Promise<WebAnswer> {
    const { url, method = 'GET', headers, body } = request;
    const refusal = this.refusal(url);
    if (refusal !== undefined) throw new ToolError('permission_denied', refusal);
    this.#rate.count(hostOf(url));
    const dispatcher = await this.#agentFor(url, signal);
    const sent = dispatcher.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method,
      headers: { 'user-agent': userAgent, 'accept-encoding': acceptedCodings, ...headers },
      signal,
      headersTimeout: this.#timeoutMs,
      bodyTimeout: this.#timeoutMs,
      ...(body !== undefined && { body }),
    });
    const response = await orAborted(sent, signal);
    const { statusCode: status } = response;
    const location = headerOf(response.headers, 'location');
    if (redirects.has(status) && location !== '') {
      response.body.on('error', () => {}).destroy();
      return { type: 'redirect', url, to: this.#redirectTarget(url, location) };
    }
    const retryAfter = headerOf(response.headers, 'retry-after');
    const contentEncoding = headerOf(response.headers, 'content-encoding');
    return {
      type: 'page',
      url,
      status,
      contentType: headerOf(response.headers, 'content-type'),
      ...(retryAfter !== '' && { retryAfter }),
      body: await readBody(response.body, contentEncoding, this.#maxBytes, signal),
    };
  }

  #redirectTarget(from: URL, location: string): URL {
    const to = URL.canParse(location, from.href) ? parseWebUrl(new URL(location, from).href) : 'the URL is not valid';
    const refusal = typeof to === 'string' ? to : this.refusal(to);
    if (typeof to !== 'string' && refusal === undefined) return to;
    throw new ToolError('permission_denied', `${hostOf(from)} redirects to a forbidden URL: ${refusal}`);
  }

  #proxyFor(url: URL): ReturnType<typeof chooseProxy> {
    return this.opens(url) ? undefined : chooseProxy(url, this.#proxy);
  }

  async #agentFor(url: URL, signal: AbortSignal): Promise<Dispatcher> {
    const proxy = this.#proxyFor(url);
    if (typeof proxy === 'string') throw new ToolError('web_fetch_fallback_failed', `${proxy}.`);
    if (proxy) await checkResolvable(url, this.#isOpen, signal);
    const key = proxy?.href ?? '';
    const agent = this.#agents.get(key) ?? guardedAgent({ isOpen: this.#isOpen, proxy });
    this.#agents.set(key, agent);
    return agent;
  }
}

/** A request waits for a proxy that does not answer, whatever its signal says. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}

const redirects = new Set([301, 302, 303, 307, 308]);
const userAgent = 'Mozilla/5.0 (compatible; Lathe)';

/** The same host and port, or the change from HTTP to HTTPS on the default ports. */
function isSameHost(from: URL, to: URL): boolean {
  if (hostOf(from) !== hostOf(to)) return false;
  const isUpgrade = from.protocol === 'http:' && to.protocol === 'https:' && from.port === '' && to.port === '';
  return from.origin === to.origin || isUpgrade;
}

function headerOf(headers: Record<string, string | string[] | undefined>, name: string): string {
  const value = headers[name];
  return (Array.isArray(value) ? value.join(', ') : value) ?? '';
}

export interface ProxySettings {
  /** `web.proxy`: overrides the environment variables. */
  proxy?: string | undefined;
  env: Readonly<Record<string, string | undefined>>;
}

/** The proxy for `target` from the settings and the usual variables, or an error message if the value is not a proxy. */
function chooseProxy(target: URL, { proxy, env }: ProxySettings): URL | string | undefined {
  const variable = target.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const address = proxy ?? read(env, variable) ?? read(env, 'all_proxy');
  const exceptions = (read(env, 'no_proxy') ?? '').split(/[\s,]+/).filter(Boolean);
  if (address === undefined || exceptions.some((exception) => covers(exception, target))) return undefined;
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(address) ? address : `http://${address}`;
  if (URL.canParse(full) && /^https?:$/.test(new URL(full).protocol)) return new URL(full);
  return `${proxy === undefined ? variable.toUpperCase() : 'web.proxy'} is not the address of an HTTP proxy`;
}

function read(env: ProxySettings['env'], name: string): string | undefined {
  return env[name] || env[name.toUpperCase()] || undefined;
}

function covers(exception: string, { hostname, host }: URL): boolean {
  if (exception === '*' || exception === host) return true;
  const name = exception.replace(/^\*?\./, '').toLowerCase();
  return hostname === name || hostname.endsWith(`.${name}`);
}

/** Limits the requests to one host per minute. A request above the limit is rejected at once, never queued. */
class RateLimit {
  readonly #perMinute: number;
  readonly #recent = new Map<string, number[]>();

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  count(host: string): void {
    const now = performance.now();
    const times = (this.#recent.get(host) ?? []).filter((time) => now - time < 60_000);
    if (times.length >= this.#perMinute)
      throw new ToolError(
        'web_fetch_fallback_failed',
        `${host} got ${times.length} requests within a minute. Wait, or use the pages you have.`,
      );
    this.#recent.delete(host);
    this.#recent.set(host, [...times, now]);
    const [oldest] = this.#recent.keys();
    if (this.#recent.size > maxHosts && oldest !== undefined) this.#recent.delete(oldest);
  }
}

const maxHosts = 1000;

/** The reason why `url` could not be fetched, as a sentence for the model. */
function describeFailure(error: unknown, url: URL, proxy?: URL): ToolError {
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
  const other = `cannot be read (${code || thrownText(error)})`;
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
