import { read, readSync } from 'node:fs';
import { promisify } from 'node:util';

export const readAsync = promisify(read);

/** Reading this much from the page cache is faster than a thread: `npm run bench -- --only 'read a small file'`. */
const quickLength = 256 * 1024;

/** Reads until `length` bytes are there or the file ends; kernel files return one page at a time. */
export async function readFully(fd: number, buffer: Buffer, position: number, length: number): Promise<Buffer> {
  let filled = 0;
  while (filled < length) {
    const wanted = length - filled;
    const bytesRead =
      wanted <= quickLength
        ? readSync(fd, buffer, filled, wanted, position + filled)
        : (await readAsync(fd, buffer, filled, wanted, position + filled)).bytesRead;
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** The whole of a file whose size is known to be small enough. */
export function readWhole(fd: number, size: bigint): Promise<Buffer> {
  return readFully(fd, Buffer.allocUnsafe(Number(size)), 0, Number(size));
}

/** The same memory as a `Buffer`. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
