import type { GuardedHttp } from '../http/guarded-http.js';
import { askEngine, objectOf, readResults } from './ask-engine.js';
import type { EngineOptions, SearchEngine } from './search-engine.js';

/** Brave Search, with its own index. */
export function brave(http: GuardedHttp, options: EngineOptions): SearchEngine {
  const { baseUrl = 'https://api.search.brave.com', apiKey = '', maxResults = 10 } = options;
  const url = new URL('res/v1/web/search', `${baseUrl.replace(/\/+$/, '')}/`);
  return {
    name: 'brave',
    url,
    async search(query, signal) {
      const address = new URL(url);
      address.searchParams.set('q', query);
      address.searchParams.set('count', String(Math.min(maxResults, 20)));
      const headers = { 'x-subscription-token': apiKey, accept: 'application/json' };
      const json = await askEngine({ name: 'brave', http, secret: apiKey }, { url: address, headers }, signal);
      const list = objectOf(json['web'])?.['results'];
      return { results: readResults(list, maxResults, { snippet: 'description', date: ['page_age', 'age'] }) };
    },
  };
}
