import type { ServerResponse } from 'node:http';
import { apiSchemas, type QuestionAnswer, type SessionSettings } from '@lathe/agent/client';
import type { JsonSchema } from '@lathe/core';
import { smallJson } from './event-json.js';
import type { LiveSessions } from './live-sessions.js';
import { Rejection } from './rejection.js';
import { sendEvents } from './send-events.js';

/** A request that passed all checks. */
export interface ApiRequest {
  sessions: LiveSessions;
  id: string;
  questionId: string;
  /** Fits the schema of the route. */
  body: unknown;
  /** The last event that the reader has. */
  lastEventId: number;
  response: ServerResponse;
  signal: AbortSignal;
}

/** The name of a schema in the document. */
export type SchemaName = keyof typeof apiSchemas;

/** One operation of the API: what the document says about it, and what it does. */
export interface Route {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  /** Its name for generated clients. */
  name: string;
  summary: string;
  body?: SchemaName;
  isBodyOptional?: true;
  status: 200 | 201 | 202 | 204;
  /** What the answer holds: a schema, or an object with lists of it and other properties. */
  result?: SchemaName | { list: SchemaName; as: string; more?: Readonly<Record<string, JsonSchema>> };
  /** Errors besides 400, 401, 403, 404 and 503. */
  errors?: Readonly<Record<number, string>>;
  /** Answers with events, and not before they end. */
  isStream?: true;
  /** Returns the answer as an object, or as JSON. */
  run(request: ApiRequest): unknown;
}

const one = '/v1/sessions/{id}';
const busy = { 409: 'The session is at work' };

/** Everything that the server can do. The types of the bodies are those of their schemas. */
export const routes: readonly Route[] = [
  {
    method: 'GET',
    path: '/v1/sessions',
    name: 'listSessions',
    summary: 'The sessions of the directory, the newest first: open ones, and those that can be opened.',
    status: 200,
    result: { list: 'session', as: 'sessions' },
    run: async ({ sessions }) => ({ sessions: await sessions.list() }),
  },
  {
    method: 'POST',
    path: '/v1/sessions',
    name: 'createSession',
    summary: 'Opens a new session.',
    body: 'sessionSettings',
    isBodyOptional: true,
    status: 201,
    result: 'session',
    run: async ({ sessions, body }) => (await sessions.create((body ?? {}) as SessionSettings)).info,
  },
  {
    method: 'GET',
    path: one,
    name: 'getSession',
    summary: 'An open session.',
    status: 200,
    result: 'session',
    run: ({ sessions, id }) => sessions.get(id).info,
  },
  {
    method: 'PATCH',
    path: one,
    name: 'updateSession',
    summary: 'Changes the mode, the model or the effort of an open session, from the next request to the model on.',
    body: 'sessionSettings',
    status: 200,
    result: 'session',
    errors: { 422: 'There is no such model' },
    run: async ({ sessions, id, body, signal }) => {
      await sessions.get(id).change(body as SessionSettings, signal);
      return sessions.get(id).info;
    },
  },
  {
    method: 'DELETE',
    path: one,
    name: 'deleteSession',
    summary: 'Closes a session and removes its transcript.',
    status: 204,
    run: ({ sessions, id }) => sessions.remove(id),
  },
  {
    method: 'POST',
    path: `${one}/open`,
    name: 'openSession',
    summary: 'Continues an earlier session. An open one stays as it is.',
    status: 200,
    result: 'session',
    run: async ({ sessions, id }) => (await sessions.resume(id)).info,
  },
  {
    method: 'POST',
    path: `${one}/close`,
    name: 'closeSession',
    summary: 'Cancels the work of a session and closes it. It can be opened again.',
    status: 204,
    run: ({ sessions, id }) => sessions.close(id),
  },
  {
    method: 'POST',
    path: `${one}/prompt`,
    name: 'prompt',
    summary: 'Starts work on a prompt. The events say what happens.',
    body: 'promptText',
    status: 202,
    result: 'session',
    errors: busy,
    run: ({ sessions, id, body }) => {
      sessions.get(id).prompt((body as { text: string }).text);
      return sessions.get(id).info;
    },
  },
  {
    method: 'POST',
    path: `${one}/steer`,
    name: 'steer',
    summary: 'Adds to the work in progress. The event `steer-end` says whether the model received it.',
    body: 'promptText',
    status: 202,
    result: 'session',
    errors: { 409: 'The session is not at work' },
    run: ({ sessions, id, body }) => {
      sessions.get(id).steer((body as { text: string }).text);
      return sessions.get(id).info;
    },
  },
  {
    method: 'POST',
    path: `${one}/cancel`,
    name: 'cancel',
    summary: 'Ends the work in progress, if there is any, with everything it started.',
    status: 200,
    result: 'session',
    run: async ({ sessions, id }) => {
      await sessions.get(id).cancel();
      return sessions.get(id).info;
    },
  },
  {
    method: 'GET',
    path: `${one}/events`,
    name: 'events',
    summary:
      'What happens, as server-sent events. `Last-Event-ID` (or `?after=`) continues after that event; without it, the stream begins with what the server still has.',
    status: 200,
    result: 'event',
    isStream: true,
    run: ({ sessions, id, lastEventId, response }) => sendEvents(sessions.get(id).log, response, lastEventId),
  },
  {
    method: 'GET',
    path: `${one}/messages`,
    name: 'listMessages',
    summary: 'The conversation so far, and the last event that is part of it.',
    status: 200,
    result: { list: 'message', as: 'messages', more: { lastEventId: { type: 'integer' } } },
    run: ({ sessions, id }) => {
      const { messages, log } = sessions.get(id);
      return smallJson({ messages, lastEventId: log.lastId });
    },
  },
  {
    method: 'GET',
    path: `${one}/questions`,
    name: 'listQuestions',
    summary: 'The questions that wait for an answer.',
    status: 200,
    result: { list: 'question', as: 'questions' },
    run: ({ sessions, id }) => ({ questions: sessions.get(id).questions.list }),
  },
  {
    method: 'POST',
    path: `${one}/questions/{questionId}`,
    name: 'answerQuestion',
    summary: 'Answers a question with one of its options. The first answer counts.',
    body: 'answer',
    status: 204,
    errors: { 409: 'The question is already answered, or its work has ended', 422: 'The question has no such answer' },
    run: ({ sessions, id, questionId, body }) => {
      const result = sessions.get(id).questions.answer(questionId, body as QuestionAnswer);
      if (result.status === 'unknown') throw new Rejection(409, 'The question no longer waits for an answer');
      if (result.status === 'invalid') throw new Rejection(422, result.problem);
    },
  },
  {
    method: 'GET',
    path: `${one}/files`,
    name: 'listFiles',
    summary: 'The files that tools of this session changed, those changed last first. Commands are not included.',
    status: 200,
    result: { list: 'fileChange', as: 'files' },
    run: async ({ sessions, id }) => ({ files: await sessions.get(id).files() }),
  },
  {
    method: 'GET',
    path: `${one}/usage`,
    name: 'getUsage',
    summary: 'Tokens and cost so far.',
    status: 200,
    result: 'usage',
    run: ({ sessions, id }) => sessions.get(id).usage,
  },
];
