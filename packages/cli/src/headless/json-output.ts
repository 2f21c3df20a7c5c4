import { randomUUID } from 'node:crypto';
import type { AgentEvent, UsageReport } from '@lathe/agent';
import type { Message, Usage } from '@lathe/agent/models';
import type { FunctionResponse, Part } from '@lathe/core';
import { headOf, responseText } from '@lathe/core/host';
import type { Outcome, Output, RunInfo } from './output.js';
import { PartialMessages } from './partial-messages.js';

/**
 * Writes the messages that Qwen Code and Claude Code print with `--output-format json` and `stream-json`: system,
 * assistant, user, result, and stream_event for partial messages.
 */
export class JsonOutput implements Output {
  readonly #write: (message: object) => void;
  readonly #partial: PartialMessages | undefined;
  #sessionId = '';
  /** Answers without usage figures yet, by the call that started their agent. */
  readonly #answers = new Map<string | null, Message>();

  constructor(write: (message: object) => void, { isPartial }: { isPartial: boolean }) {
    this.#write = write;
    if (isPartial)
      this.#partial = new PartialMessages((event, parent) => this.#send({ type: 'stream_event', event }, parent));
  }

  begin({ sessionId, mcpServers, ignoredSettings, ...rest }: RunInfo): void {
    this.#sessionId = sessionId;
    const more = ignoredSettings.length > 0 ? { ignored_settings: ignoredSettings } : {};
    this.#send({ type: 'system', subtype: 'init', ...rest, mcp_servers: mcpServers, slash_commands: [], ...more });
  }

  event(event: AgentEvent, parent: string | null = null): void {
    if (event.type === 'subagent-event') {
      this.event(event.event, event.callId);
      return;
    }
    this.#partial?.event(event, parent);
    if (event.type === 'message-add') this.#message(event.message, parent);
    else if (event.type === 'usage') this.#assistant(event.usage, parent);
    else this.#system(event);
  }

  end(outcome: Outcome): void {
    this.#send({
      type: 'result',
      subtype: subtypeOf(outcome.reason),
      is_error: outcome.reason !== 'done',
      duration_ms: outcome.durationMs,
      duration_api_ms: outcome.modelMs,
      num_turns: outcome.turns,
      result: outcome.text,
      ...(outcome.value !== undefined && { structured_output: outcome.value }),
      usage: usageOf(outcome.usage),
      // Null when a price is not known.
      total_cost_usd: outcome.cost === undefined ? null : Math.round(outcome.cost * 10_000) / 1_000_000,
      permission_denials: outcome.denials,
      ...(outcome.reason !== 'done' && { error: { type: outcome.reason, message: outcome.message ?? outcome.reason } }),
    });
  }

  #message(message: Message, parent: string | null): void {
    if (message.role === 'model') this.#answers.set(parent, message);
    if (message.role !== 'tool') return;
    const content = message.parts.flatMap(({ functionResponse }) =>
      functionResponse ? [resultOf(functionResponse)] : [],
    );
    this.#send({ type: 'user', message: { role: 'user', content } }, parent);
  }

  #assistant({ model, request }: UsageReport, parent: string | null): void {
    const answer = this.#answers.get(parent);
    if (!answer) return;
    this.#answers.delete(parent);
    const content = answer.parts.flatMap(blockOf);
    const stop_reason = content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn';
    const message = { id: randomUUID(), type: 'message', role: 'assistant', model, content, stop_reason };
    this.#send({ type: 'assistant', message: { ...message, usage: usageOf(request) } }, parent);
  }

  #system(event: AgentEvent): void {
    const details = systemDetails(event);
    if (details) this.#send({ type: 'system', ...details });
  }

  #send(message: { type: string; [key: string]: unknown }, parent?: string | null): void {
    const { type, ...rest } = message;
    this.#write({
      type,
      uuid: randomUUID(),
      session_id: this.#sessionId,
      ...(parent !== undefined && { parent_tool_use_id: parent }),
      ...rest,
    });
  }
}

function systemDetails(event: AgentEvent): { subtype: string; [key: string]: unknown } | undefined {
  if (event.type === 'notice') return { subtype: 'notice', level: event.level, message: event.message };
  if (event.type === 'retry')
    return { subtype: 'api_retry', attempt: event.attempt, retry_delay_ms: event.delayMs, error: event.reason };
  if (event.type === 'compaction-end') {
    const { method, tokensBefore, tokensAfter } = event.compaction;
    const compact_metadata = { trigger: 'auto', method, pre_tokens: tokensBefore, post_tokens: tokensAfter };
    return { subtype: 'compact_boundary', compact_metadata };
  }
  return undefined;
}

type Block =
  | { type: 'text'; text: string }
  | { type: 'thinking'; thinking: string; signature?: string }
  | { type: 'tool_use'; id: string; name: string; input: unknown };

function blockOf({ text, thought, thoughtSignature, functionCall }: Part): Block[] {
  if (functionCall) {
    const { id = '', name = '', args = {} } = functionCall;
    return [{ type: 'tool_use', id, name, input: args }];
  }
  if (!text) return [];
  if (!thought) return [{ type: 'text', text }];
  return [{ type: 'thinking', thinking: text, ...(thoughtSignature && { signature: thoughtSignature }) }];
}

/** Longer results are cut off in the stream. */
const maxResultCharacters = 65_536;

function resultOf(result: FunctionResponse) {
  const { id = '', response = {} } = result;
  const isError = response['error'] !== undefined;
  const text = responseText(result);
  const content = text.length > maxResultCharacters ? `${headOf(text, maxResultCharacters)}…` : text;
  return { type: 'tool_result', tool_use_id: id, is_error: isError, content };
}

function usageOf({ inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens, reasoningTokens }: Usage) {
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cache_read_input_tokens: cachedInputTokens,
    ...(cacheWriteTokens && { cache_creation_input_tokens: cacheWriteTokens }),
    reasoning_tokens: reasoningTokens,
    total_tokens: inputTokens + outputTokens,
  };
}

function subtypeOf(reason: Outcome['reason']): string {
  if (reason === 'done') return 'success';
  return reason === 'max-turns' ? 'error_max_turns' : 'error_during_execution';
}
