import { expect, test } from 'vitest';
import { contentToParts } from './content-to-parts.js';

/** One transparent pixel. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

test('three texts, an image and a sound stay five parts in their order', () => {
  const texts = ['one', 'two', 'three'].map((text) => ({ type: 'text' as const, text }));
  const { parts } = contentToParts({
    content: [
      ...texts,
      { type: 'image', mimeType: 'image/png', data: png },
      { type: 'audio', mimeType: 'audio/wav', data: 'AAAA' },
    ],
  });
  expect(parts).toEqual([
    { text: 'one' },
    { text: 'two' },
    { text: 'three' },
    { inlineData: { mimeType: 'image/png', data: png } },
    { inlineData: { mimeType: 'audio/wav', data: 'AAAA' } },
  ]);
});

test.each([
  [
    'the same JSON with other spaces',
    { entities: [{ name: 'a' }] },
    JSON.stringify({ entities: [{ name: 'a' }] }, null, 2),
  ],
  ['the only member as JSON', { entities: [{ name: 'a' }] }, JSON.stringify([{ name: 'a' }], null, 2)],
  ['other order of keys', { b: 1, a: 2 }, '{"a":2,"b":1}'],
])('a structure that the text repeats is sent once: %s', (_, structuredContent, text) => {
  expect(contentToParts({ content: [{ type: 'text', text }], structuredContent }).parts).toEqual([{ text }]);
});
