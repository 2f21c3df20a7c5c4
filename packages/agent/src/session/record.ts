import { crc32 } from 'node:zlib';
import type { Part } from '@lathe/core';
import { type ExposureSource, redactedJson, type WorkspaceSnapshot } from '@lathe/core/host';
import { asList, asString, isObject } from '../models/json.js';
import type { Message } from '../models/model.js';

/** One line of a transcript. */
export type SessionRecord =
  /** The first record of a session. */
  | { type: 'session'; version: number; id: string; cwd: string; model: string; time: string }
  /** The session continues after this record of this writer, whatever others wrote meanwhile. */
  | { type: 'resume'; writer: string; number: number; model: string; time: string }
  /** The beginning of what a person asked for. */
  | { type: 'prompt'; text: string }
  /** The person went back to an earlier prompt; `text` is its beginning. The shorter history follows. */
  | { type: 'rewind'; text: string }
  | SnapshotRecord
  | { type: 'message'; message: Message }
  /** What the next messages contain that must not be sent unasked, or that may tell the model to send. */
  | ({ type: 'source' } & ExposureSource)
  /** Replaces the history: it was compacted or cleared. */
  | { type: 'history'; messages: readonly Message[] }
  /** Time and tokens of a request to the model. Like `call` not part of the history, but for people who look back. */
  | TurnRecord
  | CallRecord;

/** What a session keeps about a request to the model. */
export interface TurnRecord {
  type: 'turn';
  /** When it started, ISO 8601. */
  time: string;
  durationMs: number;
  inputTokens: number;
  outputTokens: number;
  /** Part of the input that the provider had in its cache. */
  cachedInputTokens?: number;
  /** In cents, if the price was known. */
  cost?: number;
}

/** The files before or after the last prompt or rewind. */
export interface SnapshotRecord extends WorkspaceSnapshot {
  type: 'snapshot';
  when: 'before' | 'after';
}

/** What a session keeps about a call. */
export interface CallRecord {
  type: 'call';
  callId: string;
  time: string;
  durationMs: number;
  status: string;
  description: string;
  decision: CallDecision;
  /** A unified diff, when a file was changed. */
  diff: string;
}

/**
 * `allowed` by a rule or mode, or because nothing needs approval; `denied` by a rule or a hook; `approved` or `refused`
 * by a person; `unjudged` when the call failed before a decision.
 */
export type CallDecision = (typeof decisions)[number];

export const schemaVersion = 1;

/** A record and its origin. */
export interface Line {
  /** Who wrote it: one opening of the transcript by one process. */
  writer: string;
  /** Counted from 1 by each writer. */
  number: number;
  record: SessionRecord;
}

/** A line as stored, without its line ending. Secrets are removed here, the only way into a transcript. */
export function encodeLine({ writer, number, record }: Line, secrets: readonly string[]): string {
  const text = redactedJson(record, secrets);
  return `{"writer":"${writer}","number":${number},"sum":"${checksum(writer, number, text)}","record":${text}}`;
}

/** The line, or `undefined` when it is damaged or of an unknown type. */
export function decodeLine(text: string): Line | undefined {
  const [, writer = '', digits = '', sum, raw = ''] = shape.exec(text) ?? [];
  const number = Number(digits);
  if (sum === undefined || sum !== checksum(writer, number, raw)) return undefined;
  try {
    const record = readRecord(JSON.parse(raw));
    return record && { writer, number, record };
  } catch {
    return undefined;
  }
}

const shape = /^\{"writer":"([0-9a-f]{8})","number":(\d{1,15}),"sum":"([0-9a-f]{8})","record":(\{.*\})\}$/s;

function checksum(writer: string, number: number, text: string): string {
  return crc32(`${writer}:${number}:${text}`).toString(16).padStart(8, '0');
}

/** Anybody could have edited the file, so everything is checked. */
function readRecord(value: unknown): SessionRecord | undefined {
  if (!isObject(value)) return undefined;
  const { type } = value;
  const text = (name: string) => asString(value[name]);
  const number = (name: string) => (typeof value[name] === 'number' ? value[name] : 0);
  const [time, model, durationMs] = [text('time'), text('model'), number('durationMs')];
  switch (type) {
    case 'session':
      return { type, version: number('version'), id: text('id'), cwd: text('cwd'), model, time };
    case 'resume':
      return { type, writer: text('writer'), number: number('number'), model, time };
    case 'prompt':
    case 'rewind':
      return { type, text: text('text') };
    case 'snapshot':
      return readSnapshot(value);
    case 'message': {
      const message = readMessage(value['message']);
      return message && { type, message };
    }
    case 'source':
      return { type, what: text('what'), ...(typeof value['from'] === 'string' && { from: value['from'] }) };
    case 'history':
      return { type, messages: asList(value['messages']).flatMap((each) => readMessage(each) ?? []) };
    case 'turn':
      return {
        type,
        time,
        durationMs,
        inputTokens: number('inputTokens'),
        outputTokens: number('outputTokens'),
        cachedInputTokens: number('cachedInputTokens'),
        ...(typeof value['cost'] === 'number' && { cost: value['cost'] }),
      };
    case 'call': {
      const decision = decisions.find((each) => each === value['decision']) ?? 'allowed';
      const [callId, status, description] = [text('callId'), text('status'), text('description')];
      return { type, callId, time, durationMs, status, description, decision, diff: text('diff') };
    }
    default:
      return undefined;
  }
}

/** A tree is named by its hash, which is passed to git. */
function readSnapshot(value: Record<string, unknown>): SnapshotRecord | undefined {
  const tree = asString(value['tree']);
  if (!/^[0-9a-f]{40}$/.test(tree)) return undefined;
  const leftOut = asList(value['leftOut']).map(asString);
  const time = typeof value['time'] === 'number' ? value['time'] : 0;
  return { type: 'snapshot', when: value['when'] === 'after' ? 'after' : 'before', tree, leftOut, time };
}

const decisions = ['allowed', 'approved', 'refused', 'denied', 'unjudged'] as const;

function readMessage(value: unknown): Message | undefined {
  if (!isObject(value) || !Array.isArray(value['parts'])) return undefined;
  const { role, provider, askedAt } = value;
  if (role !== 'user' && role !== 'model' && role !== 'tool') return undefined;
  const parts = value['parts'].filter(isPart);
  return {
    role,
    parts,
    ...(typeof provider === 'string' && { provider }),
    ...(typeof askedAt === 'number' && { askedAt }),
  };
}

const objectFields = ['inlineData', 'fileData', 'functionCall', 'functionResponse'];

function isPart(value: unknown): value is Part {
  return (
    isObject(value) &&
    isTextOrNone(value['text']) &&
    isTextOrNone(value['thoughtSignature']) &&
    objectFields.every((name) => value[name] === undefined || isNamed(value[name]))
  );
}

function isTextOrNone(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

/** Calls and results are matched by id and name. A result may have parts of its own. */
function isNamed(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { parts = [] } = value;
  return (
    ['id', 'name', 'data', 'mimeType', 'fileUri'].every((name) => isTextOrNone(value[name])) &&
    Array.isArray(parts) &&
    parts.every(isPart)
  );
}
