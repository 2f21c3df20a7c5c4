import ipaddr from 'ipaddr.js';

/**
 * `public`: anybody's business · `private`: this machine or its network, reachable only where the person opened host
 * and port · `never`: metadata services and addresses that no page lives at, whatever a rule says.
 */
export type AddressKind = 'public' | 'private' | 'never';

/** What an IP address stands for, however it is written. */
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
/** Everything else of IPv6 is unassigned, deprecated or a tunnel to somewhere. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');
/** Networks without IPv4 reach its hosts through these addresses, which hold the real one in their last four bytes. */
const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

function kindOfTranslated(address: ipaddr.IPv6): AddressKind {
  const inner = ipaddr.fromByteArray(address.toByteArray().slice(12));
  return kindOfAddress(inner.toString()) === 'public' ? 'public' : 'never';
}

/** Where clouds hand out credentials to whoever asks from inside. The link-local ones are covered by their range. */
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
