import { createHash } from 'node:crypto';
import {
  appendFileSync,
  constants,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
} from 'node:fs';
import { textOf } from '@lathe/core';
import { redactedJson } from '@lathe/core/host';
import { isObject, parseJson } from '../json.js';
import type { FinishReason, Message, Model, ModelEvent, ModelRequest, Usage } from '../model.js';
import { ModelError, type ModelErrorKind } from '../model-error.js';

/** The answer of a model to one request, or its error. */
export interface Exchange {
  /** A hash of the conversation up to this request. */
  conversation: string;
  /** The new messages, for people and to explain where a replay differs. */
  asked: readonly Message[];
  answer?: { message: Message; reason: FinishReason; usage: Usage; problems: Record<string, string> };
  error?: { kind: ModelErrorKind; message: string };
}

export type RecordedModelInfo = Pick<Model, 'id' | 'provider' | 'contextWindow' | 'supports'>;

const version = 1;
const maxBytes = 512 * 1024 * 1024;

/** Writes model traffic as JSON lines: first the model, then one line per request. Secrets are removed. */
export class RecordingWriter {
  readonly #file: number;
  readonly #secrets: readonly string[];
  #hasBegun = false;

  /** The first answer replaces an earlier recording. Throws if the file exists and is not a recording. */
  constructor(path: string, secrets: readonly string[]) {
    const { O_RDWR, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
    this.#file = openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK, 0o600);
    const info = fstatSync(this.#file);
    if (!info.isFile() || (info.size > 0 && !isRecording(readHead(this.#file))))
      throw new Error(`${path} exists and is not a recording; choose another name for --record`);
    fchmodSync(this.#file, 0o600);
    this.#secrets = secrets;
  }

  write(model: RecordedModelInfo, request: ModelRequest, outcome: Pick<Exchange, 'answer' | 'error'>): void {
    const { id, provider, contextWindow, supports } = model;
    const asked = request.history.slice(request.history.findLastIndex(({ role }) => role === 'model') + 1);
    const exchange: Exchange = { conversation: conversationKey(request, this.#secrets), asked, ...outcome };
    if (!this.#hasBegun) this.#append({ recording: version, model: { id, provider, contextWindow, supports } });
    this.#append(exchange);
  }

  #append(line: object): void {
    try {
      if (!this.#hasBegun) ftruncateSync(this.#file);
      this.#hasBegun = true;
      appendFileSync(this.#file, `${redactedJson(line, this.#secrets)}\n`);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new ModelError('bad-request', `The recording cannot be written: ${reason}`, { cause: error });
    }
  }
}

/** Throws when the file is missing or not a complete recording. */
export function readRecording(path: string): { model: RecordedModelInfo; exchanges: Exchange[] } {
  const info = statSync(path, { throwIfNoEntry: false });
  if (!info) throw new Error(`${path} does not exist`);
  if (info.isDirectory()) throw new Error(`${path} is not a recording but a folder`);
  if (info.size > maxBytes) throw new Error(`${path} is larger than any recording`);
  const [head = '', ...lines] = readFileSync(path, 'utf8').split('\n');
  const header = parseJson(head);
  if (!isRecording(head) || !isObject(header) || !isModel(header['model']))
    throw new Error(`${path} is not a recording of version ${version}`);
  const exchanges = lines.flatMap((line, index): Exchange[] => {
    if (line === '') return [];
    const value = parseJson(line);
    if (isExchange(value)) return [value];
    throw new Error(`${path}:${index + 2} is damaged`);
  });
  return { model: header['model'], exchanges };
}

/**
 * A hash of what the person and the model said, and of whether each call succeeded. Not of what a call returned: times
 * and paths differ from run to run, and the answers still make sense.
 */
export function conversationKey({ history }: ModelRequest, secrets: readonly string[]): string {
  const hash = createHash('sha256');
  for (const message of history) hash.update(`${redactedJson(comparable(message), secrets)}\n`);
  return hash.digest('hex').slice(0, 32);
}

export function comparable({ role, parts }: Message): unknown {
  if (role === 'user') return { role, text: textOf(parts) };
  return parts.flatMap(({ functionCall: call, functionResponse: result }): object[] => {
    if (call) return [{ call: call.name, args: call.args }];
    return result ? [{ result: result.name, isError: result.response?.['error'] !== undefined }] : [];
  });
}

function readHead(file: number): string {
  const bytes = Buffer.alloc(64 * 1024);
  return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, 0)).split('\n', 1)[0] ?? '';
}

function isRecording(head: string): boolean {
  const header = parseJson(head);
  return isObject(header) && header['recording'] === version;
}

function isModel(value: unknown): value is RecordedModelInfo {
  if (!isObject(value)) return false;
  const { id, provider, contextWindow, supports } = value;
  return (
    typeof id === 'string' && typeof provider === 'string' && typeof contextWindow === 'number' && isObject(supports)
  );
}

function isExchange(value: unknown): value is Exchange {
  if (!isObject(value) || typeof value['conversation'] !== 'string') return false;
  const { asked, answer, error } = value;
  if (!Array.isArray(asked) || !asked.every(isMessage)) return false;
  if (isObject(error)) return typeof error['kind'] === 'string' && typeof error['message'] === 'string';
  if (!isObject(answer) || !isMessage(answer['message']) || !isObject(answer['problems'])) return false;
  const { reason, usage } = answer;
  return typeof reason === 'string' && isObject(usage) && figures.every((name) => typeof usage[name] === 'number');
}

const figures = ['inputTokens', 'outputTokens', 'cachedInputTokens', 'reasoningTokens'];

function isMessage(value: unknown): boolean {
  return isObject(value) && Array.isArray(value['parts']) && value['parts'].every(isObject);
}

/** Wraps a model so that its answers are recorded, except interrupted ones. */
export function recordModel(model: Model, recording: RecordingWriter): Model {
  return {
    get id() {
      return model.id;
    },
    get provider() {
      return model.provider;
    },
    get contextWindow() {
      return model.contextWindow;
    },
    get supports() {
      return model.supports;
    },
    get effortLevels() {
      return model.effortLevels;
    },
    async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
      let problems: Record<string, string> = {};
      try {
        for await (const event of model.stream(request, signal)) {
          if (event.type === 'retry' || event.type === 'fallback') problems = {};
          if (event.type === 'broken-call') problems[event.id] = event.problem;
          if (event.type === 'finish') {
            const { message, reason, usage } = event;
            recording.write(model, request, { answer: { message, reason, usage, problems } });
          }
          yield event;
        }
      } catch (error) {
        if (error instanceof ModelError && !signal.aborted)
          recording.write(model, request, { error: { kind: error.kind, message: error.message } });
        throw error;
      }
    },
  };
}
