import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { startsWith, writeAll } from './file-snapshot.js';

// RW10
test('a device that takes and gives a few bytes at a time gets and returns them all', async () => {
  const pieces = ['some ', 'text', ' in ', 'pieces'].map((text) => Buffer.from(text.repeat(50)));
  const file = await open(join(tempDirectory(), 'f'), 'w+');
  try {
    await writeAll(
      { write: (bytes, offset, length, position) => file.write(bytes, offset, Math.min(length, 7), position) },
      pieces,
    );
    const slow: Parameters<typeof startsWith>[0] = {
      read: (buffer, offset, length, position) => file.read(buffer, offset, Math.min(length, 5), position),
    };
    expect(await file.readFile()).toEqual(Buffer.concat(pieces));
    expect(await startsWith(slow, pieces)).toBe(true);
    expect(await startsWith(slow, [...pieces, Buffer.from('more')])).toBe(false);
  } finally {
    await file.close();
  }
});
