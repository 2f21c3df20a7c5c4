import { closeSync, constants, existsSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';

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

  async open(): Promise<OutputPipe> {
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
    const reader = new Socket({ fd, readable: true, writable: false });
    const release = ({ isFree }: { isFree: boolean }) => {
      closeWriter();
      reader.destroy();
      if (isFree) this.#idle.push(path);
      else rmSync(path, { force: true });
    };
    return { reader, writer, closeWriter, release };
  }
}
