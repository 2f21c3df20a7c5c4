import { expect, test } from 'vitest';
import { kindOfAddress, parseWebUrl, refusalOfHost } from './url-check.js';

/** More than sixty spellings of addresses that must not be reachable from outside. */
const privateSpellings = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '2130706433',
  '017700000001',
  '0x7f000001',
  '0x7f.1',
  '0x7f.0x0.0x0.0x1',
  '0177.0.0.1',
  '0177.0.0.01',
  '127.0.0.1.',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '１２７.０.０.１',
  '%31%32%37.0.0.1',
  '127.255.255.254',
  '0',
  '0.0.0.0',
  '0x0',
  '00',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'loCalhost',
  'ｌocalhost',
  'foo.localhost',
  'a.b.localhost.',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[0000:0000:0000:0000:0000:0000:0000:0001]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:127.0.0.1]',
  '[::127.0.0.1]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::a9fe:a9fe]',
  '[64:ff9b::10.0.0.1]',
  '[64:ff9b:1::1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::]',
  '10.0.0.1',
  '10.1',
  '0xa000001',
  '167772161',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '192.168.257',
  '3232235521',
  '100.64.0.1',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '[fc00::1]',
  '[fd12:3456::1]',
  '[fe80::1]',
  '[fec0::1]',
  '[ff02::1]',
  '[100::1]',
  '[2001:db8::1]',
  '192.0.2.1',
];
const metadataSpellings = [
  '169.254.169.254',
  '169.254.43518',
  '2852039166',
  '0xa9fea9fe',
  '0251.0376.0251.0376',
  '[::ffff:169.254.169.254]',
  '[fd00:ec2::254]',
  '[fd20:ce::254]',
  '100.100.100.200',
  '168.63.129.16',
  '169.254.170.2',
  '192.0.0.192',
];

// SI01
test.each([...privateSpellings, ...metadataSpellings])('%s is forbidden', (host) => {
  const url = new URL(`http://${host}/`);
  expect(refusalOfHost(url, () => false)).toMatch(/private network|never fetches/);
});

// SI15
test.each(metadataSpellings)('%s stays forbidden whatever a rule allows', (host) => {
  expect(refusalOfHost(new URL(`http://${host}/`), () => true)).toMatch(/never fetches/);
});

test.each(['8.8.8.8', '1.1.1.1', '93.184.216.34', '2606:4700::1111', '2001:4860:4860::8888', '64:ff9b::808:808'])(
  '%s is public',
  (address) => {
    expect(kindOfAddress(address)).toBe('public');
  },
);

test.each(['127.0.0.1', '::1', '10.2.3.4', 'fd12::1', '100.64.0.1'])('%s can be opened', (address) => {
  expect(kindOfAddress(address)).toBe('private');
});

test.each(['0.0.0.0', '::', '224.0.0.1', '2002:7f00:1::', '::7f00:1', '4000::1', 'nonsense', ''])(
  '%s never',
  (address) => {
    expect(kindOfAddress(address)).toBe('never');
  },
);

// SI05, SI13
test.each([
  ['file:///etc/passwd', 'begin with http'],
  ['ftp://example.com/', 'begin with http'],
  ['data:text/html,hi', 'begin with http'],
  ['javascript:alert(1)', 'begin with http'],
  ['blob:https://example.com/1', 'begin with http'],
  ['gopher://example.com/', 'begin with http'],
  ['unix:/run/docker.sock', 'begin with http'],
  ['ws://example.com/', 'begin with http'],
  ['//example.com/', 'begin with http'],
  ['example.com', 'begin with http'],
  ['http:example.com', 'begin with http'],
  ['http:/example.com', 'begin with http'],
  [' https://example.com/', 'percent-encode'],
  ['https://example.com/\r\nHost: evil', 'percent-encode'],
  ['https://exam\nple.com/', 'percent-encode'],
  ['https://example.com/a b', 'percent-encode'],
  ['https://example.com\\@evil.test/', 'percent-encode'],
  ['https://example.com/\u0000', 'percent-encode'],
  ['https://example.com/\u2028', 'percent-encode'],
  ['https://example.com/\ud800', 'percent-encode'],
  ['https://user:pw@example.com/', 'credentials are never sent'],
  ['https://user@example.com/', 'credentials are never sent'],
  ['https://@example.com/', 'credentials are never sent'],
  ['https://example.com:99999/', 'not valid'],
  ['https://example.com:0/', 'port 0'],
  ['https://exa%00mple.com/', 'not valid'],
  ['https://[::1/', 'not valid'],
  [`https://example.com/${'a'.repeat(1_000_000)}`, 'at most 8000'],
])('%.60s is rejected', (text, reason) => {
  expect(parseWebUrl(text)).toContain(reason);
});

test.each([
  'https://example.com/a?b=c#d',
  'http://example.com:8080/ü',
  'https://пример.рф/',
  'HTTPS://example.com/@user',
])('%s is accepted', (text) => {
  expect(parseWebUrl(text)).toBeInstanceOf(URL);
});
