/** A client for `lathe serve --agent`. Needs nothing but `fetch`, so it works in Node and in browsers. */

export { type ApiOperation, apiOperations } from './api-operations.js';
export { apiSchemas } from './api-schemas.js';
export type {
  ApiMessage,
  ApiSession,
  FileChange,
  NumberedEvent,
  Question,
  QuestionAnswer,
  SentAgentEvent,
  SessionEvent,
  SessionSettings,
  SessionUsage,
} from './api-types.js';
export { ApiError, type ClientOptions, type EventOptions, LatheClient } from './client.js';
export { openApi } from './openapi.js';
