/** A search engine. Each implementation is a small file on top of `GuardedHttp`. */
export interface SearchEngine {
  /** Its name in settings and calls. */
  readonly name: string;
  /** Where queries are sent; the user approves this. */
  readonly url: URL;
  search(query: string, signal: AbortSignal): Promise<SearchAnswer>;
}

/** What a search engine found. */
export interface SearchAnswer {
  /** Some engines also return an answer. */
  answer?: string;
  results: SearchResult[];
}

export interface SearchResult {
  title: string;
  url: string;
  snippet: string;
  date?: string;
}

export interface EngineOptions {
  baseUrl?: string | undefined;
  apiKey?: string | undefined;
  maxResults?: number | undefined;
}
