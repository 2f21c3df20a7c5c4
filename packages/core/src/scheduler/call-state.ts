import { setMaxListeners } from 'node:events';
import type { Pauses } from '../async/deadline.js';
import type { Approver, AuditRecord, CallEvent, CallOutcome, CallRequest, CallStatus } from '../contract/call.js';
import { boundMedia, type Part, type PartListUnion, toParts, toResponse } from '../contract/content.js';
import type { Display } from '../contract/display.js';
import { isToolError, type ToolErrorType } from '../contract/errors.js';
import type { Answer, ToolCall } from '../contract/tool-call.js';
import { fitText, keepEnds, placeOf, type Spill, withNote } from '../text/truncate.js';
import type { AnyTool } from '../tools/tools.js';
import { Declined } from './approve.js';
import { askPerson } from './ask-person.js';
import { CallFiles, type FileAccess } from './call-files.js';
import type { ReadyCall } from './prepare.js';

/** What a call needs of the scheduler that runs it. */
export interface CallServices {
  emit: (event: CallEvent) => void;
  audit: ((record: AuditRecord) => void) | undefined;
  /** Aborts with the batch of the call. */
  signal: AbortSignal;
  /** When the time that the call may take does not count. */
  pauses: Pauses;
  /** Who answers what the call asks while it runs. */
  approver: () => Approver;
  files: FileAccess | undefined;
  /** Runs other calls on behalf of this one, those of `tool` if one is given. */
  run(requests: readonly CallRequest[], signal: AbortSignal, tool?: AnyTool): Promise<CallOutcome[]>;
}

/** One call on its way through the steps. Its outcome is set once and never changes. */
export class CallState implements ToolCall {
  readonly id: string;
  readonly slots: ToolCall['slots'] = new Map();
  readonly name: string;
  readonly request: CallRequest;
  readonly record: Partial<AuditRecord> = {};
  ready: ReadyCall | undefined;
  outcome: CallOutcome | undefined;
  /** Called with the outcome. */
  onEnd: ((outcome: CallOutcome) => void) | undefined;
  readonly #services: CallServices;
  readonly #ended = new AbortController();
  #ownSignal: AbortSignal | undefined;
  #files: CallFiles | undefined;
  #nested = 0;
  readonly #startedAt = Date.now();
  readonly #clock = performance.now();

  constructor(id: string, request: CallRequest, services: CallServices) {
    this.id = id;
    this.name = request.name ?? '';
    this.request = request;
    this.#services = services;
  }

  get pauses(): Pauses {
    return this.#services.pauses;
  }

  get directory(): string {
    return this.#access().workspace.root;
  }

  run(requests: readonly CallRequest[], signal: AbortSignal, tool?: AnyTool): Promise<CallOutcome[]> {
    return contained(this.#run(requests, signal, tool));
  }

  ask(prompt: string, options: readonly string[] = []): Promise<Answer> {
    return contained(this.#ask(prompt, options));
  }

  locate(path: string): Promise<string> {
    return contained(this.#useFiles((files) => files.locate(path)));
  }

  readText(path: string): Promise<string> {
    return contained(this.#useFiles((files) => files.readText(path)));
  }

  write(path: string, text: string): Promise<string> {
    return contained(this.#useFiles((files) => this.#write(files, path, text)));
  }

  async #run(requests: readonly CallRequest[], signal: AbortSignal, tool?: AnyTool): Promise<CallOutcome[]> {
    if (this.outcome !== undefined) throw new Error('A call that has ended cannot run other calls');
    const named = requests.map((each) => ({ ...each, id: `${this.id}/${each.id || ++this.#nested}` }));
    const own = this.#signal();
    return this.#services.run(named, signal === own ? own : AbortSignal.any([signal, own]), tool);
  }

  async #ask(prompt: string, options: readonly string[]): Promise<Answer> {
    const { id, name, ready } = this;
    const { displayName = name } = ready?.tool ?? {};
    const call = {
      callId: `${id}/${++this.#nested}`,
      tool: name,
      displayName,
      description: ready?.description ?? name,
    };
    const clock = performance.now();
    const question = { ...call, args: { prompt, options }, prompt, options };
    const { answer, decision } = await askPerson(question, this.#services.approver(), this.#signal());
    this.#audit({
      callId: call.callId,
      tool: name,
      proposed: question.args,
      ...(decision && { decision }),
      status: 'success',
      durationMs: Math.round(performance.now() - clock),
    });
    return answer;
  }

  async #write(files: CallFiles, path: string, text: string): Promise<string> {
    if (this.record.executed === undefined) throw new Error('A tool writes in execute, after its call was approved');
    return files.write(path, text);
  }

  async #useFiles<T>(use: (files: CallFiles) => Promise<T>): Promise<T> {
    const signal = this.#signal();
    this.#files ??= new CallFiles(
      this.#access(),
      async (tool, args) => (await this.#run([{ name: tool.name, args }], signal, tool))[0],
      signal,
    );
    return use(this.#files);
  }

  #access(): FileAccess {
    const { files } = this.#services;
    if (files) return files;
    throw new Error('This scheduler has no files for tools: give it a workspace with the option files');
  }

