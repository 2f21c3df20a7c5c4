import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RedactStream, redact } from './redact.js';

function streamed(pieces: readonly string[], secrets: readonly string[] = []): string {
  const stream = new RedactStream(secrets);
  return [...pieces.map((piece) => stream.push(piece)), stream.flush()].join('');
}

const key = '-----BEGIN RSA PRIVATE KEY-----\nMIIEabc\nDEFghi\n-----END RSA PRIVATE KEY-----';
const secrets = ['first line\nsecond line', 'a-known-value'];
const lines = fc.constantFrom(
  'plain text\n',
  'key sk-abcdefghijklmnopqrstuvwxyz\n',
  `${key}\n`,
  `${secrets[0]}\n`,
  'x a-known-value y',
  'Authorization: Bearer abc.def-ghi123\r\n',
  '\n',
);

test('text in pieces is redacted as the whole text is', () => {
  fc.assert(
    fc.property(
      fc.array(lines, { maxLength: 12 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 40 })),
      (parts, sizes) => {
        const text = parts.join('');
        const pieces: string[] = [];
        for (let at = 0; at < text.length; at += pieces.at(-1)?.length ?? 1)
          pieces.push(text.slice(at, at + (sizes.next().value ?? 1)));
        expect(streamed(pieces, secrets)).toBe(redact(text, secrets));
      },
    ),
    { numRuns: 300 },
  );
});

test('a line that never ends is not held forever, nor is a key', () => {
  const stream = new RedactStream();
  let written = 0;
  for (let index = 0; index < 200; index++) written += stream.push('word '.repeat(200)).length;
  expect(written).toBeGreaterThan(200_000 - 65_536 - 1_000);
  const unfinished = new RedactStream();
  expect(unfinished.push('-----BEGIN PRIVATE KEY-----\n')).toBe('');
  expect(unfinished.push('not a key\n'.repeat(2_000))).not.toBe('');
});
