import type { XStatic } from 'typebox/schema';
import type { Confirmation } from '../contract/confirmation.js';
import { ToolError } from '../contract/errors.js';
import type { Target } from '../contract/target.js';
import { isLowSurrogate } from '../text/truncate.js';
import { hasHiddenText, visibleText } from '../text/visible-text.js';
import type { GuardedHttp } from '../web/http/guarded-http.js';
import { findHostPayload, findPayloads, findText } from '../web/http/payload-check.js';
import { hostOf, hostRule, parseWebUrl, portOf } from '../web/http/url-check.js';
import { markOrigin } from '../web/page/mark-origin.js';
import { readPage, type WebPage } from '../web/page/read-page.js';
import { BaseTool, type ToolResult } from './tools.js';

const parameterSchema = {
  type: 'object',
  properties: {
    url: { type: 'string', description: 'http(s) URL' },
    prompt: { type: 'string', description: 'What to find on the page' },
  },
  required: ['url', 'prompt'],
} as const;

type Params = XStatic<typeof parameterSchema>;

/** A model that reads a page and nothing else: no tools, no history. */
export interface Answerer {
  answer(question: { page: string; url: string; prompt: string }, signal: AbortSignal): Promise<string>;
}

export interface WebFetchOptions {
  http: GuardedHttp;
  /** Keeps the text of a long page; returns the file's path. */
  spill: (name: string, text: string) => Promise<string>;
  answerer?: Answerer;
  /** Values that must not leave in an address without a person's word. */
  secrets?: readonly string[];
}

const shownChars = 20_000;
const answererChars = 100_000;

/** `web_fetch`: a public page as Markdown, or a side model's answer about it. */
export class WebFetchTool extends BaseTool<Params> {
  readonly #options: WebFetchOptions;
  readonly #cache = new PageCache();

  constructor(options: WebFetchOptions) {
    super({
      name: 'web_fetch',
      displayName: 'WebFetch',
      description: 'Read a public web page as Markdown.',
      kind: 'fetch',
      parameterSchema,
      parameterAliases: { url: ['uri', 'link'], prompt: ['question', 'query'] },
    });
    this.#options = options;
  }

