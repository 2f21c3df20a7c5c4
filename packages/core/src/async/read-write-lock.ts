/** Work that only reads runs in parallel, all other work alone, in order of arrival. */
export class ReadWriteLock {
  readonly #waiting: Waiting[] = [];
  readonly #maxReaders: number;
  #running = 0;
  #isTaken = false;

  constructor(maxReaders: number) {
    this.#maxReaders = maxReaders;
  }

  /** Rejects if `signal` is aborted before the work could start. */
  async run<T>(access: 'read' | 'write', signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#acquire(access, signal);
    try {
      return await work();
    } finally {
      this.#running--;
      this.#isTaken = false;
      this.#startNext();
    }
  }

  #acquire(access: 'read' | 'write', signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        const index = this.#waiting.indexOf(entry);
        if (index >= 0) this.#waiting.splice(index, 1);
        reject(signal.reason);
        this.#startNext();
      };
      const start = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const entry = { access, start };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(entry);
      if (signal.aborted) leave();
      else this.#startNext();
    });
  }

  #startNext(): void {
    for (let next = this.#waiting[0]; next && this.#hasRoomFor(next); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#running++;
      this.#isTaken = next.access === 'write';
      next.start();
    }
  }

  #hasRoomFor({ access }: Waiting): boolean {
    return access === 'read' ? !this.#isTaken && this.#running < this.#maxReaders : this.#running === 0;
  }
}

interface Waiting {
  access: 'read' | 'write';
  start: () => void;
}
