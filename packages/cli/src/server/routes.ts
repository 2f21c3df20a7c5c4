import type { ServerResponse } from 'node:http';
import type { apiSchemas, QuestionAnswer, SessionSettings } from '@lathe/agent/client';
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

interface Details {
  body?: SchemaName;
  isBodyOptional?: true;
  /** Default: 200, or 204 without a result. */
  status?: 201 | 202;
  /** What the answer holds: a schema, or an object with a list of it and other properties. */
  result?: SchemaName | { list: SchemaName; as: string; more?: Readonly<Record<string, JsonSchema>> };
  /** Answers with events, and not before they end. */
  isStream?: true;
}

/** One operation of the API: what the document says about it, and what it does. */
export interface Route extends Details {
  method: string;
  path: string;
  /** Its name for generated clients. */
  name: string;
  summary: string;
  /** Returns the answer as an object, or as JSON. */
  run: (request: ApiRequest) => unknown;
}

const one = '/v1/sessions/{id}';

/** Everything that the server can do. The types of the bodies are those of their schemas. */
export const routes: readonly Route[] = [
  route(
    'GET /v1/sessions',
    ['listSessions', 'The sessions of the directory, the newest first: open ones, and those that can be opened.'],
    { result: { list: 'session', as: 'sessions' } },
    async ({ sessions }) => ({ sessions: await sessions.list() }),
  ),
  route(
    'POST /v1/sessions',
    ['createSession', 'Opens a new session.'],
    { body: 'sessionSettings', isBodyOptional: true, status: 201, result: 'session' },
    async ({ sessions, body }) => (await sessions.create((body ?? {}) as SessionSettings)).info,
  ),
  route(
    `GET ${one}`,
    ['getSession', 'An open session.'],
    { result: 'session' },
    ({ sessions, id }) => sessions.get(id).info,
  ),
  route(
    `PATCH ${one}`,
    ['updateSession', 'Changes mode, model or effort of an open session, from the next request to the model on.'],
    { body: 'sessionSettings', result: 'session' },
    ({ sessions, id, body, signal }) => sessions.get(id).change(body as SessionSettings, signal),
  ),
  route(`DELETE ${one}`, ['deleteSession', 'Closes a session and removes its transcript.'], {}, ({ sessions, id }) =>
    sessions.remove(id),
  ),
  route(
    `POST ${one}/open`,
    ['openSession', 'Continues an earlier session. An open one stays as it is.'],
    { result: 'session' },
    async ({ sessions, id }) => (await sessions.resume(id)).info,
  ),
  route(
    `POST ${one}/close`,
    ['closeSession', 'Cancels the work of a session and closes it. It can be opened again.'],
    {},
    ({ sessions, id }) => sessions.close(id),
  ),
  route(
    `POST ${one}/prompt`,
    ['prompt', 'Starts work on a prompt. The events say what happens.'],
    { body: 'promptText', status: 202, result: 'session' },
    ({ sessions, id, body }) => sessions.get(id).prompt((body as { text: string }).text),
  ),
  route(
    `POST ${one}/steer`,
    ['steer', 'Adds to the work in progress. The event `steer-end` says whether the model received it.'],
    { body: 'promptText', status: 202, result: 'session' },
    ({ sessions, id, body }) => sessions.get(id).steer((body as { text: string }).text),
  ),
  route(
    `POST ${one}/cancel`,
    ['cancel', 'Ends the work in progress, if there is any, with everything it started.'],
    { result: 'session' },
    ({ sessions, id }) => sessions.get(id).cancel(),
  ),
  route(
    `GET ${one}/events`,
    ['events', 'What happens, as server-sent events: after the event that `Last-Event-ID` names, or all there is.'],
    { result: 'event', isStream: true },
    ({ sessions, id, lastEventId, response }) => sendEvents(sessions.get(id).log, response, lastEventId),
  ),
  route(
    `GET ${one}/messages`,
    ['listMessages', 'The conversation so far, and the last event that is part of it.'],
    { result: { list: 'message', as: 'messages', more: { lastEventId: { type: 'integer' } } } },
    ({ sessions, id }) => smallJson(sessions.get(id).messages),
  ),
  route(
    `GET ${one}/questions`,
    ['listQuestions', 'The questions that wait for an answer.'],
    { result: { list: 'question', as: 'questions' } },
    ({ sessions, id }) => ({ questions: sessions.get(id).questions.list }),
  ),
  route(
    `POST ${one}/questions/{questionId}`,
    ['answerQuestion', 'Answers a question with one of its options. The first answer counts.'],
    { body: 'answer' },
    ({ sessions, id, questionId, body }) => {
      const result = sessions.get(id).questions.answer(questionId, body as QuestionAnswer);
      if (result.status === 'unknown') throw new Rejection(409, 'The question no longer waits for an answer');
      if (result.status === 'invalid') throw new Rejection(422, result.problem);
    },
  ),
  route(
    `GET ${one}/files`,
    ['listFiles', 'The files that tools of this session changed, those changed last first. Commands are not included.'],
    { result: { list: 'fileChange', as: 'files' } },
    async ({ sessions, id }) => ({ files: await sessions.get(id).files() }),
  ),
  route(
    `GET ${one}/usage`,
    ['getUsage', 'Tokens and cost so far.'],
    { result: 'usage' },
    ({ sessions, id }) => sessions.get(id).usage,
  ),
];

function route(on: string, about: [name: string, summary: string], details: Details, run: Route['run']): Route {
  const [method = '', path = ''] = on.split(' ');
  const [name, summary] = about;
  return { method, path, name, summary, ...details, run };
}