  protected override validateToolParamValues({ url: text, prompt }: Params): string | null {
    if (prompt.trim() === '') return 'prompt must say what to find on the page';
    const url = parseWebUrl(text);
    return typeof url === 'string' ? url : (this.#options.http.refusal(rawFileUrl(url)) ?? null);
  }

  override getDescription({ url }: Params): string {
    return visibleText(url);
  }

  override getTargets(params: Params): Target[] {
    const [payload] = this.#payloads(params);
    const targets = urlsOf(params).map(
      (url): Target => ({
        type: 'host',
        host: hostOf(url),
        ...((url.port !== '' || this.#options.http.opens(url)) && { port: portOf(url) }),
        asks: true,
        sends: { to: hostOf(url), address: params.url },
        brings: { what: `the page ${hostOf(url)}${url.pathname}` },
        ...(payload && { guarded: `the address carries data away: ${payload.why}` }),
      }),
    );
    // What cannot be seen is asked for, whatever a rule says about the host.
    const unseen = hasHiddenText(params.url) ? targets.map((target) => ({ ...target, hidden: true })) : [];
    return [...targets, ...unseen];
  }

  override async shouldConfirmExecute(params: Params): Promise<Confirmation> {
    const urls = urlsOf(params);
    const [url] = urls;
    const isHidden = hasHiddenText(params.url);
    const warnings = [
      ...(isHidden ? ['The address holds invisible characters; they are shown as escapes.'] : []),
      ...(url && /(?:^|\.)xn--/.test(url.hostname) ? [`The host is really ${url.hostname}.`] : []),
      ...this.#payloads(params).map(({ shown, why }) => `The address carries data away: ${shown} (${why}).`),
    ];
    return {
      type: 'info',
      title: 'Fetch a web page',
      prompt: `Fetch ${visibleText(params.url)}`,
      urls: [...new Set([visibleText(params.url), ...urls.map(({ href }) => href)])],
      ...(!isHidden && { rules: [...new Set(urls.map((each) => `web_fetch(${hostRule(each)})`))] }),
      ...(warnings.length > 0 && { warnings }),
    };
  }

  async execute(params: Params, signal: AbortSignal): Promise<ToolResult> {
    const url = rawFileUrl(checkedUrl(params));
    const found = await this.#page(url, signal);
    if ('redirect' in found) {
      const text = `${url.href} redirects to another host: ${found.redirect}\nCall web_fetch with that URL to follow it.`;
      return { llmContent: text, returnDisplay: `Redirected to ${found.redirect}` };
    }
    const { page } = found;
    const returnDisplay = `Fetched ${visibleText(page.url)} (${page.mediaType})`;
    if (page.content.type === 'part') return { llmContent: [`${page.url}:`, page.content.part], returnDisplay };
    const answer = await this.#answer(page, page.content.text, params.prompt, signal);
    return { llmContent: answer ?? (await this.#present(page, page.content.text)), returnDisplay };
  }

  async #page(url: URL, signal: AbortSignal): Promise<{ page: WebPage } | { redirect: string }> {
    const key = url.href.replace(/#.*$/, '');
    const known = this.#cache.get(key);
    if (known) return { page: known };
    const answer = await this.#options.http.send({ url, headers: { accept } }, signal);
    if (answer.type === 'redirect') return { redirect: answer.to.href };
    if (answer.status < 200 || answer.status > 299) throw statusError(answer);
    const page = await readPage(answer, signal);
    this.#cache.set(key, page);
    return { page };
  }

  /** The side model's answer; `undefined` when there is none, or it fails: then the page speaks for itself. */
  async #answer(page: WebPage, text: string, prompt: string, signal: AbortSignal): Promise<string | undefined> {
    if (!this.#options.answerer) return undefined;
    try {
      const question = { page: truncateAtParagraph(text, answererChars).text, url: page.url, prompt };
      const answer = await this.#options.answerer.answer(question, signal);
      return markOrigin(`What ${page.url} says about it, told by a model that read the page:`, answer);
    } catch {
      signal.throwIfAborted();
      return undefined;
    }
  }

  async #present({ url, mediaType, title, notes }: WebPage, text: string): Promise<string> {
    const { text: shown, left, nextLine, isLineCut } = truncateAtParagraph(text, shownChars);
    const head = [`${url} (${mediaType})`, ...notes].join('\n');
    const content = markOrigin(head, title === '' ? shown : `Title: ${title}\n\n${shown}`);
    if (left === 0) return content;
    const path = await this.#options.spill('web_fetch', text);
    const other = isLineCut ? ', or look for words with grep_search: its lines are long' : '';
    return `${content}\n[${left} more characters: read_file ${path} from offset ${nextLine}${other}]`;
  }

  #payloads(params: Params) {
    const url = checkedUrl(params);
    return [
      ...findHostPayload(hostOf(url), this.#options.secrets ?? []),
      ...findPayloads(`${url.pathname}${url.search}${url.hash}`, this.#options.secrets ?? []),
      ...findText(url),
    ];
  }
}

const accept = 'text/markdown, text/html;q=0.9, text/plain;q=0.8, */*;q=0.5';

function checkedUrl({ url: text }: Params): URL {
  const url = parseWebUrl(text);
  if (typeof url === 'string') throw new ToolError('invalid_tool_params', url);
  return url;
}

/** The address that was asked for and, when it is another one, the address that answers. */
function urlsOf(params: Params): URL[] {
  const url = checkedUrl(params);
  const raw = rawFileUrl(url);
  return raw.href === url.href ? [url] : [url, raw];
}

function statusError({ url, status, retryAfter }: { url: URL; status: number; retryAfter?: string }): ToolError {
  const advice =
    status === 429 || status === 503
      ? ` Try again later${retryAfter === undefined ? '' : ` (Retry-After: ${retryAfter.slice(0, 40)})`}.`
      : status === 401 || status === 403
        ? ' The page needs a login or refuses programs.'
        : '';
  return new ToolError('web_fetch_fallback_failed', `${url.href} answered with status ${status}.${advice}`);
}

const maxPages = 32;
const maxChars = 20_000_000;
const maxAgeMs = 15 * 60_000;

/** Caches the pages of this session, so that a second question about a page needs no second request. */
class PageCache {
  readonly #pages = new Map<string, { page: WebPage; at: number; size: number }>();
  #size = 0;

  get(url: string): WebPage | undefined {
    const found = this.#pages.get(url);
    if (!found) return undefined;
    if (performance.now() - found.at < maxAgeMs) return found.page;
    this.#drop(url);
    return undefined;
  }

  set(url: string, page: WebPage): void {
    const { content } = page;
    const size = content.type === 'text' ? content.text.length : (content.part.inlineData?.data?.length ?? 0);
    this.#drop(url);
    this.#pages.set(url, { page, at: performance.now(), size });
    this.#size += size;
    for (const oldest of this.#pages.keys()) {
      if (this.#pages.size <= maxPages && this.#size <= maxChars) return;
      this.#drop(oldest);
    }
  }

  #drop(url: string): void {
    this.#size -= this.#pages.get(url)?.size ?? 0;
    this.#pages.delete(url);
  }
}

/** The raw URL of a file page on GitHub; other URLs stay as they are. */
function rawFileUrl(url: URL): URL {
  if (url.origin !== 'https://github.com') return url;
  const [, owner, repository, path] = /^\/([^/]+)\/([^/]+)\/blob\/(.+)$/.exec(url.pathname) ?? [];
  return path === undefined ? url : new URL(`https://raw.githubusercontent.com/${owner}/${repository}/${path}`);
}

export interface TruncatedPage {
  text: string;
  /** Characters that were cut off. */
  left: number;
  /** The 0-based line where the rest begins. */
  nextLine: number;
  /** The rest begins inside a line. */
  isLineCut: boolean;
}

/** The first `limit` characters of a text at most, cut at the end of a paragraph if there is one nearby. */
function truncateAtParagraph(text: string, limit: number): TruncatedPage {
  const at = endOfBeginning(text, limit);
  const head = text.slice(0, at);
  const isLineCut = at < text.length && text.charAt(at) !== '\n';
  const fences = at < text.length ? (head.match(/^ {0,3}```/gm)?.length ?? 0) : 0;
  return {
    text: fences % 2 === 0 ? head : `${head}\n\`\`\``,
    left: text.length - at,
    nextLine: head.split('\n').length - (isLineCut ? 1 : 0),
    isLineCut,
  };
}

function endOfBeginning(text: string, limit: number): number {
  if (text.length <= limit) return text.length;
  const breaks = ['\n\n', '\n', ' '].map((separator) => text.lastIndexOf(separator, limit));
  const at = breaks.find((position) => position > limit / 2) ?? limit;
  return isLowSurrogate(text, at) ? at - 1 : at;
}
