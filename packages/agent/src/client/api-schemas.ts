const text = { type: 'string' } as const;
const time = { type: 'string', format: 'date-time' } as const;
const count = { type: 'integer', minimum: 0 } as const;

const mode = {
  type: 'string',
  enum: ['plan', 'default', 'auto-edit', 'yolo'],
  description: 'How much runs without a question.',
} as const;

const modeName = {
  type: 'string',
  enum: [...mode.enum, 'auto', 'auto_edit', 'autoEdit', 'acceptEdits', 'bypassPermissions'],
  description: 'A mode by any name that the command line takes: `auto` is `auto-edit`.',
} as const;

const effort = {
  type: 'string',
  enum: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
  description: 'How much the model thinks.',
} as const;

const status = {
  type: 'string',
  enum: ['stored', 'idle', 'working', 'waiting'],
  description: '`stored`: not open. `waiting`: at work, and a question needs an answer.',
} as const;

const session = {
  type: 'object',
  required: ['id', 'title', 'updated', 'model', 'status'],
  properties: {
    id: text,
    title: { ...text, description: 'The beginning of the first prompt.' },
    updated: time,
    model: text,
    status,
    cwd: { ...text, description: 'The directory of an open session.' },
    mode,
    effort,
    lastEventId: { ...count, format: 'int64', description: 'Of an open session.' },
    notes: { type: 'array', items: text, description: 'For people: what differs from when the session was left.' },
  },
} as const;

/** For a new session, and to change an open one. */
const sessionSettings = {
  type: 'object',
  properties: { mode: modeName, model: { type: 'string', minLength: 1 }, effort },
  additionalProperties: false,
} as const;

const promptText = {
  type: 'object',
  required: ['text'],
  properties: { text: { type: 'string', pattern: '\\S', description: '`@path` adds a file.' } },
  additionalProperties: false,
} as const;

const question = {
  type: 'object',
  required: ['id', 'kind', 'text', 'options'],
  properties: {
    id: text,
    kind: {
      type: 'string',
      enum: ['approval', 'question', 'field', 'consent'],
      description: 'Approve a call; answer the model; fill in a field for an MCP server; agree to what a server wants.',
    },
    text: { ...text, description: 'The whole question as plain text, with invisible characters spelled out.' },
    options: {
      type: 'array',
      description: 'Every possible answer. Nothing else is accepted.',
      items: {
        type: 'object',
        required: ['id', 'label'],
        properties: {
          id: text,
          label: text,
          takesText: { type: 'boolean', description: 'The answer may have a `text`.' },
          isLasting: { type: 'boolean', description: 'Holds for later calls as well.' },
        },
      },
    },
    callId: text,
    tool: text,
    isGuarded: { type: 'boolean', description: 'No rule could answer it, so do not suggest a yes.' },
    confirmation: { description: 'What is to be approved, to be drawn: a diff, a command, a plan.' },
  },
} as const;

const answer = {
  type: 'object',
  required: ['option'],
  properties: {
    option: { ...text, description: 'The id of one of the options.' },
    text: { ...text, description: 'Own words, a reason, or the changed text, for an option that takes it.' },
  },
  additionalProperties: false,
} as const;

const fileChange = {
  type: 'object',
  required: ['path', 'isNew', 'changes', 'updated', 'tools'],
  properties: {
    path: { ...text, description: 'Absolute.' },
    isNew: { type: 'boolean' },
    changes: count,
    updated: time,
    tools: { type: 'array', items: text },
  },
} as const;

const usage = {
  type: 'object',
  required: ['turns', 'inputTokens', 'outputTokens', 'cachedInputTokens', 'contextTokens', 'contextWindow'],
  properties: {
    turns: count,
    inputTokens: count,
    outputTokens: count,
    cachedInputTokens: count,
    contextTokens: { ...count, description: 'Of the next request.' },
    contextWindow: count,
    costCents: { type: 'number', description: 'Missing when a price is not known.' },
  },
} as const;

const message = {
  type: 'object',
  required: ['role', 'parts'],
  properties: {
    role: { type: 'string', enum: ['user', 'model', 'tool'] },
    parts: { type: 'array', items: { type: 'object', additionalProperties: true } },
  },
} as const;

const event = {
  type: 'object',
  required: ['type'],
  properties: {
    type: { ...text, description: 'See docs/server.md for the types and what each holds.' },
    time: { ...count, format: 'int64', description: 'Milliseconds since 1970.' },
  },
  additionalProperties: true,
} as const;

const problem = {
  type: 'object',
  required: ['error'],
  properties: {
    error: { type: 'object', required: ['message'], properties: { message: text } },
  },
} as const;

/**
 * What `lathe serve --agent` takes and answers, as JSON Schema. The OpenAPI document, the checks of the server and the
 * types of the client are all made from these.
 */
export const apiSchemas = {
  session,
  sessionSettings,
  promptText,
  question,
  answer,
  fileChange,
  usage,
  message,
  event,
  problem,
};
