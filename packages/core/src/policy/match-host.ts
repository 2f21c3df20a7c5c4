import type { Reading } from './reading.js';

/**
 * `example.com` is that host on its default port, `*.example.com` every host below it, `localhost:3000` one port.
 * A wide match (deny, ask) also covers every host below and every port; `*` is every host; and port 80 or 443 also
 * matches a URL without a port.
 */
export function matchesHost(spec: string, target: { host: string; port?: number }, reading: Reading): boolean {
  const wanted = parse(spec);
  if (!wanted) return false;
  const host = target.host.toLowerCase().replace(/\.$/, '');
  if (!fitsPort(wanted.port, target.port, reading)) return false;
  if (wanted.host === '*') return reading === 'wide';
  if (wanted.isBelow) return host.endsWith(`.${wanted.host}`);
  return host === wanted.host || (reading === 'wide' && host.endsWith(`.${wanted.host}`));
}

/** Why the specification of a rule is not valid; `undefined` when it is. */
export function checkHostRule(spec: string): string | undefined {
  return parse(spec) ? undefined : 'a rule for the web names a host: example.com, *.example.com or localhost:3000';
}

function fitsPort(wanted: number | undefined, port: number | undefined, reading: Reading): boolean {
  if (wanted === undefined) return reading === 'wide' || port === undefined;
  return wanted === port || (reading === 'wide' && port === undefined && (wanted === 80 || wanted === 443));
}

interface WantedHost {
  /** Normalized as in a URL: lower case, punycode, shortest form of an IP address. */
  host: string;
  isBelow: boolean;
  port?: number;
}

function parse(spec: string): WantedHost | undefined {
  const match = /^(?:domain:)?(\*\.)?([^\s/:*@?#\\]+|\[[0-9a-f:.]+\]|\*)(?::(\d{1,5}))?$/i.exec(spec);
  if (!match) return undefined;
  const [, star, name = '', port] = match;
  if (name !== '*' && !URL.canParse(`http://${name}`)) return undefined;
  const host = name === '*' ? name : new URL(`http://${name}`).hostname.replace(/\.$/, '');
  return { host, isBelow: star !== undefined, ...(port !== undefined && { port: Number(port) }) };
}
