import { expect, test } from 'vitest';
import { readEvents } from './remote-model.js';

async function parse(...chunks: (string | Uint8Array)[]) {
  async function* source() {
    for (const chunk of chunks) yield await Promise.resolve(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  }
  const events: string[] = [];
  for await (const data of readEvents(source())) events.push(data);
  return events;
}

// RN08
test.each([
  ['LF', '\n'],
  ['CRLF', '\r\n'],
  ['CR', '\r'],
])('lines end with %s, split at any byte', async (_, end) => {
  const text = ['event: a', 'data: é你👍', '', ': comment', 'data:x', 'data: y', 'id: 7', 'unknown', '', ''].join(end);
  const bytes = Buffer.from(text);
  const expected = ['é你👍', 'x\ny'];
  for (let at = 0; at <= bytes.length; at++)
    expect(await parse(bytes.subarray(0, at), bytes.subarray(at))).toEqual(expected);
});

test('a byte order mark is not part of the first field', async () => {
  expect(await parse('\ufeffdata: x\n\n')).toEqual(['x']);
});

test('the last event may lack its blank line', async () => {
  expect(await parse('data: x')).toEqual(['x']);
});

test('an event without data is skipped', async () => {
  expect(await parse('event: ping\n\n: hi\n\n\n\ndata\n\n')).toEqual(['']);
});

// RN08
test('an event that does not end is rejected', async () => {
  await expect(parse('data: ', ...Array<string>(17).fill('x'.repeat(1024 * 1024)))).rejects.toThrow('16 MB');
});
