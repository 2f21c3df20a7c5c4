import { ModelError } from '../model-error.js';

/** Far beyond any real event. A line that never ends must not fill the memory. */
const maxEventCharacters = 16 * 1024 * 1024;

/**
 * Reads the data of server-sent events as the HTML standard defines them: any line ending, comments, several data
 * lines, a byte order mark, characters split between chunks. Also yields an event at the end of the stream without its
 * final blank line, since some servers close that way; the caller notices if its data is cut.
 */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
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
  #data: string[] = [];
  #endedWithReturn = false;

  *push(text: string): Generator<string> {
    let start = this.#endedWithReturn && text.startsWith('\n') ? 1 : 0;
    if (text !== '') this.#endedWithReturn = text.endsWith('\r');
    const lineEnd = /\r\n|\n|\r/g;
    lineEnd.lastIndex = start;
    for (let match = lineEnd.exec(text); match; match = lineEnd.exec(text)) {
      this.#line.push(text.slice(start, match.index));
      start = lineEnd.lastIndex;
      const data = this.#takeLine();
      if (data !== undefined) yield data;
    }
    if (start < text.length) this.#line.push(text.slice(start));
    this.#size += text.length;
    if (this.#size > maxEventCharacters)
      throw new ModelError('bad-response', 'The server sent an event of over 16 MB.');
  }

  *end(): Generator<string> {
    if (this.#line.length > 0) this.#takeLine();
    const data = this.#takeEvent();
    if (data !== undefined) yield data;
  }

  #takeLine(): string | undefined {
    const line = this.#line.join('');
    this.#line = [];
    if (line === '') return this.#takeEvent();
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    if (field === 'data') this.#data.push(colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1));
    return undefined;
  }

  #takeEvent(): string | undefined {
    const data = this.#data.length > 0 ? this.#data.join('\n') : undefined;
    this.#data = [];
    this.#size = 0;
    return data;
  }
}
