import { expect, test } from 'vitest';
import { imageSize } from './media.js';

const bytes = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex');

test.each([
  ['image/png', '89504e470d0a1a0a 0000000d 49484452 00000140 000000f0 0806000000', 320, 240],
  ['image/gif', '474946383961 4001 f000 00', 320, 240],
  ['image/jpeg', 'ffd8 ffe0 0004 0000 ffc0 0011 08 00f0 0140 03 012200 021101 031101', 320, 240],
  ['image/jpeg', 'ffd8 ffdb 0003 00 ffff c2 0011 08 00f0 0140 03 012200 021101 031101', 320, 240],
  ['image/webp', '52494646 00000000 57454250 56503820 00000000 000000 9d012a 4001 f000', 320, 240],
  ['image/webp', '52494646 00000000 57454250 5650384c 00000000 2f 3fc13b00', 320, 240],
  ['image/webp', '52494646 00000000 57454250 56503858 0a000000 00000000 3f0100 ef0000', 320, 240],
])('%s: %s', (mimeType, hex, width, height) => {
  expect(imageSize(bytes(hex), mimeType)).toEqual({ width, height });
});

test.each([
  ['image/png', '89504e470d0a1a0a'],
  ['image/png', '89504e470d0a1a0a 0000000d 58585858 00000140 000000f0'],
  ['image/gif', '474946383961'],
  ['image/jpeg', 'ffd8 ffe0 0004'],
  ['image/jpeg', 'ffd8 0000 0000 0000 0000 0000 0000'],
  ['image/webp', '52494646 00000000 57454250 58585858'],
  ['image/webp', '52494646 00000000 57454250 56503858'],
])('a damaged %s has no size', (mimeType, hex) => {
  expect(imageSize(bytes(hex), mimeType)).toBeUndefined();
});
