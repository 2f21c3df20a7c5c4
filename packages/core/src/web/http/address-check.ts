import ipaddr from 'ipaddr.js';

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
  if (address.match(nat64)) return kindOfTranslated(address);
  return range === 'unicast' && address.match(globalUnicast) ? 'public' : 'never';
}

const openable = new Set(['loopback', 'private', 'uniqueLocal', 'carrierGradeNat']);
/** All other IPv6 addresses are unassigned, deprecated or tunnels. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');
/** NAT64: networks without IPv4 use these addresses, whose last four bytes are the IPv4 address. */
const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

function kindOfTranslated(address: ipaddr.IPv6): AddressKind {
  const inner = ipaddr.fromByteArray(address.toByteArray().slice(12));
  return kindOfAddress(inner.toString()) === 'public' ? 'public' : 'never';
}

/** Cloud metadata services, which give credentials to any local client. The first two cover all link-local addresses. */
const metadata: readonly [ipaddr.IPv4 | ipaddr.IPv6, number][] = [
  '169.254.0.0/16',
  'fe80::/10',
  'fd00:ec2::/32',
  'fd20:ce::/32',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
].map((range) => ipaddr.parseCIDR(range));

function isMetadata(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return metadata.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
}
