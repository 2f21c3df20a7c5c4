import type { AgentEvent } from '@lathe/agent';
import { visibleText } from '@lathe/core/host';
import type { Io } from '../command-line/io.js';
import type { Outcome, Output } from './output.js';

/** Writes the answer to stdout, and notices and warnings to stderr. */
export class TextOutput implements Output {
  readonly #io: Io;

  constructor(io: Io) {
    this.#io = io;
  }

  begin(): void {}

  event(event: AgentEvent): void {
    const note = noteOf(event);
    if (note !== undefined) this.#io.err(`lathe: ${visibleText(note)}`);
  }

  end({ text, message, value }: Outcome): void {
    if (value !== undefined) this.#io.out(JSON.stringify(value));
    else if (text !== '') this.#io.out(visibleText(text));
    if (message !== undefined) this.#io.err(`lathe: ${visibleText(message)}`);
  }
}

function noteOf(event: AgentEvent): string | undefined {
  if (event.type === 'subagent-event') return noteOf(event.event);
  if (event.type === 'notice' && event.level === 'warning') return event.message;
  // What is repeated at once has a notice of its own.
  if (event.type === 'retry' && event.delayMs > 0)
    return `${event.reason} Retrying in ${Math.ceil(event.delayMs / 1000)} s.`;
  if (event.type === 'call-end' && event.outcome.error?.type === 'execution_denied') return event.outcome.error.message;
  return undefined;
}
