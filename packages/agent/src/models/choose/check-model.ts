import type { Model } from '../model.js';
import { ModelError } from '../model-error.js';

/** Sends a minimal request and waits for the first sign of an answer. Throws a `ModelError` if the model does not answer. */
export async function checkModel(model: Model, signal: AbortSignal, { timeoutMs = 15_000 } = {}): Promise<void> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const request = {
    system: '',
    history: [{ role: 'user' as const, parts: [{ text: 'Reply with: ok' }] }],
    tools: [],
    maxOutputTokens: 16,
  };
  try {
    for await (const event of model.stream(request, AbortSignal.any([signal, timeout]))) {
      // Without a delay only an option was rejected.
      if (event.type === 'retry' && event.delayMs === 0) continue;
      if (event.type === 'retry' || event.type === 'fallback') throw new ModelError('overloaded', event.reason);
      return;
    }
  } catch (error) {
    if (!timeout.aborted || signal.aborted) throw error;
    throw new ModelError('timeout', `${model.id} did not answer within ${timeoutMs / 1_000} seconds.`);
  }
}
