import { closeSync, constants, existsSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';

const chunkBytes = 65_536;

/** One pipe for stdout and stderr together, which is what keeps their order. */
export interface OutputPipe {
  reader: Socket;
  /** To be given to the child as fd 1 and 2. */
  writer: number;
  /** To be called once the child has started: from then on only children hold the pipe open. */
  closeWriter(): void;
  /** Gives the pipe back; one that somebody still holds is not used again. */
  release(options: { isFree: boolean }): void;
}

/**
 * Named pipes, used again and again. Node gives its children sockets, which no program can open by the name
 * `/dev/stderr`, and one for each stream.
 */
export class OutputPipes {
  readonly #make: () => Promise<string>;
  readonly #idle: string[] = [];

  constructor(make: () => Promise<string>) {
    this.#make = make;
  }

  /** What is read is handed to `take`, in memory that the next piece is read into. */
  async open(take: (chunk: Buffer) => void): Promise<OutputPipe> {
    const idle = this.#idle.pop();
    // The directory may be gone when its helper was killed; a new helper makes a new one.
    const path = idle !== undefined && existsSync(idle) ? idle : await this.#make();
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(path, constants.O_WRONLY);
    let isWriterOpen = true;
    const closeWriter = () => {
      if (isWriterOpen) closeSync(writer);
      isWriterOpen = false;
    };
    const onread = {
      buffer: Buffer.allocUnsafeSlow(chunkBytes),
      callback: (length: number, buffer: Uint8Array) => {
        take(Buffer.from(buffer.buffer, buffer.byteOffset, length));
        return true;
      },
    };
    // The declared type of the constructor leaves `onread` out.
    const options = { fd, readable: true, writable: false, onread };
    const reader = new Socket(options);
    const release = ({ isFree }: { isFree: boolean }) => {
      closeWriter();
      reader.destroy();
      if (isFree) this.#idle.push(path);
      else rmSync(path, { force: true });
    };
    return { reader, writer, closeWriter, release };
  }
}