  /** Aborts when the call ends, so that code it leaves behind can do nothing more through it. */
  #signal(): AbortSignal {
    this.#ownSignal ??= AbortSignal.any([this.#services.signal, this.#ended.signal]);
    setMaxListeners(0, this.#ownSignal);
    return this.#ownSignal;
  }

  update(status: CallStatus): void {
    if (this.outcome !== undefined) return;
    const { id: callId, name, ready } = this;
    const description = ready?.description ?? name;
    const args: unknown = ready ? ready.params : this.request.args;
    this.#services.emit({ type: 'call-update', callId, name, status, description, args });
  }

  output(display: Display): void {
    if (this.outcome === undefined) this.#services.emit({ type: 'call-output', callId: this.id, display });
  }

  report(event: unknown): void {
    if (this.outcome === undefined) this.#services.emit({ type: 'subagent-event', callId: this.id, event });
  }

  /** For people. */
  notify(messages: readonly string[]): void {
    for (const message of messages) this.#services.emit({ type: 'notice', level: 'warning', message });
  }

  finish(what: Pick<CallOutcome, 'status' | 'llmContent' | 'returnDisplay' | 'error'>): void {
    if (this.outcome !== undefined) return;
    const { id: callId, name, record } = this;
    const durationMs = Math.round(performance.now() - this.#clock);
    const failure = what.status === 'success' ? undefined : (what.error?.message ?? 'failed');
    const response = toResponse({ callId, name }, what.llmContent, failure);
    this.outcome = {
      callId,
      name,
      ...what,
      response,
      description: this.ready?.description ?? name,
      startedAt: this.#startedAt,
      durationMs,
      ...(record.verdict && { verdict: record.verdict }),
      ...(record.decision && { decision: record.decision }),
    };
    this.#audit({
      callId,
      tool: name,
      proposed: this.request.args,
      ...record,
      status: what.status,
      ...(what.error && { errorType: what.error.type }),
      durationMs,
    });
    this.#ended.abort(new Error('the call has ended'));
    this.onEnd?.(this.outcome);
    this.#services.emit({ type: 'call-end', outcome: this.outcome });
  }

  /** A log that throws must not change what becomes of the call. */
  #audit(record: AuditRecord): void {
    try {
      this.#services.audit?.(record);
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  }

  cancel(message: string, error?: CallOutcome['error']): void {
    this.finish({
      status: 'cancelled',
      llmContent: `[Operation Cancelled] Reason: ${message}`,
      returnDisplay: message,
      ...(error && { error }),
    });
  }

  /** Turns whatever was thrown into the outcome. */
  fail(thrown: unknown): void {
    if (thrown instanceof Declined) {
      const wish = thrown.message === '' ? '' : ` They said: ${thrown.message}`;
      const message = `The user did not allow this call.${wish}`;
      this.cancel(message, { type: 'execution_denied', message });
      return;
    }
    const error = describe(thrown);
    this.finish({
      status: 'error',
      llmContent: error.message,
      returnDisplay: `Error: ${error.message}`,
      error,
    });
  }
}

/** Code that does not wait for what it started must not end the program when that fails. Code that waits still gets the error. */
function contained<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

/** A `ToolError` speaks for itself; anything else is a bug in the tool and is named as one. */
function describe(thrown: unknown): { type: ToolErrorType; message: string } {
  if (isToolError(thrown)) return { type: thrown.type, message: shorten(thrown.message) };
  return { type: 'unhandled_exception', message: `The tool failed unexpectedly (${shorten(nameThrown(thrown))}).` };
}

/** Anything can be thrown, also what cannot be turned into text. */
function nameThrown(thrown: unknown): string {
  try {
    return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
  } catch {
    return 'it threw something that has no text';
  }
}

const maxMessageChars = 20_000;

function shorten(message: string): string {
  if (message.length <= maxMessageChars) return message;
  const { head, tail, omitted } = keepEnds(message, maxMessageChars);
  return `${head}\n[${omitted} characters left out]\n${tail}`;
}

/** Cuts the text of a result to the tool's budget, and its media. The whole text goes to a file that the result names. */
export async function fit(content: PartListUnion, ready: ReadyCall, spill: Spill): Promise<PartListUnion> {
  const limit = ready.tool.maxOutputChars;
  const bounded = boundMedia(content);
  const parts = toParts(bounded);
  const text = parts.map((part) => part.text ?? '').join('');
  if (text.length <= limit) return bounded;
  const name = `${ready.tool.name}-${ready.call.id}`;
  if (parts.every((part) => part.text !== undefined)) return fitText(text, { limit, name, spill });
  return cutInOrder(parts, limit, await placeOf(name, text, spill));
}

/** Keeps media where they are; of the texts, those that fit, and the ends of the first that does not. */
function cutInOrder(parts: readonly Part[], limit: number, place: string): Part[] {
  let left = limit;
  let isCut = false;
  return parts.flatMap((part): Part[] => {
    if (part.text === undefined) return [part];
    if (isCut) return [];
    isCut = part.text.length > left;
    if (isCut) return [{ text: withNote(keepEnds(part.text, left), place) }];
    left -= part.text.length;
    return [part];
  });
}
