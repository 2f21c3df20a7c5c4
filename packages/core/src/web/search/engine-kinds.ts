import type { GuardedHttp, WebRequest } from '../http/guarded-http.js';
import { askEngine, type Json, objectOf, plainText, readResults } from './ask-engine.js';
import type { EngineOptions, SearchAnswer, SearchEngine } from './search-engine.js';

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
