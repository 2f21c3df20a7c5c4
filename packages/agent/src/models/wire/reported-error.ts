import { redact } from '@lathe/core/host';
import { asList, asObject, asString, parseJson } from '../json.js';
import { ModelError, type ModelErrorKind } from '../model-error.js';
import type { Endpoint } from './wire-format.js';

/** An error that a server reports inside an answer with status 200. */
export function reportedError(error: unknown, endpoint: Endpoint): ModelError {
  const { code, type, status } = asObject(error);
  const number = typeof code === 'number' ? code : typeof status === 'number' ? status : 0;
  const word = [code, type, status].map(asString).join(' ');
  const known = number >= 400 ? number : (statusOfWord.find(([pattern]) => pattern.test(word))?.[1] ?? 500);
  return explainStatus(known, {}, JSON.stringify({ error }), endpoint);
}

const statusOfWord: [RegExp, number][] = [
  [/overloaded/i, 529],
  [/rate_limit|RESOURCE_EXHAUSTED|too_many/i, 429],
  [/authentication|invalid_api_key|UNAUTHENTICATED/i, 401],
  [/permission/i, 403],
  [/not_found/i, 404],
  [/request_too_large/i, 413],
  [/invalid_request|INVALID_ARGUMENT|bad_request|context_length/i, 400],
];

/** Turns a rejected request into a typed error whose message says what to do. `body` is what the server sent. */
export function explainStatus(
  status: number,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: string,
  endpoint: Endpoint,
): ModelError {
  const detail = clean(messageIn(body), endpoint);
  const kind = kindOf(status, body);
  const retryAfterMs = retryAfter(headers, body);
  const said = detail === '' ? `(${status})` : `(${status}: ${detail})`;
  return new ModelError(kind, `${sentence(kind, endpoint, status)} ${said}`, { status, retryAfterMs });
}

function kindOf(status: number, body: string): ModelErrorKind {
  if (noMoney.test(body)) return 'quota';
  if (status !== 429 && tooLong.test(body)) return 'too-long';
  if (badKey.test(body)) return 'auth';
  return kindOfStatus[status] ?? (status >= 500 ? 'overloaded' : status >= 400 ? 'bad-request' : 'bad-response');
}

const kindOfStatus: Record<number, ModelErrorKind> = {
  401: 'auth',
  402: 'quota',
  403: 'auth',
  404: 'not-found',
  408: 'overloaded',
  413: 'too-long',
  429: 'rate-limit',
};

const noMoney =
  /insufficient_quota|credit balance is too low|insufficient (?:balance|credits)|billing_hard_limit|Arrearage/i;
const badKey = /API key not valid|API_KEY_INVALID|invalid_api_key/i;
const tooLong = new RegExp(
  [
    'context_length_exceeded|exceed_context_size|model_context_window_exceeded|string_above_max_length',
    'prompt is too long|input is too long|request too large|too many (?:input )?tokens',
    '(?:maximum|max|exceeds?|exceeded|larger than|beyond)[^".]{0,40} context (?:length|window|size)',
    'context (?:length|window|size)[^".]{0,40} exceed|range of input length|input token count[^".]{0,40} exceeds',
  ].join('|'),
  'i',
);

function sentence(kind: ModelErrorKind, endpoint: Endpoint, status: number): string {
  const { model, baseUrl } = endpoint;
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl;
  const provider = serverName(endpoint);
  const sentences: Partial<Record<ModelErrorKind, string>> = {
    auth: adviceOnKey(endpoint, status),
    quota: `The account at ${provider} has no credit or quota left.`,
    'not-found': `${provider === host ? host : `${provider} at ${host}`} does not know the model ${model} (or the base URL is wrong): check --model.`,
    'too-long': `The conversation does not fit into the context of ${model}.`,
    'bad-request': `${provider} rejected the request.`,
    'rate-limit': `${provider} is limiting the rate of requests.`,
    overloaded: `${provider} has trouble answering.`,
  };
  return sentences[kind] ?? `${host} did not answer like a model: is the base URL right?`;
}

/** A server without a name is known by its address. */
export function serverName({ provider, baseUrl }: Pick<Endpoint, 'provider' | 'baseUrl'>): string {
  return provider === 'custom' && URL.canParse(baseUrl) ? new URL(baseUrl).host : provider;
}

function adviceOnKey(endpoint: Endpoint, status: number): string {
  const { model, keyVariable, apiKey } = endpoint;
  const provider = serverName(endpoint);
  const key = keyVariable ?? 'model.apiKey in your settings';
  if (!apiKey) return `${provider} needs a key: set ${key}.`;
  if (status === 403) return `${provider} does not let this key use ${model}: check ${key} and its permissions.`;
  return `${provider} rejected the key: check ${key}.`;
}

/** The message inside an error body in any of the usual shapes; of a web page only its title. */
function messageIn(body: string): string {
  const value = parseJson(body);
  if (value === undefined) return /<title>([^<]{0,200})/i.exec(body)?.[1] ?? (/^\s*</.test(body) ? 'a web page' : body);
  const object = asObject(Array.isArray(value) ? value[0] : value);
  const error = object['error'] ?? object;
  if (typeof error === 'string') return error;
  const { message, detail, metadata } = asObject(error);
  // OpenRouter hides the message of the provider behind it here.
  const raw = asString(asObject(metadata)['raw']);
  const text = asString(message) || asString(detail) || asString(object['message']) || asString(object['detail']);
  return raw === '' ? text : `${text} ${raw}`;
}

/** Messages of a provider are shown on a terminal: no keys, no control characters, limited length. */
function clean(text: string, { apiKey, headers }: Endpoint): string {
  const printable = redact(text, [apiKey, ...Object.values(headers ?? {})]).replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ');
  return printable.length > 400 ? `${printable.slice(0, 400)}…` : printable.trim();
}

/** Milliseconds from `retry-after-ms`, `Retry-After` in seconds or as a date, or Google's RetryInfo; else undefined. */
export function retryAfter(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: string,
  now = Date.now(),
): number | undefined {
  const ms = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (ms >= 0) return ms;
  const header = headers['retry-after'];
  if (typeof header === 'string' && header.trim() !== '') {
    const seconds = Number(header);
    if (!Number.isNaN(seconds)) return seconds >= 0 ? seconds * 1000 : undefined;
    const date = Date.parse(header);
    if (!Number.isNaN(date)) return Math.max(0, date - now);
  }
  const value = parseJson(body);
  const details = asList(asObject(asObject(Array.isArray(value) ? value[0] : value)['error'])['details']);
  const delay = details.map((detail) => asString(asObject(detail)['retryDelay'])).find(Boolean);
  const match = /^(\d+(?:\.\d+)?)s$/.exec(delay ?? '');
  return match ? Number(match[1]) * 1000 : undefined;
}
