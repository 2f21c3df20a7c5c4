import {
  type AgentContext,
  type ClientCapabilities,
  type CreateElicitationResponse,
  type ElicitationSchema,
  methods,
  type ReadTextFileResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';
import { visibleText } from '@lathe/core/host';

/** The editor, as one session sees it. A question ends when its signal is aborted, even if nobody answers it. */
export class SessionClient {
  readonly capabilities: ClientCapabilities;
  /** Known when the session is open. */
  sessionId = '';
  readonly #client: AgentContext;
  readonly #ended: AbortSignal;

  constructor(client: AgentContext, capabilities: ClientCapabilities, ended: AbortSignal) {
    this.#client = client;
    this.#ended = ended;
    this.capabilities = capabilities;
  }

  /** Resolves when the editor can take more, or will take no more. */
  async update(update: SessionUpdate): Promise<void> {
    if (this.#ended.aborted) return;
    const { sessionId } = this;
    await untilEither(this.#client.notify(methods.client.session.update, { sessionId, update }), this.#ended);
  }

  async say(text: string): Promise<void> {
    await this.update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: visibleText(text) } });
  }

  /** Something a person should know that the model did not say. */
  async note(severity: 'info' | 'warning', message: string): Promise<void> {
    const title = visibleText(message);
    if (title.trim() === '') return;
    if (this.capabilities.session?.notices) await this.update({ sessionUpdate: 'notice', severity, title });
    else await this.say(`\n\n> ${message.replaceAll('\n', '\n> ')}\n\n`);
  }

  askPermission(
    question: Omit<RequestPermissionRequest, 'sessionId'>,
    signal: AbortSignal,
  ): Promise<RequestPermissionResponse> {
    const params = { sessionId: this.sessionId, ...question };
    return this.#client.request(methods.client.session.requestPermission, params, until(signal));
  }

  elicit(
    question:
      | { mode: 'form'; message: string; requestedSchema: ElicitationSchema }
      | { mode: 'url'; message: string; url: string; elicitationId: string },
    signal: AbortSignal,
  ): Promise<CreateElicitationResponse> {
    const params = { sessionId: this.sessionId, ...question };
    return this.#client.request(methods.client.elicitation.create, params, until(signal));
  }

  async readTextFile(path: string, signal: AbortSignal): Promise<string> {
    const params = { sessionId: this.sessionId, path };
    const method = methods.client.fs.readTextFile;
    return (await this.#client.request<ReadTextFileResponse>(method, params, until(signal))).content;
  }

  async writeTextFile(path: string, content: string, signal: AbortSignal): Promise<void> {
    const params = { sessionId: this.sessionId, path, content };
    await this.#client.request(methods.client.fs.writeTextFile, params, until(signal));
  }
}

/** An editor that reads nothing must not hold up the end of its session. */
function untilEither(sent: Promise<void>, ended: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      ended.removeEventListener('abort', done);
      resolve();
    };
    ended.addEventListener('abort', done);
    // An editor that is gone learns nothing more.
    sent.then(done, done);
  });
}

function until(signal: AbortSignal) {
  signal.throwIfAborted();
  return { cancellationSignal: signal, stopWaitingOnCancel: true };
}
