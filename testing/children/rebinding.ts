import { lookup } from 'node:dns/promises';
import { createServer } from 'node:http';
import { GuardedHttp } from '../../packages/core/src/web/http/guarded-http.js';
import { type DnsRecord, startDnsServer } from '../dns-server.js';

/**
 * Runs in a network namespace in which a public address, the metadata address and this script's name server all live
 * on the loopback device. Prints what each way of asking brought home.
 */
const tries = Number(process.argv[2]);
const publicAddress = '93.184.216.34';
const metadata = '169.254.169.254';
const canary = 'PRIVATE-CANARY';

let flips = 0;
const a = (value: string): DnsRecord => ({ type: 'A', value });
const zone: Record<string, () => DnsRecord[]> = {
  'public.test': () => [a(publicAddress)],
  'metadata.test': () => [a(metadata)],
  'loopback.test': () => [a('127.0.0.1')],
  'mixed.test': () => [a(publicAddress), a(metadata)],
  'alias.test': () => [{ type: 'CNAME', value: 'alias2.test' }, { type: 'CNAME', value: 'inner.test' }, a('10.0.0.7')],
  'flip.test': () => [a(flips++ % 2 === 0 ? publicAddress : metadata)],
};
const zone6: Record<string, () => DnsRecord[]> = {
  'mixed6.test': () => [{ type: 'AAAA', value: 'fd00:ec2::254' }],
  'mapped.test': () => [{ type: 'AAAA', value: '::ffff:7f00:1' }],
};

async function serve(address: string, redirects: Record<string, string>, text: string): Promise<void> {
  const server = createServer((request, response) => {
    const to = redirects[request.url ?? ''];
    if (to !== undefined) response.writeHead(302, { location: to });
    response.end(text);
  });
  await new Promise<void>((resolve) => server.listen(80, address, resolve));
}

async function ask(http: GuardedHttp, url: string): Promise<string> {
  try {
    const answer = await http.send({ url: new URL(url) }, new AbortController().signal);
    return answer.type === 'page' ? answer.body.bytes.toString() : `redirect to ${answer.to.href}`;
  } catch (error) {
    return error instanceof Error && 'type' in error ? String(error.type) : String(error);
  }
}

/** What a guard does that looks the name up first and lets the connection look it up again. */
async function askNaively(url: string): Promise<string> {
  const { address } = await lookup(new URL(url).hostname);
  if (address !== publicAddress) return 'refused';
  return (await fetch(url, { headers: { connection: 'close' } })).text();
}

async function main(): Promise<void> {
  await startDnsServer((name, type) => {
    if (type === 'AAAA') return zone6[name]?.() ?? [];
    return zone[name]?.() ?? (name === 'mixed6.test' ? [a(publicAddress)] : []);
  });
  const redirects = { '/to-metadata': `http://${metadata}/`, '/to-name': 'http://metadata.test/', '/to-self': '/' };
  await serve(publicAddress, redirects, 'PUBLIC');
  for (const address of [metadata, '127.0.0.1', '10.0.0.7']) await serve(address, {}, canary);

  const counts: Record<string, number> = {};
  for (let count = 0; count < tries; count++) {
    // A new guard each time, so that no connection is kept.
    const http = new GuardedHttp({ timeoutMs: 5000 });
    const said = await ask(http, 'http://flip.test/');
    counts[said] = (counts[said] ?? 0) + 1;
    await http.close();
  }
  const naive = new Set<string>();
  for (let count = 0; count < 10; count++) naive.add(await askNaively('http://flip.test/'));

  const guarded = new GuardedHttp({ timeoutMs: 5000 });
  const open = new GuardedHttp({ timeoutMs: 5000, isOpen: () => true });
  const names = ['public', 'metadata', 'loopback', 'mixed', 'alias', 'mixed6', 'mapped'];
  const single: Record<string, string> = {};
  for (const name of names) single[name] = await ask(guarded, `http://${name}.test/`);
  for (const path of Object.keys(redirects)) single[path] = await ask(guarded, `http://public.test${path}`);
  single['open loopback'] = await ask(open, 'http://loopback.test/');
  single['open metadata name'] = await ask(open, 'http://metadata.test/');
  single['open metadata literal'] = await ask(open, `http://${metadata}/`);
  console.log(JSON.stringify({ counts, naive: [...naive].sort(), single }));
  process.exit(0);
}

void main();
