import { asList, asObject, isObject, type JsonObject, parseJson } from '../json.js';
import type { Effort, Model, ModelEvent, ModelFeatures, ModelRequest } from '../model.js';
import { ModelError } from '../model-error.js';
import { Answer } from '../wire/answer.js';
import { effortRow } from '../wire/effort.js';
import { LocalAnswer } from '../wire/local-answer.js';
import { explainStatus, serverName } from '../wire/reported-error.js';
import type { Endpoint, WireFormat } from '../wire/wire-format.js';
import { defaultLimits, type HttpLimits, type HttpResponse, readText, sendRequest } from './http.js';
import { defaultRetryPolicy, type RetryPolicy, withRetries } from './retry.js';

export interface RemoteModelOptions extends Endpoint {
  contextWindow: number;
  /** The server passes on what a local model writes, so reasoning and calls may arrive as text. */
  isRaw?: boolean;
  proxy?: URL | undefined;
  limits?: Partial<HttpLimits> | undefined;
  retry?: Partial<RetryPolicy> | undefined;
}

/** A model behind HTTP: sends a request in one wire format, reads the stream, retries what may be retried. */
export class RemoteModel implements Model {
  readonly id: string;
  readonly provider: string;
  readonly contextWindow: number;
  readonly supports: ModelFeatures;
  readonly effortLevels: readonly Effort[];
  readonly #wire: WireFormat;
  readonly #options: RemoteModelOptions;
  readonly #url: URL;
  readonly #rejected = new RejectedOptions();

