import { PassThrough } from 'node:stream';
import type { ReadStream, WriteStream } from 'node:tty';
import { expect, test } from 'vitest';
import { Text } from './elements.js';
import { KeyStream } from './key-stream.js';
import { show } from './show.js';

test('the screen closes when the terminal closes', async () => {
  const setRawMode = () => {
    if (input.readableEnded) input.emit('error', new Error('setRawMode EIO'));
    return input;
  };
  const input = Object.assign(new PassThrough(), { setRawMode }) as unknown as ReadStream;
  const terminal = Object.assign(new PassThrough(), { columns: 80, rows: 24 }) as unknown as WriteStream;
  const { signal } = new AbortController();
  const shown = show(<Text>Hello.</Text>, { terminal, keys: new KeyStream(input), isScreenReader: false, signal });
  input.push(null);
  expect(await shown).toBeUndefined();
});
