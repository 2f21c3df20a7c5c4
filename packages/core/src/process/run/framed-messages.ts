import { setTimeout as wait } from 'node:timers/promises';
import { parseBoundedJson } from '../../text/parse-json.js';

const maxMegabytes = 32;
const maxHeaderBytes = 4_096;
/** After so many bytes reading pauses, for as long as they take at the rate that we keep up with. */
const maxBurstBytes = 512 << 10;
const bytesPerMs = 10_000;
/** What a message costs besides its bytes. */
const messageBytes = 1_000;

/**
 * The JSON messages in the output of a program, each after a header with its length, at a bounded rate. Throws when the
 * output is anything else, or a message is too large.
 */
export async function* framedMessages(stream: AsyncIterable<Buffer>): AsyncGenerator {
  let burst = 0;
  for await (const content of framesIn(stream)) {
    const message = parseBoundedJson(content.toString());
    if (!message.ok) throw new Error('it sent a message that is not JSON, or too large');
    yield message.value;
    burst += content.length + messageBytes;
    if (burst < maxBurstBytes) continue;
    await wait(burst / bytesPerMs, undefined, { ref: false });
    burst = 0;
  }
}

async function* framesIn(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = [];
  let size = 0;
  let needed = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    size += chunk.length;
    if (size < needed) continue;
    let rest = Buffer.concat(chunks);
    for (let frame = frameOf(rest); (needed = frame.end) <= rest.length; frame = frameOf(rest)) {
      yield rest.subarray(frame.start, frame.end);
      rest = rest.subarray(frame.end);
    }
    chunks = [rest];
    size = rest.length;
  }
}

/** Where the first message is. If its header is not complete, it ends somewhere behind these bytes. */
function frameOf(bytes: Buffer): { start: number; end: number } {
  const head = bytes.toString('latin1', 0, maxHeaderBytes);
  const start = head.indexOf('\r\n\r\n') + 4;
  if (start === 3 && head.length < maxHeaderBytes) return { start, end: bytes.length + 1 };
  const length = /^content-length: *(\d+)\r$/im.exec(head.slice(0, start))?.[1];
  if (length === undefined) throw new Error('it sent a message without its length');
  if (Number(length) > maxMegabytes << 20) throw new Error(`it sent a message of over ${maxMegabytes} MB`);
  return { start, end: start + Number(length) };
}
