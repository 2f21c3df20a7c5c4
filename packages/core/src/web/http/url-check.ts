import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** True when the user opened this host and port, which is otherwise forbidden. */
export type OpenHosts = (host: string, port: number) => boolean;

const maxLength = 8000;

/** The URL, or the reason why it is rejected. A malformed URL is rejected, never repaired. */
export function parseWebUrl(text: string): URL | string {
  if (text.length > maxLength) return `the URL has ${text.length} characters; at most ${maxLength} are sent`;
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  if (/[\u0000- \u007f-\u00a0\\\u2028\u2029]|\p{Cs}/u.test(text))
    return 'the URL contains a space, a control character, a backslash or a lone surrogate; percent-encode it';
  if (!/^https?:\/\//i.test(text)) return 'the URL must begin with http:// or https://';
  if (!URL.canParse(text)) return 'the URL is not valid';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || /^https?:\/\/[^/?#]*@/i.test(text))
    return 'the URL contains a user name or password; credentials are never sent';
  if (url.port === '0') return 'the URL has port 0';
  return url;
}

/** The host without a trailing dot. An IPv6 address keeps its brackets, as in rules. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/\.$/, '');
}

export function portOf(url: URL): number {
  return url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
}

/** The host as rules write it, with the port only when it is not the default one. */
export function hostRule(url: URL): string {
  return url.port === '' ? hostOf(url) : `${hostOf(url)}:${url.port}`;
}

/** The reason why a host is forbidden, as far as it is known before DNS. */
export function refusalOfHost(url: URL, isOpen: OpenHosts): string | undefined {
  const host = hostOf(url);
  const bare = host.replace(/^\[|\]$/g, '');
  if (isIP(bare) !== 0) return refusalOfAddress(bare, host, portOf(url), isOpen);
  const isLocal = host === '' || host === 'localhost' || host.endsWith('.localhost');
  return isLocal ? refusalOfKind('private', host, portOf(url), isOpen) : undefined;
}

/** The reason why `address`, which `host` is or resolves to, is forbidden. */
export function refusalOfAddress(address: string, host: string, port: number, isOpen: OpenHosts): string | undefined {
  return refusalOfKind(kindOfAddress(address), host, port, isOpen);
}

function refusalOfKind(kind: AddressKind, host: string, port: number, isOpen: OpenHosts): string | undefined {
  switch (kind) {
    case 'public':
      return undefined;
    case 'never':
      return `${host} is a metadata service or not a public address. Lathe never fetches it.`;
    case 'private':
      if (isOpen(host, port)) return undefined;
      return `${host}:${port} is on this machine or a private network. Only the user can open it, with the rule "web_fetch(${host}:${port})" in permissions.allow.`;
  }
}

/**
 * `public`: reachable for everyone · `private`: this machine or its network, reachable only if the user opened the host
 * and port · `never`: metadata services and addresses that serve no pages, whatever a rule allows.
 */
export type AddressKind = 'public' | 'private' | 'never';

/** The kind of an IP address in any spelling. */
export function kindOfAddress(text: string): AddressKind {
  if (!ipaddr.isValid(text)) return 'never';
  const address = ipaddr.process(text);
  if (isMetadata(address)) return 'never';
  const range = address.range();
  if (openable.has(range)) return 'private';
  if (address instanceof ipaddr.IPv4) return range === 'unicast' ? 'public' : 'never';
  if (address.match(ipaddr.IPv6.parseCIDR(nat64))) return kindOfTranslated(address);
  return range === 'unicast' && address.match(ipaddr.IPv6.parseCIDR(globalUnicast)) ? 'public' : 'never';
}

const openable = new Set(['loopback', 'private', 'uniqueLocal', 'carrierGradeNat']);
/** All other IPv6 addresses are unassigned, deprecated or tunnels. */
const globalUnicast = '2000::/3';
/** NAT64: networks without IPv4 use these addresses, whose last four bytes are the IPv4 address. */
const nat64 = '64:ff9b::/96';

function kindOfTranslated(address: ipaddr.IPv6): AddressKind {
  const inner = ipaddr.fromByteArray(address.toByteArray().slice(12));
  return kindOfAddress(inner.toString()) === 'public' ? 'public' : 'never';
}

/** Cloud metadata services, which give credentials to any local client. The first two cover all link-local addresses. */
const metadata = [
  '169.254.0.0/16',
  'fe80::/10',
  'fd00:ec2::/32',
  'fd20:ce::/32',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
];

function isMetadata(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return metadata
    .map((range) => ipaddr.parseCIDR(range))
    .some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
}
