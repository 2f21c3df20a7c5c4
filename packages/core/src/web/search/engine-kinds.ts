import { ToolError, thrownText } from '../../contract/errors.js';
import { parseJson } from '../../text/parse-json.js';
import { redact } from '../../text/redact.js';
import { isRecord } from '../../text/schema/schema-nodes.js';
import type { GuardedHttp, WebRequest } from '../http/guarded-http.js';
import { decodeEntities } from '../page/html-entities.js';
import type { EngineOptions, SearchAnswer, SearchEngine, SearchResult } from './search-engine.js';

/** How one kind of engine is called and how its response is read. */
interface EngineKind {
  baseUrl: string;
  path: string;
  maxResults: number;
  request(url: URL, query: string, options: { apiKey: string; maxResults: number }): WebRequest;
  read(json: Json, maxResults: number): SearchAnswer;
}

export const engineKinds = {
  /** A SearXNG or searx server of the user: a metasearch engine without a key. */
  searxng: {
    baseUrl: 'http://localhost:8080',
    path: 'search',
    maxResults: 10,
    request: (url, query) => ({ url: withParameters(url, { q: query, format: 'json' }) }),
    read(json, maxResults) {
      const [first] = Array.isArray(json['answers']) ? json['answers'] : [];
      const fields = { snippet: 'content', date: ['publishedDate', 'pubdate'] };
      const results = readResults(json['results'], maxResults, fields);
      return { results, ...answerOf(objectOf(first)?.['answer'] ?? first) };
    },
  },
  /** Tavily: a search engine for agents, which also returns an answer. */
  tavily: {
    baseUrl: 'https://api.tavily.com',
    path: 'search',
    maxResults: 5,
    request(url, query, { apiKey, maxResults }) {
      const count = Math.min(maxResults, 20);
      const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
      const parameters = { query, max_results: count, search_depth: 'advanced', include_answer: true };
      return { url, method: 'POST', headers, body: JSON.stringify(parameters) };
    },
    read(json, maxResults) {
      const results = readResults(json['results'], maxResults, { snippet: 'content', date: ['published_date'] });
      return { results, ...answerOf(json['answer']) };
    },
  },
  /** Brave Search, with its own index. */
  brave: {
    baseUrl: 'https://api.search.brave.com',
    path: 'res/v1/web/search',
    maxResults: 10,
    request: (url, query, { apiKey, maxResults }) => ({
      url: withParameters(url, { q: query, count: String(Math.min(maxResults, 20)) }),
      headers: { 'x-subscription-token': apiKey },
    }),
    read(json, maxResults) {
      const list = objectOf(json['web'])?.['results'];
      return { results: readResults(list, maxResults, { snippet: 'description', date: ['page_age', 'age'] }) };
    },
  },
} as const satisfies Record<string, EngineKind>;

export function createEngine(name: keyof typeof engineKinds, http: GuardedHttp, options: EngineOptions): SearchEngine {
  const kind: EngineKind = engineKinds[name];
  const { baseUrl = kind.baseUrl, apiKey = '', maxResults = kind.maxResults } = options;
  const url = new URL(kind.path, `${baseUrl.replace(/\/+$/, '')}/`);
  return {
    name,
    url,
    async search(query, signal) {
      const request = kind.request(url, query, { apiKey, maxResults });
      const headers = { ...request.headers, accept: 'application/json' };
      const json = await askEngine({ name, http, secret: apiKey }, { ...request, headers }, signal);
      return kind.read(json, maxResults);
    },
  };
}

function withParameters(url: URL, parameters: Record<string, string>): URL {
  const result = new URL(url);
  for (const [name, value] of Object.entries(parameters)) result.searchParams.set(name, value);
  return result;
}

function answerOf(value: unknown): { answer?: string } {
  const answer = plainText(value, 2000);
  return answer === '' ? {} : { answer };
}

