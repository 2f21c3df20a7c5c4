import type { AgentContext, ClientCapabilities, CreateElicitationResponse } from '@agentclientprotocol/sdk';
import { methods, type RequestPermissionRequest, type SessionUpdate } from '@agentclientprotocol/sdk';
import { untilAborted, visibleText } from '@lathe/core/host';

type Form = { mode: 'form'; requestedSchema: object };
type Page = { mode: 'url'; url: string; elicitationId: string };

/** The editor, as one session sees it. Questions end with their signal, with the prompt and with the session. */
export class SessionClient {
  readonly capabilities: ClientCapabilities;
  readonly ended = new AbortController();
  /** Aborted when the prompt that is worked on is cancelled. */
  turn: AbortSignal = this.ended.signal;
  /** Known when the session is open. */
  sessionId = '';
  readonly #editor: AgentContext;

  constructor(editor: AgentContext, capabilities: ClientCapabilities) {
    this.#editor = editor;
    this.capabilities = capabilities;
  }

  /** Resolves when the editor can take more. An editor that reads nothing does not hold up the end of its session. */
  async update(update: SessionUpdate): Promise<void> {
    const sent = this.#editor.notify(methods.client.session.update, { sessionId: this.sessionId, update });
    await untilAborted(sent, this.ended.signal).catch(() => undefined);
  }

  async say(text: string): Promise<void> {
    await this.update({ sessionUpdate: 'agent_message_chunk', content: textBlock(text) });
  }

  /** Something a person should know that the model did not say. */
  async note(severity: 'info' | 'warning', message: string): Promise<void> {
    const title = visibleText(message.trim());
    if (title === '') return;
    if (this.capabilities.session?.notices) await this.update({ sessionUpdate: 'notice', severity, title });
    else await this.say(`\n\n> ${title.replaceAll('\n', '\n> ')}\n\n`);
  }

  /** The id of the option that was chosen; anything else if none was. */
  async askPermission(question: Omit<RequestPermissionRequest, 'sessionId'>, signal: AbortSignal): Promise<unknown> {
    const answer = await this.#request<object>(methods.client.session.requestPermission, question, signal);
    const { outcome, optionId } = { ...Object({ ...Object(answer) }.outcome) };
    return outcome === 'selected' ? optionId : undefined;
  }

  elicit(question: { message: string } & (Form | Page), signal: AbortSignal): Promise<CreateElicitationResponse> {
    return this.#request(methods.client.elicitation.create, question, signal);
  }

  async readTextFile(path: string, signal: AbortSignal): Promise<string | undefined> {
    const { content } = await this.#request<{ content?: unknown }>(methods.client.fs.readTextFile, { path }, signal);
    return typeof content === 'string' ? content : undefined;
  }

  async writeTextFile(path: string, content: string, signal: AbortSignal): Promise<void> {
    await this.#request(methods.client.fs.writeTextFile, { path, content }, signal);
  }

  #request<R>(method: string, params: object, signal: AbortSignal): Promise<R> {
    const ends = AbortSignal.any([signal, this.turn]);
    ends.throwIfAborted();
    const options = { cancellationSignal: ends, stopWaitingOnCancel: true };
    return this.#editor.request<R>(method, { sessionId: this.sessionId, ...params }, options);
  }
}

export const textBlock = (text: string) => ({ type: 'text' as const, text: visibleText(text) });
