import { ModelError } from '../model-error.js';

/** The proxy of `target` by the usual variables, or undefined. Loopback never uses a proxy. */
export function proxyFor(target: URL, env: Readonly<Record<string, string | undefined>>): URL | undefined {
  const variable = target.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const address = env[variable.toLowerCase()] ?? env[variable] ?? env['all_proxy'] ?? env['ALL_PROXY'];
  if (!address || isLoopback(target.hostname)) return undefined;
  const exceptions = (env['no_proxy'] ?? env['NO_PROXY'] ?? '').split(/[\s,]+/).filter(Boolean);
  if (exceptions.some((exception) => covers(exception, target))) return undefined;
  const full = /^[a-z0-9]+:\/\//i.test(address) ? address : `http://${address}`;
  if (URL.canParse(full) && new URL(full).protocol === 'http:') return new URL(full);
  throw new ModelError('network', `${variable} is not the address of an HTTP proxy.`);
}

export function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]' || hostname.startsWith('127.')
  );
}

function covers(exception: string, { hostname, host }: URL): boolean {
  if (exception === '*' || exception === host) return true;
  const name = exception.replace(/^\*?\./, '');
  return hostname === name || hostname.endsWith(`.${name}`);
}
