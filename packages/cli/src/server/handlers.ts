import type { ServerResponse } from 'node:http';
import type { apiOperations, QuestionAnswer, SessionSettings } from '@lathe/agent/client';
import { smallJson } from './event-json.js';
import type { LiveSessions } from './live-sessions.js';
import { sendEvents } from './send-events.js';

/** The body of any operation: it fits the schema of this one. */
export type ApiBody = SessionSettings & Partial<QuestionAnswer>;

/** A request that passed all checks. */
export interface ApiRequest {
  sessions: LiveSessions;
  id: string;
  questionId: string;
  body: ApiBody;
  /** The last event that the reader has. */
  lastEventId: number;
  response: ServerResponse;
  signal: AbortSignal;
}

export type OperationName = keyof typeof apiOperations;

/** What the server does for each operation. Returns the answer as an object, or as JSON. */
export const handlers: Readonly<Record<OperationName, (request: ApiRequest) => unknown>> = {
  listSessions: async ({ sessions }) => ({ sessions: await sessions.list() }),
  createSession: async ({ sessions, body }) => (await sessions.create(body)).info,
  getSession: ({ sessions, id }) => sessions.get(id).info,
  updateSession: ({ sessions, id, body, signal }) => sessions.get(id).change(body, signal),
  deleteSession: ({ sessions, id }) => sessions.remove(id),
  openSession: async ({ sessions, id }) => (await sessions.resume(id)).info,
  closeSession: ({ sessions, id }) => sessions.close(id),
  prompt: ({ sessions, id, body }) => sessions.get(id).prompt(body.text ?? ''),
  steer: ({ sessions, id, body }) => sessions.get(id).steer(body.text ?? ''),
  cancel: ({ sessions, id }) => sessions.get(id).cancel(),
  events: ({ sessions, id, lastEventId, response }) => sendEvents(sessions.get(id).log, response, lastEventId),
  listMessages: ({ sessions, id }) => smallJson(sessions.get(id).messages),
  listQuestions: ({ sessions, id }) => ({ questions: sessions.get(id).questions.list }),
  answerQuestion: ({ sessions, id, questionId, body }) =>
    sessions.get(id).questions.answer(questionId, { option: '', ...body }),
  listFiles: async ({ sessions, id }) => ({ files: await sessions.get(id).files() }),
  getUsage: ({ sessions, id }) => sessions.get(id).usage,
};
