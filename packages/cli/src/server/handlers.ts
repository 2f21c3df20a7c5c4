import type { ServerResponse } from 'node:http';
import type { apiOperations, QuestionAnswer, SessionSettings } from '@lathe/agent/client';
import { smallJson } from './event-json.js';
import type { LiveSessions } from './live-sessions.js';
import { Rejection } from './rejection.js';
import { sendEvents } from './send-events.js';

/** A request that passed all checks. */
export interface ApiRequest {
  sessions: LiveSessions;
  id: string;
  questionId: string;
  /** Fits the schema of the operation, which its type is made from. */
  body: unknown;
  /** The last event that the reader has. */
  lastEventId: number;
  response: ServerResponse;
  signal: AbortSignal;
}

export type OperationName = keyof typeof apiOperations;

/** What the server does for each operation. Returns the answer as an object, or as JSON. */
export const handlers: Readonly<Record<OperationName, (request: ApiRequest) => unknown>> = {
  listSessions: async ({ sessions }) => ({ sessions: await sessions.list() }),
  createSession: async ({ sessions, body }) => (await sessions.create((body ?? {}) as SessionSettings)).info,
  getSession: ({ sessions, id }) => sessions.get(id).info,
  updateSession: ({ sessions, id, body, signal }) => sessions.get(id).change(body as SessionSettings, signal),
  deleteSession: ({ sessions, id }) => sessions.remove(id),
  openSession: async ({ sessions, id }) => (await sessions.resume(id)).info,
  closeSession: ({ sessions, id }) => sessions.close(id),
  prompt: ({ sessions, id, body }) => sessions.get(id).prompt((body as { text: string }).text),
  steer: ({ sessions, id, body }) => sessions.get(id).steer((body as { text: string }).text),
  cancel: ({ sessions, id }) => sessions.get(id).cancel(),
  events: ({ sessions, id, lastEventId, response }) => sendEvents(sessions.get(id).log, response, lastEventId),
  listMessages: ({ sessions, id }) => smallJson(sessions.get(id).messages),
  listQuestions: ({ sessions, id }) => ({ questions: sessions.get(id).questions.list }),
  answerQuestion: ({ sessions, id, questionId, body }) => {
    const result = sessions.get(id).questions.answer(questionId, body as QuestionAnswer);
    if (result.status === 'unknown') throw new Rejection(409, 'The question no longer waits for an answer');
    if (result.status === 'invalid') throw new Rejection(422, result.problem);
  },
  listFiles: async ({ sessions, id }) => ({ files: await sessions.get(id).files() }),
  getUsage: ({ sessions, id }) => sessions.get(id).usage,
};
