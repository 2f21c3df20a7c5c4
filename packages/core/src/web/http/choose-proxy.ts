export interface ProxySettings {
  /** `web.proxy`: overrides the environment variables. */
  proxy?: string | undefined;
  env: Readonly<Record<string, string | undefined>>;
}

/** The proxy for `target` from the settings and the usual variables, or an error message if the value is not a proxy. */
export function chooseProxy(target: URL, { proxy, env }: ProxySettings): URL | string | undefined {
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