/** A JSON object that is not validated yet. */
export type Json = { readonly [key: string]: unknown };

/** Sends a request to an engine and returns the JSON object of its response. No error message contains the key. */
async function askEngine(
  engine: { name: string; http: GuardedHttp; secret?: string | undefined },
  request: WebRequest,
  signal: AbortSignal,
): Promise<Json> {
  const fail = (what: string, cause?: unknown) =>
    new ToolError('web_search_failed', redact(`${engine.name} ${what}`, [engine.secret]), { cause });
  const answer = await engine.http.send({ ...request, redirects: 'never' }, signal).catch((error: unknown) => {
    signal.throwIfAborted();
    throw fail(`cannot be reached: ${thrownText(error)}`);
  });
  if (answer.type === 'redirect') throw fail(`redirects to ${answer.to.origin}. Check its baseUrl.`);
  const { status, body, retryAfter } = answer;
  const text = body.bytes.toString();
  // If an engine echoes the key, it must not reach the conversation.
  const parsed = parseJson(engine.secret ? text.replaceAll(engine.secret, '[redacted]') : text);
  const json = parsed.ok ? objectOf(parsed.value) : undefined;
  if (status < 200 || status > 299) throw fail(statusSentence(status, retryAfter, detailOf(json)));
  if (!json || body.isCut) throw fail('did not answer with JSON. For SearXNG, list json in search.formats.');
  return json;
}

function statusSentence(status: number, retryAfter: string | undefined, detail: string): string {
  const retry = retryAfter === undefined ? '' : `; retry after ${retryAfter.slice(0, 40)}`;
  const meaning =
    status === 429 ? `rejected the request because of its rate limit${retry}` : statusMeanings.get(status);
  return `${meaning ?? 'failed'} (status ${status})${detail === '' ? '' : `: ${detail}`}.`;
}

const statusMeanings = new Map([
  ...[401, 403].map(
    (status) => [status, 'rejected the request: its key is missing or wrong, or it does not allow JSON'] as const,
  ),
  ...[402, 432, 433].map((status) => [status, 'reports that the plan is used up'] as const),
]);

/** The reason in an error response, from the fields that engines use. */
function detailOf(json: Json | undefined): string {
  const places = [json?.['error'], json?.['detail'], json?.['message']];
  const texts = places.flatMap((place) => {
    const inner = objectOf(place);
    return [place, inner?.['error'], inner?.['detail'], inner?.['message']];
  });
  return plainText(texts.find((text) => typeof text === 'string') ?? '', 200);
}

export function objectOf(value: unknown): Json | undefined {
  return isRecord(value) ? value : undefined;
}

/** The results of a list; `fields` names their properties. Results without a valid URL are left out. */
function readResults(
  list: unknown,
  limit: number,
  fields: { snippet: string; date: readonly string[] },
): SearchResult[] {
  if (!Array.isArray(list)) return [];
  return list
    .flatMap((entry): SearchResult[] => {
      const item = objectOf(entry);
      const url = item?.['url'];
      if (!item || typeof url !== 'string' || !/^https?:\/\//i.test(url) || !URL.canParse(url)) return [];
      const date = fields.date.map((name) => plainText(item[name], 40)).find((text) => text !== '');
      return [
        {
          title: plainText(item['title'], 200) || url,
          url: new URL(url).href,
          snippet: plainText(item[fields.snippet], 500),
          ...(date !== undefined && { date }),
        },
      ];
    })
    .slice(0, limit);
}

/** One line without markup and invisible characters. */
export function plainText(value: unknown, maxLength: number): string {
  if (typeof value !== 'string') return '';
  const text = decodeEntities(value.slice(0, maxLength * 4).replace(/<\/?[a-z][^<>]{0,100}>/gi, ''))
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\s]+/gu, ' ')
    .trim();
  return text.length > maxLength ? `${text.slice(0, maxLength).replace(/[\ud800-\udbff]$/, '')}…` : text;
}
