import type { Reading } from './reading.js';

/**
 * `example.com` is that host on its standard port, `*.example.com` everything below it, `localhost:3000` one port.
 * Read widely (deny, ask) a host stands for everything below it and every port, `*` for every host, and a port that is
 * standard for some scheme for its absence too.
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

/** What is wrong with the text of a rule, as a sentence; `undefined` when it can be used. */
export function checkHostRule(spec: string): string | undefined {
  return parse(spec) ? undefined : 'a rule for the web names a host: example.com, *.example.com or localhost:3000';
}

function fitsPort(wanted: number | undefined, port: number | undefined, reading: Reading): boolean {
  if (wanted === undefined) return reading === 'wide' || port === undefined;
  return wanted === port || (reading === 'wide' && port === undefined && (wanted === 80 || wanted === 443));
}

interface WantedHost {
  /** As a URL spells it: lower case, international names encoded, addresses in their shortest form. */
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
