import type { JsonSchema } from '@lathe/core';
import type { apiSchemas } from './api-schemas.js';

/** The name of a schema in the document. */
export type SchemaName = keyof typeof apiSchemas;

/** One operation of `lathe serve --agent`. */
export interface ApiOperation {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  summary: string;
  body?: SchemaName;
  isBodyOptional?: true;
  /** Default: 200, or 204 without a result. */
  status?: 201 | 202;
  /** What the answer holds: a schema, or an object with a list of it and other properties. */
  result?: SchemaName | { list: SchemaName; as: string; more?: Readonly<Record<string, JsonSchema>> };
  /** Answers with events, and not before they end. */
  isStream?: true;
}

const all = '/v1/sessions';
const one = '/v1/sessions/{id}';

/** Everything that the server can do, by the name that generated clients use. */
export const apiOperations = {
  listSessions: {
    method: 'GET',
    path: all,
    summary: 'The sessions of the directory, the newest first: open ones, and those that can be opened.',
    result: { list: 'session', as: 'sessions' },
  },
  createSession: {
    method: 'POST',
    path: all,
    summary: 'Opens a new session.',
    body: 'sessionSettings',
    isBodyOptional: true,
    status: 201,
    result: 'session',
  },
  getSession: {
    method: 'GET',
    path: one,
    summary: 'An open session.',
    result: 'session',
  },
  updateSession: {
    method: 'PATCH',
    path: one,
    summary: 'Changes mode, model or effort of an open session, from the next request to the model on.',
    body: 'sessionSettings',
    result: 'session',
  },
  deleteSession: {
    method: 'DELETE',
    path: one,
    summary: 'Closes a session and removes its transcript.',
  },
  openSession: {
    method: 'POST',
    path: `${one}/open`,
    summary: 'Continues an earlier session. An open one stays as it is.',
    result: 'session',
  },
  closeSession: {
    method: 'POST',
    path: `${one}/close`,
    summary: 'Cancels the work of a session and closes it. It can be opened again.',
  },
  prompt: {
    method: 'POST',
    path: `${one}/prompt`,
    summary: 'Starts work on a prompt. The events say what happens.',
    body: 'promptText',
    status: 202,
    result: 'session',
  },
  steer: {
    method: 'POST',
    path: `${one}/steer`,
    summary: 'Adds to the work in progress. The event `steer-end` says whether the model received it.',
    body: 'promptText',
    status: 202,
    result: 'session',
  },
  cancel: {
    method: 'POST',
    path: `${one}/cancel`,
    summary: 'Ends the work in progress, if there is any, with everything it started.',
    result: 'session',
  },
  events: {
    method: 'GET',
    path: `${one}/events`,
    summary: 'What happens, as server-sent events: after the event that `Last-Event-ID` names, or all there is.',
    result: 'event',
    isStream: true,
  },
  listMessages: {
    method: 'GET',
    path: `${one}/messages`,
    summary: 'The conversation so far, and the last event that is part of it.',
    result: { list: 'message', as: 'messages', more: { lastEventId: { type: 'integer', format: 'int64' } } },
  },
  listQuestions: {
    method: 'GET',
    path: `${one}/questions`,
    summary: 'The questions that wait for an answer.',
    result: { list: 'question', as: 'questions' },
  },
  answerQuestion: {
    method: 'POST',
    path: `${one}/questions/{questionId}`,
    summary: 'Answers a question with one of its options. The first answer counts.',
    body: 'answer',
  },
  listFiles: {
    method: 'GET',
    path: `${one}/files`,
    summary: 'The files that tools of this session changed, those changed last first. Commands are not included.',
    result: { list: 'fileChange', as: 'files' },
  },
  getUsage: {
    method: 'GET',
    path: `${one}/usage`,
    summary: 'Tokens and cost so far.',
    result: 'usage',
  },
} as const satisfies Record<string, ApiOperation>;
