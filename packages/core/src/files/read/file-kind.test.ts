import { expect, test } from 'vitest';
import { fileKindOf } from './file-kind.js';

// RR07
test.each([
  ['image/png', '89504e470d0a1a0a'],
  ['image/jpeg', 'ffd8ffe0'],
  ['image/gif', '474946383961'],
  ['image/webp', '524946460000000057454250'],
  ['image/bmp', '424d3600000000000000'],
  ['image/avif', '000000206674797061766966'],
  ['audio/wav', '524946460000000057415645'],
  ['audio/mpeg', '49443304'],
  ['audio/mpeg', 'fffb9064'],
  ['audio/mp4', '00000020667479704d344120'],
  ['video/mp4', '000000206674797069736f6d'],
  ['application/pdf', '255044462d312e37'],
])('%s is known by its bytes %s', (mimeType, hex) => {
  expect(fileKindOf(Buffer.from(hex, 'hex'))).toMatchObject({ mimeType });
});

test.each([
  ['gzip archive', '1f8b0800'],
  ['zip archive or document', '504b0304'],
  ['ELF program', '7f454c46'],
])('a %s is binary', (format, hex) => {
  expect(fileKindOf(Buffer.from(hex, 'hex'))).toEqual({ type: 'binary', format });
});

test.each(['', 'BMW is a car', 'RIFF raff', 'ID3 is a tag', 'GIF8', '<svg/>', '\uFEFFtext', '%!PS'])(
  '%j is nothing special',
  (text) => {
    expect(fileKindOf(Buffer.from(text))).toEqual({ type: 'other' });
  },
);

test('UTF-16 with a mark is not taken for a sound', () => {
  expect(fileKindOf(Buffer.from('\uFEFFtext', 'utf16le'))).toEqual({ type: 'other' });
});
