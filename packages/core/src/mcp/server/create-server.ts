import type {
  CallToolResult,
  ContentBlock,
  InputRequiredResult,
  Server,
  ServerContext,
  Tool,
  ToolAnnotations,
} from '@modelcontextprotocol/server';
import type { CallOutcome } from '../../contract/call.js';
import { type Part, toParts } from '../../contract/content.js';
import type { Display } from '../../contract/display.js';
import { ToolError } from '../../contract/errors.js';
import { visibleText } from '../../text/visible-text.js';
import type { AnyTool, ToolKind } from '../../tools/tools.js';
import { approvalForm } from './approval-form.js';
import type { SessionAnswer, SessionCall, ToolSession } from './tool-session.js';

/** The SDK, which is loaded only to serve. */
export type ServerSdk = typeof import('@modelcontextprotocol/server');

export interface ServerIdentity {
  /** The name that clients see; `lathe` by default. */
  name?: string;
  version: string;
  /** What the client's model should know about this server. */
  instructions?: string;
}

export type ServerFor = (sdk: ServerSdk, session: ToolSession, identity: ServerIdentity) => Server;

/** The key of the approval in the input requests of a call. */
const approvalKey = 'approval';
const progressIntervalMs = 100;
const maxProgressChars = 2000;

/** A server for one connection, or for one request if the protocol has no connections. Supports both eras. */
export const createServer: ServerFor = (sdk, session, { name: serverName = 'lathe', version, instructions }) => {
  const server = new sdk.Server(
    { name: serverName, ...(serverName === 'lathe' && { title: 'Lathe' }), version },
    {
      capabilities: { tools: {} },
      ...(instructions !== undefined && { instructions }),
      requestState: { verify: (state) => session.assertAsked(state) },
    },
  );
  server.setRequestHandler('tools/list', () => ({ tools: session.tools.map(describeTool) }));
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const { name, arguments: args = {} } = params;
    if (!session.tools.some((tool) => tool.name === name)) {
      const known = session.tools.map((tool) => tool.name).join(', ');
      throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, `There is no tool ${name}. Known: ${known}.`);
    }
    const envelope: Readonly<Record<string, unknown>> = context.mcpReq.envelope ?? {};
    const declared = envelope[sdk.CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities();
    const call: SessionCall = {
      id: String(context.mcpReq.id),
      name,
      args,
      canAsk: canAsk(declared),
      ...answerIn(sdk, context),
      ...progress(context),
    };
    return toResult(sdk, await session.call(call, context.mcpReq.signal));
  });
  return server;
};

function toResult(sdk: ServerSdk, answer: SessionAnswer): CallToolResult | InputRequiredResult {
  if (answer.type === 'outcome') return outcomeToResult(answer.outcome);
  try {
    return sdk.inputRequired({
      inputRequests: { [approvalKey]: sdk.inputRequired.elicit(approvalForm(answer.request)) },
      requestState: answer.id,
    });
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    const { type, message } = error;
    return { content: [{ type: 'text', text: message }], isError: true, _meta: { 'lathe/error': { type, message } } };
  }
}

function canAsk(declared: unknown): boolean {
  const elicitation = isObject(declared) && 'elicitation' in declared ? declared.elicitation : undefined;
  // Clients before 2025-11-25 declare an empty object, which means forms.
  return isObject(elicitation) && ('form' in elicitation || !('url' in elicitation));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function answerIn(sdk: ServerSdk, { mcpReq }: ServerContext): Pick<SessionCall, 'answer'> {
  const question = mcpReq.requestState<string>();
  const reply = sdk.inputResponse(mcpReq.inputResponses, approvalKey);
  if (question === undefined || reply.kind !== 'elicit') return {};
  return { answer: { question, reply } };
}

/** Live output for clients that requested it. Each message replaces the one before, so some may be skipped. */
function progress({ mcpReq }: ServerContext): Pick<SessionCall, 'onOutput'> {
  const { _meta: meta } = mcpReq;
  const progressToken = meta?.progressToken;
  if (progressToken === undefined) return {};
  let count = 0;
  let last = Number.NEGATIVE_INFINITY;
  return {
    onOutput: (display) => {
      const now = performance.now();
      if (now - last < progressIntervalMs) return;
      last = now;
      const params = { progressToken, progress: ++count, message: progressText(display) };
      // If the client is gone, the signal of the call ends it.
      mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
    },
  };
}

function progressText(display: Display): string {
  const text = typeof display === 'string' ? display : display.type === 'terminal_output' ? display.text : '';
  return visibleText(text.slice(-maxProgressChars));
}

/** A tool in the format of the protocol. The schema is unchanged, because the scheduler checks calls against it. */
function describeTool({ name, displayName, description, kind, parameterSchema }: AnyTool): Tool {
  return {
    name,
    title: displayName,
    description,
    inputSchema: { ...parameterSchema, type: 'object' },
    annotations: annotations[kind],
  };
}

const reads: ToolAnnotations = { readOnlyHint: true, openWorldHint: false };
const notes: ToolAnnotations = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };
const anything: ToolAnnotations = { readOnlyHint: false, destructiveHint: true, openWorldHint: true };

const annotations: Record<ToolKind, ToolAnnotations> = {
  read: reads,
  search: reads,
  fetch: { readOnlyHint: true, openWorldHint: true },
  edit: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
  think: notes,
  execute: anything,
  agent: anything,
  other: anything,
};

/** The result for a client: text and media in order; `_meta` holds the type of a failure. */
function outcomeToResult({ name, status, llmContent, error }: CallOutcome): CallToolResult {
  const content = toParts(llmContent).flatMap(toBlocks);
  if (content.length === 0) content.push({ type: 'text', text: `${name} completed with no output.` });
  return {
    content,
    ...(status !== 'success' && { isError: true }),
    ...(error && { _meta: { 'lathe/error': error } }),
  };
}

function toBlocks({ text, inlineData, fileData }: Part, index: number): ContentBlock[] {
  if (text !== undefined) return text === '' ? [] : [{ type: 'text', text }];
  if (inlineData) {
    const { data = '', mimeType = 'application/octet-stream', displayName = `part-${index + 1}` } = inlineData;
    if (mimeType.startsWith('image/')) return [{ type: 'image', data, mimeType }];
    if (mimeType.startsWith('audio/')) return [{ type: 'audio', data, mimeType }];
    const uri = `lathe:///${encodeURIComponent(displayName)}`;
    return [{ type: 'resource', resource: { uri, mimeType, blob: data } }];
  }
  const { fileUri: uri, mimeType, displayName } = fileData ?? {};
  if (uri === undefined) return [];
  return [{ type: 'resource_link', uri, name: displayName ?? uri, ...(mimeType !== undefined && { mimeType }) }];
}
