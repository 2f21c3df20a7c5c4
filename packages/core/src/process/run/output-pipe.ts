import { closeSync, constants, existsSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';

const chunkBytes = 65_536;

/** One pipe for both stdout and stderr, which keeps their order. */
export interface OutputPipe {
  /** The child's fd 1 and 2. */
  writer: number;
  /** Call it once the child has started: from then on only children hold the pipe open. */
  closeWriter(): void;
  /** Calls `take` with each chunk, in a buffer that the next chunk overwrites. Call it once. */
  read(take: (chunk: Buffer) => void): Socket;
  /** Returns the pipe to the pool; with `isFree: false`, because a process still holds it, removes it instead. */
  release(options: { isFree: boolean }): void;
}

/**
 * Named pipes: Node gives its children sockets, which no program can open by the name `/dev/stderr`, and one for each
 * stream. A pipe is used again after its command, which saves 1.6 of 4.2 ms per command, the time to start `mkfifo`:
 * `npm run bench -- --no-peers --only 'shell: run echo'`.
 */
export class OutputPipes {
  readonly #make: () => Promise<string>;
  /** Paths of unused pipes. */
  readonly #idle: string[] = [];

  constructor(make: () => Promise<string>) {
    this.#make = make;
  }

  async open(): Promise<OutputPipe> {
    const idle = this.#idle.pop();
    // If the guardian was killed, its directory is gone; a new guardian makes a new one.
    const path = idle !== undefined && existsSync(idle) ? idle : await this.#make();
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(path, constants.O_WRONLY);
    let isWriterOpen = true;
    let reader: Socket | undefined;
    const closeWriter = () => {
      if (isWriterOpen) closeSync(writer);
      isWriterOpen = false;
    };
    const read = (take: (chunk: Buffer) => void) => {
      reader = new Socket(readingInto(fd, take));
      return reader;
    };
    const release = ({ isFree }: { isFree: boolean }) => {
      closeWriter();
      if (reader) reader.destroy();
      else closeSync(fd);
      if (isFree) this.#idle.push(path);
      else rmSync(path, { force: true });
    };
    return { writer, closeWriter, read, release };
  }
}

/** The declared type of a socket's options leaves `onread` out. */
function readingInto(fd: number, take: (chunk: Buffer) => void) {
  const buffer = Buffer.allocUnsafeSlow(chunkBytes);
  const callback = (length: number) => {
    take(buffer.subarray(0, length));
    return true;
  };
  return { fd, readable: true, writable: false, onread: { buffer, callback } };
}
