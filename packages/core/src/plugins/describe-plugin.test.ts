import { expect, test } from 'vitest';
import { describeUpdate } from './describe-plugin.js';

const file = (content: string | Buffer) => ({ content: Buffer.from(content), isExecutable: false });

test('an update shows each changed text, and says which contents it does not show', async () => {
  const before = new Map([
    ['a.md', file('one\n')],
    ['b.bin', file('\0')],
    ['gone.bin', file('\0')],
    ['latin.sh', file(Buffer.from([0xe9]))],
    ['same.md', file('same\n')],
  ]);
  const after = new Map([
    ['a.md', file('two\n')],
    ['b.bin', file('\0\0')],
    ['latin.sh', file(Buffer.from([0xe8]))],
    ['long.md', file('x'.repeat(100_001))],
    ['same.md', file('same\n')],
  ]);
  expect(await describeUpdate(before, after)).toEqual([
    'changed: a.md',
    '--- a.md\n+++ a.md\n@@ -1 +1 @@\n-one\n+two',
    'changed: b.bin (2 bytes, not shown: binary or too long)',
    'removed: gone.bin',
    'changed: latin.sh (1 bytes, not shown: binary or too long)',
    'added: long.md (100001 bytes, not shown: binary or too long)',
  ]);
});
