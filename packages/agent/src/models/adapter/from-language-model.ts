import { knownModel } from '../choose/known-models.js';
import { defaultLimits, type HttpLimits } from '../http/http.js';
import { defaultRetryPolicy, type RetryPolicy, withRetries } from '../http/retry.js';
import { asCount, asObject, asString, fieldsOf, isObject, type JsonObject } from '../json.js';
import type { FinishReason, Model, ModelEvent, ModelFeatures, ModelRequest } from '../model.js';
import { ModelError } from '../model-error.js';
import { Answer } from '../wire/answer.js';
import { explainStatus } from '../wire/reported-error.js';
import {
  type LanguageModel,
  type LanguageModelOptions,
  type PartStream,
  type SpecificationVersion,
  specificationVersions,
} from './language-model.js';
import { languageModelEffort, promptOf, toolOf } from './language-model-prompt.js';

/** What an AI SDK model does not say about itself. By default its name tells. */
export interface LanguageModelDetails {
  contextWindow?: number | undefined;
  maxOutputTokens?: number | undefined;
  supports?: ModelFeatures | undefined;
  /** The name of the provider for prices and messages. Default: that of the model. */
  provider?: string | undefined;
  retry?: Partial<RetryPolicy> | undefined;
}

/**
 * Turns a model of the AI SDK (specification v2 to v4) into one of ours. Calls are held back until the model has
 * finished properly: a broken answer is asked for again, and nothing of it runs.
 */
export function fromLanguageModel(model: LanguageModel, details: LanguageModelDetails = {}): Model {
  const version = specificationVersions.find((known) => known === model.specificationVersion);
  if (!version)
    throw new ModelError(
      'bad-request',
      `${model.modelId} has the specification ${model.specificationVersion}; Lathe knows ${specificationVersions.join(', ')}.`,
    );
  const known = knownModel(model.modelId);
  const { provider = model.provider, supports = known.supports, contextWindow = known.contextWindow } = details;
  const place = { provider, supports, maxOutputTokens: details.maxOutputTokens ?? known.maxOutputTokens };
  const policy = { ...defaultRetryPolicy, ...details.retry };
  return {
    id: model.modelId,
    provider,
    contextWindow,
    supports,
    stream: (request, signal) => withRetries(() => ask(model, version, place, request, signal), policy, signal),
  };
}

interface Place {
  provider: string;
  supports: ModelFeatures;
  maxOutputTokens: number | undefined;
}

async function* ask(
  model: LanguageModel,
  version: SpecificationVersion,
  place: Place,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const answer = new Answer(request, place.provider);
  const stream = {
    signatures: new Map(),
    countsCacheApart: version === 'v2' && /anthropic|bedrock/.test(model.provider),
  };
  try {
    const open = (stop: AbortSignal) => model.doStream(optionsOf(model, version, place, request, stop));
    for await (const part of readParts(open, signal)) {
      read(asObject(part), answer, stream);
      yield* answer.takeDeltas();
    }
  } catch (error) {
    signal.throwIfAborted();
    throw explain(error, model, place);
  }
  signal.throwIfAborted();
  if (answer.reason === undefined) throw new ModelError('network', 'The answer broke off before its end.');
  // A provider that saw no proper end says `other`, and has delivered what there was of the calls.
  if (answer.reason === 'other' && answer.hasCalls)
    throw new ModelError('network', 'The answer has calls but no proper end.');
  yield* answer.finish();
}

