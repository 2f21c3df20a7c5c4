import { expect, test } from 'vitest';
import { redact } from './redact.js';

test('a known value is removed in every spelling', () => {
  const secret = 'p@ss "word"/1';
  const text = `raw ${secret} url ${encodeURIComponent(secret)} json ${JSON.stringify({ secret })}`;
  const result = redact(text, [secret, undefined, '']);
  expect(result).not.toContain('p@ss');
  expect(result).not.toContain('p%40ss');
  expect(result).toContain('json {"secret":"[redacted]"}');
});

test.each([
  ['Incorrect API key provided: sk-proj-abcdefghijklmnop1234', 'Incorrect API key provided: [redacted]'],
  ['key sk-ant-api03-AAAABBBBCCCCDDDD-eeee_ffff', 'key [redacted]'],
  ['AIzaSyA1234567890abcdefghijklmnopqrstuv', '[redacted]'],
  ['push with ghp_0123456789abcdefABCDEF0123456789abcd', 'push with [redacted]'],
  ['AKIAIOSFODNN7EXAMPLE', '[redacted]'],
  ['Authorization: Bearer abc.def-ghi123', 'Authorization: Bearer [redacted]'],
  ['{"x-api-key": "0123456789abcdef"}', '{"x-api-key": "[redacted]"}'],
  ['https://host/v1?alt=sse&key=0123456789', 'https://host/v1?alt=sse&key=[redacted]'],
  [
    'https://host/?client_secret=0123456789&password=hunter2',
    'https://host/?client_secret=[redacted]&password=[redacted]',
  ],
  ['https://host/?a=1&refresh_token=0123456789', 'https://host/?a=1&refresh_token=[redacted]'],
  ['https://host/o?X-Amz-Signature=0123456789', 'https://host/o?X-Amz-Signature=[redacted]'],
  ['postgres://user:hunter2@db/x', 'postgres://[redacted]@db/x'],
  ['redis://:hunter2@queue:6379', 'redis://[redacted]@queue:6379'],
  ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF', '[redacted]'],
  ['-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----', '[redacted]'],
])('%s', (text, expected) => {
  expect(redact(text)).toBe(expected);
});

const prefixes =
  'sk- rk- pk- sk_live_ rk_live_ pk_test_ ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- hf_ npm_ xoxa- xoxb- xoxp- tvly- gsk_ xai-';

test.each(prefixes.split(' '))('a key that begins with %s', (prefix) => {
  expect(redact(`${prefix}${'a1B2'.repeat(6)}`)).toBe('[redacted]');
});

test.each([
  ['ASIAIOSFODNN7EXAMPLE', '[redacted]'],
  ['basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==', 'basic [redacted]'],
  ['X-Goog-Api-Key=0123456789', 'X-Goog-Api-Key=[redacted]'],
  ['authorization: 0123456789', 'authorization: [redacted]'],
  ['/o?sig=0123456789', '/o?sig=[redacted]'],
])('%s', (text, expected) => {
  expect(redact(text)).toBe(expected);
});

test.each([
  'const task = sk - 1; // basic idea',
  'The author: someone else; key = value',
  'https://example.com/a?page=2&q=tokens',
  'https://example.com/a?page_token=abcdef&sort_key=name',
  'commit 3f786850e387550fdab836ed7e6dc881de23001b',
])('ordinary text stays: %s', (text) => {
  expect(redact(text)).toBe(text);
});
