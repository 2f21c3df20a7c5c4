import { createSocket } from 'node:dgram';

export interface DnsRecord {
  type: 'A' | 'AAAA' | 'CNAME';
  value: string;
}

/** Records for a name, asked for again with every query: an answer may differ each time. */
export type Zone = (name: string, type: 'A' | 'AAAA') => readonly DnsRecord[];

const codes = { A: 1, CNAME: 5, AAAA: 28 } as const;

/** A name server on 127.0.0.1:53 whose answers expire at once. Needs a network namespace of its own. */
export async function startDnsServer(zone: Zone): Promise<void> {
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => socket.send(answer(query, zone), from.port, from.address));
  await new Promise<void>((resolve) => socket.bind(53, '127.0.0.1', resolve));
}

function answer(query: Buffer, zone: Zone): Buffer {
  const end = query.indexOf(0, 12);
  const name = readName(query.subarray(12, end));
  const isAaaa = query.readUInt16BE(end + 1) === codes.AAAA;
  const records = zone(name, isAaaa ? 'AAAA' : 'A');
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(0x8580, 2);
  header.writeUInt16BE(records.length, 6);
  header.writeUInt32BE(0, 8);
  let owner = name;
  const answers = records.map(({ type, value }) => {
    const data = type === 'A' ? ipv4(value) : type === 'AAAA' ? ipv6(value) : writeName(value);
    const fixed = Buffer.alloc(10);
    fixed.writeUInt16BE(codes[type], 0);
    fixed.writeUInt16BE(1, 2);
    fixed.writeUInt16BE(data.length, 8);
    const record = Buffer.concat([writeName(owner), fixed, data]);
    if (type === 'CNAME') owner = value;
    return record;
  });
  return Buffer.concat([header, query.subarray(12, end + 5), ...answers]);
}

function readName(bytes: Buffer): string {
  const labels: string[] = [];
  for (let at = 0; at < bytes.length; at += 1 + (bytes[at] ?? 0))
    labels.push(bytes.toString('latin1', at + 1, at + 1 + (bytes[at] ?? 0)));
  return labels.join('.').toLowerCase();
}

function writeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`, 'latin1'));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

function ipv4(address: string): Buffer {
  return Buffer.from(address.split('.').map(Number));
}

/** Of the addresses we use, each has its `::` somewhere. */
function ipv6(address: string): Buffer {
  const [left = [], right = []] = address.split('::').map((half) => half.split(':').filter(Boolean));
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
  return Buffer.from(groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]));
}