function optionsOf(
  model: LanguageModel,
  version: SpecificationVersion,
  { provider, supports, maxOutputTokens }: Place,
  request: ModelRequest,
  abortSignal: AbortSignal,
): LanguageModelOptions {
  const { tools, responseSchema } = request;
  const prompt = promptOf(request, { version, provider, modelId: model.modelId, supports });
  const options = {
    prompt,
    maxOutputTokens: request.maxOutputTokens ?? maxOutputTokens,
    ...(tools.length > 0 && { tools: tools.map(toolOf), toolChoice: { type: 'auto' } }),
    ...(tools.length === 0 &&
      responseSchema !== undefined && { responseFormat: { type: 'json', schema: responseSchema } }),
    ...languageModelEffort(request.effort, version, model),
    abortSignal,
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- made for this version above
  return options as unknown as LanguageModelOptions;
}

/** What reading a stream takes besides its parts. */
interface StreamState {
  /** Metadata of the open blocks. It comes with the beginning, a piece or the end; the last one counts. */
  signatures: Map<string, string>;
  countsCacheApart: boolean;
}

function read(part: JsonObject, answer: Answer, { signatures, countsCacheApart }: StreamState): void {
  const id = asString(part['id']);
  const metadata = isObject(part['providerMetadata']) ? JSON.stringify(part['providerMetadata']) : undefined;
  const signature = metadata ?? signatures.get(id);
  if (signature !== undefined) signatures.set(id, signature);
  switch (part['type']) {
    case 'text-delta':
      return answer.text(asString(part['delta']));
    case 'text-end':
      signatures.delete(id);
      return answer.text('', signature);
    case 'reasoning-delta':
      return answer.reasoning(asString(part['delta']));
    case 'reasoning-end':
      signatures.delete(id);
      return answer.reasoning('', signature);
    case 'tool-call':
      // One that the provider runs itself is content.
      if (part['providerExecuted'] === true) return undefined;
      return answer.call({
        id: asString(part['toolCallId']),
        hasUniqueId: true,
        name: asString(part['toolName']),
        args: isObject(part['input']) ? part['input'] : textOf(part['input']),
        thoughtSignature: metadata,
        isWhole: true,
      });
    case 'finish':
      readUsage(part, answer, countsCacheApart);
      return answer.end(reasonOf(part['finishReason']));
    case 'error':
      throw part['error'];
    default:
      // The beginning and pieces of what follows as a whole, sources, files, and parts added later.
      return undefined;
  }
}

/** Anything but text or an object is not an argument list, and stays one. */
function textOf(input: unknown): string {
  return typeof input === 'string' ? input : JSON.stringify(input ?? {});
}

/** A word in v2, an object with a word from v3 on. */
function reasonOf(value: unknown): FinishReason {
  const word = asString(value) || asString(asObject(value)['unified']);
  if (word === 'error') throw new ModelError('network', 'The provider ended the answer with an error.');
  return finishReasons[word] ?? 'other';
}

const finishReasons: Record<string, FinishReason> = {
  stop: 'stop',
  'tool-calls': 'calls',
  length: 'length',
  'content-filter': 'filter',
};

/** Numbers in v2, objects from v3 on. In v2 Claude's providers say only in metadata what they put into the cache. */
function readUsage(part: JsonObject, answer: Answer, countsCacheApart: boolean): void {
  const usage = asObject(part['usage']);
  const { inputTokens: input, outputTokens: output } = usage;
  answer.usage({
    [countsCacheApart ? 'freshInputTokens' : 'inputTokens']: asCount(isObject(input) ? input['total'] : input),
    outputTokens: asCount(isObject(output) ? output['total'] : output),
    cachedInputTokens: asCount(isObject(input) ? input['cacheRead'] : usage['cachedInputTokens']),
    cacheWriteTokens: asCount(isObject(input) ? input['cacheWrite'] : cacheWriteIn(part['providerMetadata'])),
    reasoningTokens: asCount(isObject(output) ? output['reasoning'] : usage['reasoningTokens']),
  });
}

function cacheWriteIn(metadata: unknown): unknown {
  const { anthropic, bedrock } = asObject(metadata);
  return (
    asObject(anthropic)['cacheCreationInputTokens'] ?? asObject(asObject(bedrock)['usage'])['cacheWriteInputTokens']
  );
}

/** The errors of the AI SDK carry the status and the body of the answer. */
function explain(error: unknown, { modelId }: LanguageModel, { provider, supports }: Place): ModelError {
  if (error instanceof ModelError) return error;
  const { statusCode, responseHeaders, responseBody, message, url } = fieldsOf(error);
  const text = asString(message) || String(error);
  const endpoint = { provider, supports, model: modelId, baseUrl: asString(url), apiKey: 'set' };
  if (typeof statusCode === 'number' && statusCode !== 200) {
    const body = asString(responseBody) || JSON.stringify({ message: text });
    return explainStatus(statusCode, headersOf(responseHeaders), body, endpoint);
  }
  return new ModelError('network', `${provider} did not answer properly: ${text.slice(0, 400)}`, { cause: error });
}

function headersOf(value: unknown): Record<string, string> {
  const entries = Object.entries(asObject(value)).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(entries);
}

/** Reads the parts of a stream, and gives up on abort, or when nothing arrives or nothing ends for too long. */
export async function* readParts(
  open: (signal: AbortSignal) => PromiseLike<{ stream: PartStream }>,
  signal: AbortSignal,
  limits: Pick<HttpLimits, 'firstByteMs' | 'idleMs' | 'totalMs'> = defaultLimits,
): AsyncGenerator {
  const given = new AbortController();
  const giveUp = (message: string) => () => given.abort(new ModelError('timeout', message));
  const stop = AbortSignal.any([signal, given.signal]);
  const total = setTimeout(giveUp('The answer did not end in time.'), limits.totalMs);
  // A provider may ignore the signal.
  const stopped = new Promise<never>((_, reject) => {
    if (stop.aborted) reject(stop.reason);
    stop.addEventListener('abort', () => reject(stop.reason), { once: true });
  });
  stopped.catch(() => undefined);
  const within = async <T>(ms: number, work: PromiseLike<T>): Promise<T> => {
    const timer = setTimeout(giveUp(`The model fell silent: no data for ${ms / 1000} s.`), ms);
    return await Promise.race([work, stopped]).finally(() => clearTimeout(timer));
  };
  try {
    const { stream } = await within(limits.firstByteMs, open(stop));
    const reader = stream.getReader();
    try {
      for (let ms = limits.firstByteMs; ; ms = limits.idleMs) {
        const { done, value } = await within(ms, reader.read());
        if (done) return;
        yield value;
      }
    } finally {
      reader.cancel().then(undefined, () => undefined);
    }
  } finally {
    clearTimeout(total);
  }
}
