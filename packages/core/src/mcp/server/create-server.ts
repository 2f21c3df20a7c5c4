import type { CallToolResult, InputRequiredResult, Server, ServerContext } from '@modelcontextprotocol/server';
import type { Display } from '../../contract/display.js';
import { ToolError } from '../../contract/errors.js';
import { visibleText } from '../../text/visible-text.js';
import { approvalForm } from './approval-form.js';
import { describeTool } from './describe-tool.js';
import { outcomeToResult } from './outcome-to-result.js';
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
