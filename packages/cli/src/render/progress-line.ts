import type { BatchProgress } from '@lathe/agent';

/** How far many tasks are, and what a person should know. */
type Progress = BatchProgress & { note?: string };

interface Output {
  columns?: number;
  write(text: string): unknown;
}

const barWidth = 24;
/** Without a terminal, a line is written after so many percent. */
const stepPercent = 10;

/** A bar on one line of the terminal with the time that is left; elsewhere, a line now and then. */
export class ProgressLine {
  readonly #output: Output;
  readonly #isTerminal: boolean;
  readonly #startedAt = performance.now();
  #lastStep = -1;
  #isShown = false;

  constructor(output: Output, { isTerminal }: { isTerminal: boolean }) {
    this.#output = output;
    this.#isTerminal = isTerminal;
  }

  show(progress: Progress): void {
    const seconds = (performance.now() - this.#startedAt) / 1000;
    if (this.#isTerminal) {
      const text = progressText(progress, seconds).slice(0, (this.#output.columns ?? 80) - 1);
      this.#output.write(`\r\u001b[K${text}`);
      this.#isShown = true;
      return;
    }
    const step = Math.floor((100 * progress.done) / Math.max(1, progress.total) / stepPercent);
    if (step === this.#lastStep) return;
    this.#lastStep = step;
    this.#output.write(`${progressText(progress, seconds)}\n`);
  }

  end(): void {
    if (this.#isShown) this.#output.write('\n');
    this.#isShown = false;
  }
}

/** `[#####-------] 12/200 · 4 running · 1 failed · 2m 10s left`. */
export function progressText({ total, done, now, failed, running, note }: Progress, seconds: number): string {
  const filled = Math.round((barWidth * done) / Math.max(1, total));
  const bar = `[${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}] ${done}/${total}`;
  const left = total - done;
  const isKnown = now > 0 && left > 0;
  const parts = [
    bar,
    ...(running > 0 ? [`${running} running`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(isKnown ? [`${duration((seconds / now) * left)} left`] : []),
    ...(note === undefined ? [] : [note]),
  ];
  return parts.join(' · ');
}

function duration(seconds: number): string {
  const whole = Math.max(1, Math.round(seconds));
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${whole % 60}s`;
  return `${Math.floor(whole / 3600)}h ${Math.floor((whole % 3600) / 60)}m`;
}
