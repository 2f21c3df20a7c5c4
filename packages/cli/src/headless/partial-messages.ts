import type { AgentEvent } from '@lathe/agent';

type Kind = 'text' | 'thinking';

/** Converts deltas to the `stream_event` messages of `--include-partial-messages`. */
export class PartialMessages {
  readonly #send: (event: object, parent: string | null) => void;
  /** The open block, by the call that started its agent. */
  readonly #blocks = new Map<string | null, { index: number; kind: Kind }>();

  constructor(send: (event: object, parent: string | null) => void) {
    this.#send = send;
  }

  event(event: AgentEvent, parent: string | null): void {
    if (event.type === 'turn-start') this.#send({ type: 'message_start' }, parent);
    if (event.type === 'text-delta') this.#delta('text', event.text, parent);
    if (event.type === 'reasoning-delta') this.#delta('thinking', event.text, parent);
    if (event.type !== 'retry' && event.type !== 'usage') return;
    this.#close(parent);
    this.#blocks.delete(parent);
    this.#send({ type: 'message_stop' }, parent);
    if (event.type === 'retry') this.#send({ type: 'message_start' }, parent);
  }

  #delta(kind: Kind, text: string, parent: string | null): void {
    const open = this.#blocks.get(parent);
    const index = open?.kind === kind ? open.index : this.#open(kind, parent);
    this.#send({ type: 'content_block_delta', index, delta: { type: `${kind}_delta`, [kind]: text } }, parent);
  }

  #open(kind: Kind, parent: string | null): number {
    const index = (this.#blocks.get(parent)?.index ?? -1) + 1;
    this.#close(parent);
    this.#blocks.set(parent, { index, kind });
    this.#send({ type: 'content_block_start', index, content_block: { type: kind, [kind]: '' } }, parent);
    return index;
  }

  #close(parent: string | null): void {
    const open = this.#blocks.get(parent);
    if (open) this.#send({ type: 'content_block_stop', index: open.index }, parent);
  }
}
