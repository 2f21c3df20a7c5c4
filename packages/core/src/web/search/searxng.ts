import type { GuardedHttp } from '../http/guarded-http.js';
import { askEngine, objectOf, plainText, readResults } from './ask-engine.js';
import type { EngineOptions, SearchEngine } from './search-engine.js';

/** A SearXNG or searx server of the user: a metasearch engine without a key. */
export function searxng(
  http: GuardedHttp,
  { baseUrl = 'http://localhost:8080', maxResults = 10 }: EngineOptions,
): SearchEngine {
  const url = new URL('search', `${baseUrl.replace(/\/+$/, '')}/`);
  return {
    name: 'searxng',
    url,
    async search(query, signal) {
      const address = new URL(url);
      address.searchParams.set('q', query);
      address.searchParams.set('format', 'json');
      const headers = { accept: 'application/json' };
      const json = await askEngine({ name: 'searxng', http }, { url: address, headers }, signal);
      const [first] = Array.isArray(json['answers']) ? json['answers'] : [];
      const answer = plainText(objectOf(first)?.['answer'] ?? first, 2000);
      const results = readResults(json['results'], maxResults, {
        snippet: 'content',
        date: ['publishedDate', 'pubdate'],
      });
      return { results, ...(answer !== '' && { answer }) };
    },
  };
}
