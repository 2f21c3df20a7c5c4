import { Readable } from 'node:stream';

/** Takes stdout for a protocol: whatever else writes there, such as the code of a tool file, goes to stderr. */
export function protocolOutput(onClosed: () => void): WritableStream<Uint8Array> {
  const { stdout, stderr } = process;
  const write: (chunk: Uint8Array, done: (error?: Error | null) => void) => boolean = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  // The end of the reader must end the work before it ends the process.
  stdout.removeAllListeners('error');
  stdout.on('error', onClosed);
  return new WritableStream({
    write: (chunk) => new Promise((resolve, reject) => write(chunk, (error) => (error ? reject(error) : resolve()))),
  });
}

/** The bytes of stdin. */
export function protocolInput(stdin: NodeJS.ReadStream): ReadableStream<Uint8Array> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- stdin without an encoding yields bytes
  return Readable.toWeb(stdin) as ReadableStream<Uint8Array>;
}
