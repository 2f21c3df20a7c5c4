/** Messages for an agent that do not come from the person, such as the reports of its background tasks. */
export class Inbox {
  readonly #onMessage: (() => void) | undefined;
  readonly #messages: string[] = [];
  readonly #waiting = new Set<() => void>();
  #expected = 0;

  /** With `onMessage`, somebody starts a turn for a message that arrives while the agent is idle. */
  constructor(onMessage?: () => void) {
    this.#onMessage = onMessage;
  }

  get hasMessages(): boolean {
    return this.#messages.length > 0;
  }

  /** Whether the agent must wait for its messages itself. */
  get mustWait(): boolean {
    return this.#onMessage === undefined;
  }

  /** Announces one message. Returns how to deliver it. */
  expect(): (message: string) => void {
    this.#expected += 1;
    let isDelivered = false;
    return (message) => {
      if (isDelivered) return;
      isDelivered = true;
      this.#expected -= 1;
      this.#messages.push(message);
      this.wake();
      this.#onMessage?.();
    };
  }

  take(): string[] {
    return this.#messages.splice(0);
  }

  /** Ends the waiting of `next`. */
  wake(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Waits until there is a message, or none is expected. */
  async next(signal: AbortSignal): Promise<void> {
    if (this.hasMessages || this.#expected === 0) return;
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const end = (settle: () => void) => () => {
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', cancel);
        settle();
      };
      const wake = end(resolve);
      const cancel = end(() => reject(signal.reason));
      this.#waiting.add(wake);
      signal.addEventListener('abort', cancel, { once: true });
    });
  }
}
