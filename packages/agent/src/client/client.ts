import type {
  ApiMessage,
  ApiSession,
  FileChange,
  NumberedEvent,
  Question,
  QuestionAnswer,
  SessionSettings,
  SessionUsage,
} from './api-types.js';
import { sseEvents } from './sse-events.js';

export interface ClientOptions {
  /** What `lathe serve --agent` printed: `http://127.0.0.1:4096/#token=…`; the token may also be separate. */
  url: string | URL;
  token?: string;
}

export interface EventOptions {
  /** The last event that the reader has. */
  after?: number;
  signal?: AbortSignal;
  /** Called when the connection is there, and when it was cut. */
  onConnection?: (isConnected: boolean) => void;
}

/** The server rejected a request; `message` says why. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const reconnectMs = 500;

/** Talks to `lathe serve --agent`, from Node or a browser. */
export class LatheClient {
  readonly #origin: string;
  readonly #token: string;

  constructor({ url, token }: ClientOptions) {
    const { origin, hash } = new URL(url);
    this.#origin = origin;
    this.#token = token ?? new URLSearchParams(hash.slice(1)).get('token') ?? '';
  }

  /** Open sessions and those that can be opened, the newest first. */
  async sessions(): Promise<ApiSession[]> {
    const { sessions } = await this.#request<{ sessions: ApiSession[] }>('GET', '');
    return sessions;
  }

  createSession(settings: SessionSettings = {}): Promise<ApiSession> {
    return this.#request('POST', '', settings);
  }

  session(id: string): Promise<ApiSession> {
    return this.#request('GET', at(id));
  }

  /** Continues an earlier session. An open one stays as it is. */
  openSession(id: string): Promise<ApiSession> {
    return this.#request('POST', `${at(id)}/open`);
  }

  /** Cancels its work. The session can be opened again. */
  async closeSession(id: string): Promise<void> {
    await this.#request('POST', `${at(id)}/close`);
  }

  async deleteSession(id: string): Promise<void> {
    await this.#request('DELETE', at(id));
  }

  /** Changes mode, model or effort. */
  updateSession(id: string, settings: SessionSettings): Promise<ApiSession> {
    return this.#request('PATCH', at(id), settings);
  }

  /** Starts work on a prompt; `events` says what happens. Rejected while the session is at work. */
  async prompt(id: string, text: string): Promise<void> {
    await this.#request('POST', `${at(id)}/prompt`, { text });
  }

  /** Adds to the work in progress. A `steer-end` event says whether the model got it. */
  async steer(id: string, text: string): Promise<void> {
    await this.#request('POST', `${at(id)}/steer`, { text });
  }

  /** Ends the work in progress. */
  async cancel(id: string): Promise<void> {
    await this.#request('POST', `${at(id)}/cancel`);
  }

  async questions(id: string): Promise<Question[]> {
    return (await this.#request<{ questions: Question[] }>('GET', `${at(id)}/questions`)).questions;
  }

  /** The first answer counts; a later one is rejected with status 409. */
  async answer(id: string, questionId: string, answer: QuestionAnswer): Promise<void> {
    await this.#request('POST', `${at(id)}/questions${at(questionId)}`, answer);
  }

  /** The conversation so far, and the event from which `events` continues. */
  messages(id: string): Promise<{ messages: ApiMessage[]; lastEventId: number }> {
    return this.#request('GET', `${at(id)}/messages`);
  }

  async files(id: string): Promise<FileChange[]> {
    return (await this.#request<{ files: FileChange[] }>('GET', `${at(id)}/files`)).files;
  }

  usage(id: string): Promise<SessionUsage> {
    return this.#request('GET', `${at(id)}/usage`);
  }

  /**
   * What happens in an open session, from the event after `after` (default: as far back as the server can). Connects again
   * after a cut. Ends after `session-end`, or when `signal` aborts.
   */
  async *events(id: string, options: EventOptions = {}): AsyncGenerator<NumberedEvent> {
    const { signal, onConnection } = options;
    let last = options.after ?? 0;
    for (;;) {
      try {
        for await (const event of this.#connect(id, last, options)) {
          last = event.id;
          yield event;
          if (event.type === 'session-end') return;
        }
      } catch (error) {
        if (error instanceof ApiError) throw error;
      }
      if (signal?.aborted) return;
      onConnection?.(false);
      await new Promise((resolve) => setTimeout(resolve, reconnectMs));
    }
  }

  async *#connect(id: string, after: number, { signal, onConnection }: EventOptions): AsyncGenerator<NumberedEvent> {
    const headers = { 'last-event-id': String(after) };
    const { body } = await this.#fetch('GET', `${at(id)}/events`, { headers, ...(signal && { signal }) });
    onConnection?.(true);
    let last = after;
    for await (const { id: number, data } of body ? sseEvents(body) : []) {
      last = Number(number || last);
      const event: NumberedEvent = { ...JSON.parse(data), id: last };
      yield event;
    }
  }

  async #request<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await this.#fetch(method, path, {
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    // An answer without content has no type.
    return JSON.parse((await response.text()) || 'null');
  }

  async #fetch(
    method: string,
    path: string,
    init: { headers?: Record<string, string>; body?: string; signal?: AbortSignal },
  ) {
    const headers = { ...init.headers, authorization: `Bearer ${this.#token}` };
    const response = await fetch(`${this.#origin}/v1/sessions${path}`, { ...init, method, headers });
    if (response.ok) return response;
    throw new ApiError(response.status, messageIn(await response.text()) ?? response.statusText);
  }
}

/** An id may come from anywhere, such as the address of a page, and must not lead to another request. */
const at = (id: string) => `/${encodeURIComponent(id)}`;

function messageIn(text: string): string | undefined {
  try {
    return JSON.parse(text).error.message;
  } catch {
    // Not an answer of the server itself.
    return undefined;
  }
}
