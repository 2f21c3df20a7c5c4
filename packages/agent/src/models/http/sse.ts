import { ModelError } from '../model-error.js';

/** One server-sent event. */
export interface SseEvent {
  event: string;
  data: string;
}

/** Far beyond any real event; a line that never ends must not fill the memory. */
const maxEventCharacters = 16 * 1024 * 1024;

/**
 * Server-sent events from bytes, as the HTML standard has them: any line ending, comments, several data lines, a byte
 * order mark, characters split between chunks. What stands at the end of the stream without its final blank line is
 * given too, since some servers close that way; the reader notices by itself when its data is cut.
 */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<SseEvent> {
  const decoder = new TextDecoder();
  const parser = new SseParser();
  for await (const chunk of chunks) yield* parser.push(decoder.decode(chunk, { stream: true }));
  yield* parser.push(decoder.decode());
  yield* parser.end();
}

class SseParser {
  /** The pieces of the unfinished line; joined once, so that a long line costs linear time. */
  #line: string[] = [];
  #size = 0;
  #event = '';
  #data: string[] = [];
  #endedWithReturn = false;

  *push(text: string): Generator<SseEvent> {
    let start = this.#endedWithReturn && text.startsWith('\n') ? 1 : 0;
    if (text !== '') this.#endedWithReturn = text.endsWith('\r');
    const lineEnd = /\r\n|\n|\r/g;
    lineEnd.lastIndex = start;
    for (let match = lineEnd.exec(text); match; match = lineEnd.exec(text)) {
      this.#line.push(text.slice(start, match.index));
      start = lineEnd.lastIndex;
      const event = this.#takeLine();
      if (event) yield event;
    }
    if (start < text.length) this.#line.push(text.slice(start));
    this.#size += text.length;
    if (this.#size > maxEventCharacters)
      throw new ModelError('bad-response', 'The server sent an event of over 16 MB.');
  }

  *end(): Generator<SseEvent> {
    if (this.#line.length > 0) this.#takeLine();
    const event = this.#takeEvent();
    if (event) yield event;
  }

  #takeLine(): SseEvent | undefined {
    const line = this.#line.join('');
    this.#line = [];
    if (line === '') return this.#takeEvent();
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') this.#data.push(value);
    if (field === 'event') this.#event = value;
    return undefined;
  }

  #takeEvent(): SseEvent | undefined {
    const event = { event: this.#event, data: this.#data.join('\n') };
    const isEmpty = this.#data.length === 0;
    this.#event = '';
    this.#data = [];
    this.#size = 0;
    return isEmpty ? undefined : event;
  }
}
