import type { CallToolResult, Progress, Tool } from '@modelcontextprotocol/client';
import { isCallToolResult, ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { ToolError, thrownText } from '../../contract/errors.js';
import { sanitizeDescription } from '../../text/sanitize-definition.js';
import type { ToolResult } from '../../tools/tools.js';
import { contentToParts } from './content-to-parts.js';
import type { Connection } from './open-connection.js';

/** A server that reports no progress for this long counts as hung. */
const idleMs = 300_000;

export interface ToolCall {
  /** For error messages. */
  server: string;
  tool: Tool;
  params: Record<string, unknown>;
  timeoutMs: number;
  signal: AbortSignal;
  onProgress: (text: string) => void;
  /** Of the span that the server's own spans belong to. */
  traceparent?: string;
}

/** Runs one call. Throws a `ToolError` if the server does not return a result. */
export async function callTool(connection: Connection, call: ToolCall): Promise<ToolResult> {
  try {
    const isTask = call.tool.execution?.taskSupport === 'required';
    return report(call, await (isTask ? callAsTask(connection, call) : callPlainly(connection, call)));
  } catch (error) {
    call.signal.throwIfAborted();
    throw toToolError(error, call, connection.exitSummary());
  }
}

function callPlainly({ client }: Connection, call: ToolCall): Promise<CallToolResult> {
  const { tool, params, timeoutMs, signal, onProgress, traceparent } = call;
  return client.callTool(
    { name: tool.name, arguments: params, ...(traceparent !== undefined && { _meta: { traceparent } }) },
    {
      toolDefinition: tool,
      signal,
      timeout: Math.min(idleMs, timeoutMs),
      resetTimeoutOnProgress: true,
      maxTotalTimeout: timeoutMs,
      onprogress: (progress) => onProgress(describeProgress(progress)),
    },
  );
}

/** The tasks extension: the server works in the background and Lathe polls its state. */
async function callAsTask({ client }: Connection, call: ToolCall): Promise<CallToolResult> {
  const { createTaskSessionFromClient, resultFromTaskOutcome, toolDeclarationFromMcpTool } = await import(
    '@modelcontextprotocol/ext-tasks/client'
  );
  const { tool, params, timeoutMs, onProgress } = call;
  // A variable that is used below, because Node 20 collects a timeout that only `AbortSignal.any` refers to.
  const limit = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([call.signal, limit]);
  const session = createTaskSessionFromClient(client, { endpointId: call.server });
  try {
    const declaration = toolDeclarationFromMcpTool(tool);
    const args: Parameters<typeof session.callTool>[1] = JSON.parse(JSON.stringify(params));
    const execution = await session.callTool(tool.name, args, { declaration, signal });
    const { outcome } = await execution.settle({
      signal,
      onEvent: (event) => {
        if (event.type === 'task') onProgress(describeTask(event.task));
      },
    });
    const result: unknown = resultFromTaskOutcome(outcome);
    if (!isCallToolResult(result)) throw new Error('the task ended without a valid result');
    return result;
  } catch (error) {
    if (limit.aborted && !call.signal.aborted) throw timeout(call, timeoutMs);
    throw error;
  } finally {
    await session.close();
  }
}

function report({ server, tool }: ToolCall, result: CallToolResult): ToolResult {
  const { parts, display } = contentToParts(result);
  const isOneText = parts.length === 1 && parts[0]?.text !== undefined;
  const llmContent = isOneText ? (parts[0]?.text ?? '') : parts;
  if (result.isError !== true) return { llmContent, returnDisplay: display };
  const message = `${tool.name} of the MCP server ${server} reported an error: ${display.slice(0, 4_000)}`;
  return { llmContent, returnDisplay: display, error: { type: 'mcp_tool_error', message } };
}

function describeProgress({ progress, total, message }: Progress): string {
  const share = total === undefined ? `${progress}` : `${progress}/${total}`;
  return message === undefined ? share : `${share} ${sanitizeDescription(message, 500)}`;
}

function describeTask({ status, statusMessage }: { status: string; statusMessage?: string }): string {
  return statusMessage === undefined ? status : `${status}: ${sanitizeDescription(statusMessage, 500)}`;
}

function timeout({ server, tool }: ToolCall, ms: number): ToolError {
  return new ToolError('execution_timeout', `${tool.name} of ${server} did not answer within ${ms / 1000} s.`);
}

function toToolError(error: unknown, call: ToolCall, exitSummary: string): unknown {
  if (error instanceof ToolError) return error;
  const { server, tool, timeoutMs } = call;
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)
    return timeout(call, Math.min(idleMs, timeoutMs));
  const text = sanitizeDescription(thrownText(error), 2_000);
  const isGone = error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed;
  const what = isGone ? 'the connection was lost, and whether the call took effect is unknown' : text;
  const answer = error instanceof ProtocolError ? 'rejected the call: ' : '';
  const message = `${tool.name} of the MCP server ${server}: ${answer}${what}. ${exitSummary}`.trim();
  return new ToolError('mcp_tool_error', message, { cause: error });
}
