/** A turn of a hand-made AI SDK model. */
export interface LanguageTurn {
  reasoning?: string;
  text?: string;
  calls?: { id: string; name: string; input: string; providerExecuted?: boolean }[];
  /** `null`: the stream ends without saying why. */
  finish?: string | null;
  error?: unknown;
  /** What `doStream` throws. */
  refusal?: unknown;
}

/**
 * A language model as the AI SDK's specification of a version describes it, that follows a script. The last turn
 * repeats.
 */
export function scriptedLanguageModel(
  version: 'v2' | 'v3' | 'v4',
  script: readonly LanguageTurn[],
  modelId = 'scripted',
) {
  const requests: Record<string, unknown>[] = [];
  return {
    specificationVersion: version,
    provider: 'test-provider',
    modelId,
    supportedUrls: {},
    requests,
    async doStream(options: object) {
      requests.push({ ...options });
      const turn = script[Math.min(requests.length, script.length) - 1] ?? {};
      if (turn.refusal !== undefined) throw turn.refusal;
      return {
        stream: new ReadableStream<object>({
          start(controller) {
            for (const part of partsOf(turn, version)) controller.enqueue(part);
            controller.close();
          },
        }),
      };
    },
  };
}

function* partsOf(turn: LanguageTurn, version: 'v2' | 'v3' | 'v4'): Generator<object> {
  yield { type: 'stream-start', warnings: [] };
  if (turn.reasoning !== undefined) {
    yield { type: 'reasoning-start', id: 'r' };
    yield { type: 'reasoning-delta', id: 'r', delta: turn.reasoning };
    yield { type: 'reasoning-end', id: 'r', providerMetadata: { test: { signature: 'signed' } } };
  }
  if (turn.text !== undefined) {
    yield { type: 'text-start', id: 't' };
    for (const delta of turn.text.match(/.{1,5}/gs) ?? []) yield { type: 'text-delta', id: 't', delta };
    yield { type: 'text-end', id: 't' };
  }
  for (const { id, name: toolName, input, ...rest } of turn.calls ?? []) {
    yield { type: 'tool-input-start', id, toolName };
    yield { type: 'tool-input-delta', id, delta: input };
    yield { type: 'tool-input-end', id };
    yield { type: 'tool-call', toolCallId: id, toolName, input, ...rest };
  }
  if (turn.error !== undefined) yield { type: 'error', error: turn.error };
  if (turn.finish === null) return;
  const reason = turn.finish ?? (turn.calls ? 'tool-calls' : 'stop');
  if (version === 'v2') {
    const usage = { inputTokens: 20, outputTokens: 9, totalTokens: 29, cachedInputTokens: 8, reasoningTokens: 4 };
    yield { type: 'finish', finishReason: reason, usage };
    return;
  }
  const inputTokens = { total: 20, noCache: 12, cacheRead: 8, cacheWrite: undefined };
  const usage = { inputTokens, outputTokens: { total: 9, text: 5, reasoning: 4 } };
  yield { type: 'finish', finishReason: { unified: reason, raw: reason }, usage };
}
