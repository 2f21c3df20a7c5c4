import type { XStatic } from 'typebox/schema';
import type { Confirmation } from '../contract/confirmation.js';
import { ToolError } from '../contract/errors.js';
import type { Target } from '../contract/target.js';
import { visibleText } from '../text/visible-text.js';
import { findPayloads } from '../web/http/payload-check.js';
import { hostOf, portOf } from '../web/http/url-check.js';
import { markOrigin } from '../web/page/mark-origin.js';
import type { SearchAnswer, SearchEngine } from '../web/search/search-engine.js';
import { BaseTool, type ToolResult } from './tools.js';

const query = { type: 'string' } as const;
const parameterSchema = {
  type: 'object',
  properties: { query, provider: { type: 'string' } },
  required: ['query'],
} as const;

type Params = XStatic<typeof parameterSchema>;

export interface WebSearchOptions {
  /** At least one; asked in this order until one answers. */
  engines: readonly SearchEngine[];
  /** Values that must not leave in a query without a person's word. */
  secrets?: readonly string[];
}

const maxQueryLength = 400;

/** `web_search`: titles, links and snippets from the first configured engine that answers. */
export class WebSearchTool extends BaseTool<Params> {
  readonly #engines: readonly SearchEngine[];
  readonly #secrets: readonly string[];

  constructor({ engines, secrets = [] }: WebSearchOptions) {
    const names = engines.map(({ name }) => name);
    super({
      name: 'web_search',
      displayName: 'WebSearch',
      description: 'Search the web: titles, links, snippets. Read a result with web_fetch.',
      kind: 'search',
      parameterSchema:
        names.length < 2
          ? { type: 'object', properties: { query }, required: ['query'] }
          : { ...parameterSchema, properties: { query, provider: { type: 'string', enum: names } } },
      parameterAliases: { query: ['q', 'search', 'prompt'] },
    });
    this.#engines = engines;
    this.#secrets = secrets;
  }

  protected override validateToolParamValues({ query: text }: Params): string | null {
    if (text.trim().length < 2) return 'query must have at least 2 characters';
    return text.length > maxQueryLength
      ? `query has ${text.length} characters; at most ${maxQueryLength} are sent`
      : null;
  }

  override getDescription({ query: text }: Params): string {
    return `"${visibleText(text)}"`;
  }

  override getTargets(params: Params): Target[] {
    const [payload] = findPayloads(params.query, this.#secrets);
    return this.#order(params).map(({ url }) => ({
      type: 'host',
      host: hostOf(url),
      ...(url.port !== '' && { port: portOf(url) }),
      asks: true,
      sends: { to: hostOf(url) },
      brings: { what: 'the results of a web search', from: hostOf(url) },
      ...(payload && { guarded: `the query carries data away: ${payload.why}` }),
    }));
  }

  override async shouldConfirmExecute(params: Params): Promise<Confirmation> {
    const engines = this.#order(params);
    const warnings = findPayloads(params.query, this.#secrets).map(
      ({ shown, why }) => `The query carries data away: ${shown} (${why}).`,
    );
    return {
      type: 'info',
      title: 'Search the web',
      prompt: `Search for "${visibleText(params.query)}" with ${engines.map(({ name }) => name).join(', or ')}`,
      urls: engines.map(({ url }) => url.href),
      rules: [this.name],
      ...(warnings.length > 0 && { warnings }),
    };
  }

  async execute(params: Params, signal: AbortSignal): Promise<ToolResult> {
    const failures: string[] = [];
    for (const engine of this.#order(params)) {
      try {
        return present(params.query, engine.name, await engine.search(params.query, signal), failures);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof ToolError)) throw error;
        failures.push(error.message);
      }
    }
    throw new ToolError('web_search_failed', failures.join(' '));
  }

  /** The engine that the call names goes first; the others stand in for it. */
  #order({ provider }: Params): SearchEngine[] {
    const first = this.#engines.filter(({ name }) => name === provider);
    return [...first, ...this.#engines.filter(({ name }) => name !== provider)];
  }
}

function present(text: string, engine: string, { answer, results }: SearchAnswer, failures: string[]): ToolResult {
  const head = [`Web search results for "${text}" (via ${engine})`, ...failures].join('\n');
  if (results.length === 0 && answer === undefined)
    return { llmContent: `${head}\nNo results. Try other words.`, returnDisplay: `No results from ${engine}` };
  const list = results.map(({ title, url, snippet, date }, index) =>
    [`${index + 1}. ${title}${date === undefined ? '' : ` (${date})`}`, url, snippet].filter(Boolean).join('\n   '),
  );
  const links = results.map(({ title, url }, index) => `${index + 1}. ${visibleText(title)}: ${url}`);
  return {
    llmContent: markOrigin(head, [...(answer === undefined ? [] : [answer]), ...list].join('\n\n')),
    returnDisplay: [`${results.length} results from ${engine}`, ...links].join('\n'),
  };
}
