/** A place that answers queries. Each implementation is one page of code over `GuardedHttp`. */
export interface SearchEngine {
  /** What settings and calls call it. */
  readonly name: string;
  /** Where queries go: what a person approves. */
  readonly url: URL;
  search(query: string, signal: AbortSignal): Promise<SearchAnswer>;
}

export interface SearchAnswer {
  /** Some engines also say something themselves. */
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
