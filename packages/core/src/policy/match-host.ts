import type { Reading } from './rule.js';

/**
 * `example.com` is that host on its standard port, `*.example.com` everything below it, `localhost:3000` one port.
 * Read widely (deny, ask) a host stands for everything below it and every port.
 */
export function matchesHost(spec: string, target: { host: string; port?: number }, reading: Reading): boolean {
  const wanted = parse(spec);
  if (!wanted) return false;
  const host = target.host.toLowerCase().replace(/\.$/, '');
  if (wanted.port === undefined ? reading === 'narrow' && target.port !== undefined : wanted.port !== target.port)
    return false;
  if (wanted.below) return host.endsWith(`.${wanted.host}`);
  return host === wanted.host || (reading === 'wide' && host.endsWith(`.${wanted.host}`));
}

function parse(spec: string): { host: string; below: boolean; port?: number } | undefined {
  const match = /^(?:domain:)?(\*\.)?([^\s/:*@]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i.exec(spec);
  if (!match) return undefined;
  const [, star, host = '', port] = match;
  const plain = host.toLowerCase().replace(/\.$/, '');
  return { host: plain, below: star !== undefined, ...(port !== undefined && { port: Number(port) }) };
}
