import type { CallOutcome } from '@lathe/core';
import type { XStatic } from 'typebox/schema';
import type { AgentEvent, Compaction } from '../loop/agent-event.js';
import type { apiSchemas } from './api-schemas.js';

type Schemas = typeof apiSchemas;

export type ApiSession = XStatic<Schemas['session']>;
export type SessionSettings = XStatic<Schemas['sessionSettings']>;
export type Question = XStatic<Schemas['question']>;
export type QuestionAnswer = XStatic<Schemas['answer']>;
export type FileChange = XStatic<Schemas['fileChange']>;
export type SessionUsage = XStatic<Schemas['usage']>;
export type ApiMessage = XStatic<Schemas['message']>;

/** What an agent does, without what is too large to send: contents for the model, whole files, earlier messages. */
export type SentAgentEvent =
  | Exclude<AgentEvent, { type: 'call-end' | 'compaction-end' | 'subagent-event' }>
  | { type: 'call-end'; outcome: Omit<CallOutcome, 'llmContent' | 'response'> }
  | { type: 'compaction-end'; compaction: Omit<Compaction, 'history'> }
  | { type: 'subagent-event'; callId: string; event: SentAgentEvent };

/** What happens in an open session. */
export type SessionEvent =
  | SentAgentEvent
  /** The session as it is now; sent when something of it changes. */
  | { type: 'session-update'; session: ApiSession }
  | { type: 'question-add'; question: Question }
  /** `option` is the answer; without it nobody answered, because the work ended or everybody was gone. */
  | { type: 'question-end'; questionId: string; option?: string }
  /** Whether the model received an addition to the work in progress. */
  | { type: 'steer-end'; text: string; isDelivered: boolean }
  /** Events are missing here: read the messages again. */
  | { type: 'gap' }
  /** The last event. */
  | { type: 'session-end' };

/** An event, its number, and when it happened in milliseconds since 1970. A `gap` has the number of the event before it. */
export type NumberedEvent = SessionEvent & { id: number; time?: number };