  constructor(wire: WireFormat, options: RemoteModelOptions) {
    this.id = options.model;
    this.provider = options.provider;
    this.contextWindow = options.contextWindow;
    this.supports = options.supports;
    this.effortLevels = effortRow(wire.name, options).levels;
    this.#wire = wire;
    this.#options = options;
    this.#url = join(options.baseUrl, wire.path(options));
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const policy = { ...defaultRetryPolicy, ...this.#options.retry };
    for (;;) {
      const body = this.#rejected.remove(this.#wire.body(request, this.#options));
      try {
        return yield* withRetries(() => this.#ask(request, bodyText(body), signal), policy, signal);
      } catch (error) {
        const option = this.#rejected.add(error, body);
        if (option === undefined) throw error;
        const reason = `${serverName(this.#options)} does not take ${option} for ${this.id}; asking without it.`;
        yield { type: 'retry', attempt: 1, delayMs: 0, reason };
      }
    }
  }

  async *#ask(request: ModelRequest, body: string, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const response = await sendRequest({
      url: this.#url,
      headers: { 'user-agent': 'lathe', ...this.#wire.headers(this.#options), ...this.#options.headers },
      body,
      signal,
      limits: { ...defaultLimits, ...this.#options.limits },
      proxy: this.#options.proxy,
    });
    const answer = this.#options.isRaw ? new LocalAnswer(request, this.provider) : new Answer(request, this.provider);
    try {
      for await (const chunk of readChunks(response, this.#options)) {
        if (chunk === 'done') answer.close();
        else this.#wire.read(chunk, answer, this.#options);
        yield* answer.takeDeltas();
      }
    } catch (error) {
      // After the server said that the answer is over, only the usage can still be missing.
      if (answer.reason === undefined || signal.aborted || isReported(error)) throw error;
    }
    signal.throwIfAborted();
    if (answer.reason === undefined) throw new ModelError('network', 'The answer broke off before its end.');
    yield* answer.finish();
  }
}

/** A base URL may have a query of its own, as with gateways that put an API version there. */
function join(baseUrl: string, operation: string): URL {
  const url = new URL(baseUrl);
  const { pathname, searchParams } = new URL(operation, 'http://base');
  url.pathname = url.pathname.replace(/\/+$/, '') + pathname;
  for (const [name, value] of searchParams) url.searchParams.set(name, value);
  return url;
}

function isReported(error: unknown): boolean {
  return !(error instanceof ModelError) || (error.kind !== 'network' && error.kind !== 'timeout');
}

type Chunk = Parameters<WireFormat['read']>[0] | 'done';

async function* readChunks({ status, headers, body }: HttpResponse, endpoint: Endpoint): AsyncGenerator<Chunk> {
  if (status !== 200) throw explainStatus(status, headers, await readText(body, 64 * 1024), endpoint);
  const type = (headers['content-type'] ?? '').toLowerCase();
  if (type.includes('json')) return yield* readWholeJson(await readText(body, 32 * 1024 * 1024), endpoint);
  if (type.includes('html')) throw explainStatus(status, headers, await readText(body, 64 * 1024), endpoint);
  let count = 0;
  for await (const data of readEvents(body)) {
    count += 1;
    if (data.trim() === '[DONE]') yield 'done';
    else if (data !== '') {
      const value = parseJson(data);
      if (value === undefined) throw new ModelError('network', 'A piece of the answer arrived damaged.');
      if (isObject(value)) yield value;
    }
  }
  if (count === 0)
    throw new ModelError('bad-response', `${endpoint.provider} sent an empty answer.`, { isTransient: true });
}

/** A server that does not stream sends one object, or a list of them in Google's format. */
function* readWholeJson(text: string, endpoint: Endpoint): Generator<Chunk> {
  const value = parseJson(text);
  if (value === undefined) throw explainStatus(200, {}, text, endpoint);
  for (const item of isObject(value) ? [value] : asList(value)) if (isObject(item)) yield item;
}

/** The JSON of a request body. Half a surrogate pair in the history would make a provider reject every later request. */
export function bodyText(body: object): string {
  const text = JSON.stringify(body);
  if (!text.includes('\\ud')) return text;
  return JSON.stringify(body, (_key, value: unknown) =>
    typeof value === 'string' ? value.replace(/\p{Surrogate}/gu, '\ufffd') : value,
  );
}

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

interface OptionalField {
  path: readonly string[];
  /** The name that servers use for it in error messages. */
  mention: RegExp;
}

/** Optional fields that improve an answer. Some servers, models and accounts reject them. */
const optionalFields: readonly OptionalField[] = [
  { path: ['reasoning', 'summary'], mention: /reasoning[. _]summar/i },
  { path: ['reasoning', 'effort'], mention: /reasoning[. _]effort/i },
  { path: ['reasoning_effort'], mention: /reasoning[. _]?effort/i },
  { path: ['include'], mention: /['"`]include|encrypted[ _]content/i },
  { path: ['reasoning'], mention: /['"`]reasoning['"`]/i },
  { path: ['output_config'], mention: /output_config|\beffort\b/i },
  { path: ['thinking_budget'], mention: /thinking_budget/i },
  { path: ['enable_thinking'], mention: /enable_thinking/i },
  { path: ['thinking'], mention: /\bthinking\b/i },
  { path: ['generationConfig', 'thinkingConfig'], mention: /thinking[_ ]?(?:config|level|budget)|\bthinking\b/i },
  { path: ['stream_options'], mention: /stream_options/i },
];

/** Remembers which optional fields a server rejected, so that they are left out from then on. */
class RejectedOptions {
  readonly #fields = new Set<OptionalField>();

  /** The field of `body` that the error blames, which is now known; undefined when it blames nothing optional. */
  add(error: unknown, body: object): string | undefined {
    if (!(error instanceof ModelError) || error.kind !== 'bad-request' || ![400, 422].includes(error.status ?? 0))
      return undefined;
    const found = optionalFields.find(({ path, mention }) => hasField(body, path) && mention.test(error.message));
    if (found) this.#fields.add(found);
    return found?.path.join('.');
  }

  /** The body without what was rejected before. */
  remove(body: object): object {
    return [...this.#fields].reduce((rest: object, { path }) => without(asObject(rest), path), body);
  }
}

function hasField(body: unknown, [first = '', ...rest]: readonly string[]): boolean {
  if (!isObject(body) || body[first] === undefined) return false;
  return rest.length === 0 || hasField(body[first], rest);
}

function without(body: JsonObject, [first = '', ...rest]: readonly string[]): JsonObject {
  if (rest.length > 0 && body[first] !== undefined) return { ...body, [first]: without(asObject(body[first]), rest) };
  const { [first]: _, ...others } = body;
  return others;
}
