import type { GuardedHttp } from '../http/guarded-http.js';
import { askEngine, plainText, readResults } from './ask-engine.js';
import type { EngineOptions, SearchEngine } from './search-engine.js';

/** Tavily: a search engine for agents, which also returns an answer. */
export function tavily(http: GuardedHttp, options: EngineOptions): SearchEngine {
  const { baseUrl = 'https://api.tavily.com', apiKey = '', maxResults = 5 } = options;
  const url = new URL('search', `${baseUrl.replace(/\/+$/, '')}/`);
  return {
    name: 'tavily',
    url,
    async search(query, signal) {
      const json = await askEngine(
        { name: 'tavily', http, secret: apiKey },
        {
          url,
          method: 'POST',
          headers: {
            authorization: `Bearer ${apiKey}`,
            'content-type': 'application/json',
            accept: 'application/json',
          },
          body: JSON.stringify({
            query,
            max_results: Math.min(maxResults, 20),
            search_depth: 'advanced',
            include_answer: true,
          }),
        },
        signal,
      );
      const answer = plainText(json['answer'], 2000);
      const results = readResults(json['results'], maxResults, { snippet: 'content', date: ['published_date'] });
      return { results, ...(answer !== '' && { answer }) };
    },
  };
}
