import type { FleetIo } from './io.js';

const width = 24;

/** One line with how far a run is and how long it will take. */
export class Progress {
  readonly #io: FleetIo;
  readonly #total: number;
  readonly #startedAt = performance.now();
  #first: number | undefined;
  #shown = '';

  constructor(total: number, io: FleetIo) {
    this.#total = total;
    this.#io = io;
  }

  show(done: number, questions: number): void {
    this.#first ??= done;
    const filled = Math.round((done / this.#total) * width);
    const bar = `${'█'.repeat(filled)}${'░'.repeat(width - filled)}`;
    const asked = questions > 0 ? `  ${questions} questions: lathe fleet answer` : '';
    const line = `${bar} ${done}/${this.#total}${this.#timeLeft(done)}${asked}`;
    if (line === this.#shown) return;
    this.#shown = line;
    if (this.#io.isInteractive) this.#io.draw(`\r\u001b[K${line}`);
  }

  end(): void {
    if (this.#io.isInteractive && this.#shown !== '') this.#io.draw('\n');
  }

  #timeLeft(done: number): string {
    const ended = done - (this.#first ?? 0);
    if (ended === 0 || done === this.#total) return '';
    const seconds = Math.round((((performance.now() - this.#startedAt) / ended) * (this.#total - done)) / 1_000);
    const text =
      seconds < 90
        ? `${seconds} s`
        : seconds < 5_400
          ? `${Math.round(seconds / 60)} min`
          : `${(seconds / 3_600).toFixed(1)} h`;
    return `, about ${text} left`;
  }
}
