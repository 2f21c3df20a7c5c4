import { crc32 } from 'node:zlib';
import type { Part } from '@lathe/core';
import { redactedJson } from '@lathe/core/host';
import type { Message } from '../models/model.js';

/** One line of a transcript. */
export type SessionRecord =
  /** The first record of a session. */
  | { type: 'session'; version: number; id: string; cwd: string; model: string; time: string }
  /** Somebody goes on from this record of this writer, whatever others wrote meanwhile. */
  | { type: 'resume'; writer: string; number: number; model: string; time: string }
  /** What a person asked for, in a few words. */
  | { type: 'prompt'; text: string }
  | { type: 'message'; message: Message }
  /** From here on the history is this one: it was shortened, or begun anew. */
  | { type: 'history'; messages: readonly Message[] }
  /** What a request to the model took. No part of the history, like `call`: both are for people who look back. */
  | TurnRecord
  | CallRecord;

/** What a session keeps about a request to the model. */
export interface TurnRecord {
  type: 'turn';
  /** Of its beginning, ISO 8601. */
  time: string;
  durationMs: number;
  inputTokens: number;
  outputTokens: number;
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
 * when a person had to be asked; `unjudged` when the call failed before that.
 */
export type CallDecision = (typeof decisions)[number];

export const schemaVersion = 1;

/** A record and where it comes from. */
export interface Line {
  /** Who wrote it: one opening of the transcript by one process. */
  writer: string;
  /** Counted from 1 by each writer. */
  number: number;
  record: SessionRecord;
}

/** A line as it is stored, without its end. Secrets are taken out here, the only way into a transcript. */
export function encodeLine({ writer, number, record }: Line, secrets: readonly string[]): string {
  const text = redactedJson(record, secrets);
  return `{"writer":"${writer}","number":${number},"sum":"${checksum(writer, number, text)}","record":${text}}`;
}

/** The line, or `undefined` when it is damaged or not one we know how to read. */
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

/** A file that anybody could have edited is read like any input: what does not fit is not taken. */
function readRecord(value: unknown): SessionRecord | undefined {
  if (!isObject(value)) return undefined;
  const text = (name: string) => (typeof value[name] === 'string' ? value[name] : '');
  const number = (name: string) => (typeof value[name] === 'number' ? value[name] : 0);
  switch (value['type']) {
    case 'session':
      return {
        type: 'session',
        version: number('version'),
        id: text('id'),
        cwd: text('cwd'),
        model: text('model'),
        time: text('time'),
      };
    case 'resume':
      return {
        type: 'resume',
        writer: text('writer'),
        number: number('number'),
        model: text('model'),
        time: text('time'),
      };
    case 'prompt':
      return { type: 'prompt', text: text('text') };
    case 'message': {
      const message = readMessage(value['message']);
      return message && { type: 'message', message };
    }
    case 'history': {
      const list: unknown[] = Array.isArray(value['messages']) ? value['messages'] : [];
      return { type: 'history', messages: list.flatMap((each) => readMessage(each) ?? []) };
    }
    case 'turn':
      return {
        type: 'turn',
        time: text('time'),
        durationMs: number('durationMs'),
        inputTokens: number('inputTokens'),
        outputTokens: number('outputTokens'),
      };
    case 'call':
      return {
        type: 'call',
        callId: text('callId'),
        time: text('time'),
        durationMs: number('durationMs'),
        status: text('status'),
        description: text('description'),
        decision: decisions.find((each) => each === value['decision']) ?? 'allowed',
        diff: text('diff'),
      };
    default:
      return undefined;
  }
}

const decisions = ['allowed', 'approved', 'refused', 'denied', 'unjudged'] as const;

function readMessage(value: unknown): Message | undefined {
  if (!isObject(value) || !Array.isArray(value['parts'])) return undefined;
  const { role, provider } = value;
  if (role !== 'user' && role !== 'model' && role !== 'tool') return undefined;
  const parts = value['parts'].filter(isPart);
  return { role, parts, ...(typeof provider === 'string' && { provider }) };
}

const objectFields = ['inlineData', 'fileData', 'functionCall', 'functionResponse'];

function isPart(value: unknown): value is Part {
  if (!isObject(value)) return false;
  return (
    isTextOrNone(value['text']) &&
    isTextOrNone(value['thoughtSignature']) &&
    objectFields.every((name) => value[name] === undefined || isNamed(value[name]))
  );
}

function isTextOrNone(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

/** Ids and names are what calls and results are matched by; a result may have parts of its own. */
function isNamed(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { parts = [] } = value;
  return (
    ['id', 'name', 'data', 'mimeType', 'fileUri'].every((name) => isTextOrNone(value[name])) &&
    Array.isArray(parts) &&
    parts.every(isPart)
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
