import type { ElementNode, Node, TransformPlugin } from '@mdream/js';
import { Pace } from '../files/pace.js';
import { isChrome, isHidden, isScopeRoot, type PageScope } from './page-scope.js';
import { splitHtml } from './split-html.js';

export interface ReadablePage {
  title: string;
  markdown: string;
  /** Pieces of text that are in the page but not on the screen; they are left out. */
  hiddenTexts: number;
}

/** Less than this from the part that calls itself the main one, and the whole page is read instead. */
const tooLittle = 200;

/**
 * The readable part of a page as Markdown: headings, text, code, tables and links, which become absolute. The page is
 * converted a piece at a time, and other work gets its turn in between.
 */
export async function htmlToMarkdown(html: string, base: URL, signal: AbortSignal): Promise<ReadablePage> {
  const { pieces, scopes } = await splitHtml(html, new Pace(signal));
  let best: ReadablePage | undefined;
  for (const scope of scopes) {
    const page = await convert(pieces, base, scope, signal);
    if (best === undefined || page.markdown.length > best.markdown.length * 2) best = page;
    if (best.markdown.length >= tooLittle) break;
  }
  return best ?? { title: '', markdown: '', hiddenTexts: 0 };
}

async function convert(
  pieces: readonly string[],
  base: URL,
  scope: PageScope,
  signal: AbortSignal,
): Promise<ReadablePage> {
  const { streamHtmlToMarkdown } = await import('@mdream/js/core');
  const reader = new PageReader(base, scope);
  let markdown = '';
  for await (const chunk of streamHtmlToMarkdown(paced(pieces, signal), {
    plugins: { tagOverrides },
    hooks: [reader.plugin],
  }))
    markdown += chunk;
  return { title: reader.title, markdown: await tidy(markdown, new Pace(signal)), hiddenTexts: reader.hiddenTexts };
}

function paced(pieces: readonly string[], signal: AbortSignal): ReadableStream<string> {
  const pace = new Pace(signal);
  let next = 0;
  return new ReadableStream<string>(
    {
      async pull(controller) {
        if (pace.isTired) await pace.rest();
        const piece = pieces[next++];
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
    },
    { highWaterMark: 0 },
  );
}

/** What is known about an element from itself and from what it stands in. */
interface Standing {
  /** Below the element that is read. */
  isInside: boolean;
  /** Below `main` or `article`, where less is taken for chrome. */
  isContent: boolean;
  isHidden: boolean;
  isLeftOut: boolean;
}

const outermost: Standing = { isInside: false, isContent: false, isHidden: false, isLeftOut: false };

/** Follows the parser and says what is left out. */
class PageReader {
  title = '';
  hiddenTexts = 0;
  readonly plugin: TransformPlugin;
  readonly #scope: PageScope;
  readonly #standings = new WeakMap<Node, Standing>();
  #base: URL;

  constructor(base: URL, scope: PageScope) {
    this.#base = base;
    this.#scope = scope;
    this.plugin = {
      excludesOverflowSubtree: (element) => this.#enter(element).isLeftOut,
      processAttributes: (element) => void this.#enter(element),
      beforeNodeProcess: ({ node }) => (this.#skips(node) ? { skip: true } : undefined),
      processTextNode: (node) => {
        if (node.parent?.name !== 'title') return undefined;
        this.title ||= node.value.replace(/\s+/g, ' ').trim().slice(0, 300);
        return { content: '', skip: true };
      },
    };
  }

  #standing(node: Node | null | undefined): Standing {
    return (node && this.#standings.get(node)) ?? outermost;
  }

  #enter(element: ElementNode): Standing {
    if (element.name === 'base') this.#rebase(element.attributes['href']);
    const outer = this.#standing(element.parent);
    const isContent = outer.isContent || isScopeRoot(element, 'main') || isScopeRoot(element, 'article');
    const isHiddenToo = outer.isHidden || isHidden(element);
    const standing = {
      isInside: outer.isInside || isScopeRoot(element, this.#scope),
      isContent,
      isHidden: isHiddenToo,
      isLeftOut: outer.isLeftOut || isHiddenToo || isChrome(element, isContent),
    };
    this.#standings.set(element, standing);
    if (!standing.isLeftOut) this.#prepare(element);
    return standing;
  }

  #skips(node: Node): boolean {
    const { parent } = node;
    if (node.type === elementNode) {
      const { isInside, isLeftOut } = this.#standing(node);
      return isLeftOut || !isInside;
    }
    if (!parent || parent.name === 'title') return false;
    const { isInside, isHidden: isUnseen, isLeftOut } = this.#standing(parent);
    if (isUnseen && isInside && 'value' in node && /\p{L}{3}/u.test(String(node.value))) this.hiddenTexts++;
    return isLeftOut || !isInside;
  }

  #rebase(href: string | undefined): void {
    if (href !== undefined && URL.canParse(href, this.#base.href)) this.#base = new URL(href, this.#base);
  }

  /** Addresses become absolute; the language of code is written as the converter expects it. */
  #prepare(element: ElementNode): void {
    const language =
      element.name === 'code' ? /(?:^|\s)lang-([\w+#-]+)/.exec(element.attributes['class'] ?? '')?.[1] : undefined;
    if (language !== undefined) element.attributes['class'] = `language-${language}`;
    const name = element.name === 'a' ? 'href' : element.name === 'img' ? 'src' : undefined;
    const value = name === undefined ? undefined : element.attributes[name];
    if (name === undefined || value === undefined) return;
    const url = URL.canParse(value, this.#base.href) ? new URL(value, this.#base) : undefined;
    // What runs, or carries its data along, is no address to go to.
    if (url && /^(?:https?|mailto|ftp):$/.test(url.protocol)) element.attributes[name] = url.href;
    else delete element.attributes[name];
  }
}

const elementNode = 1;

/** Elements that Markdown has no sign for, as ones that it has. */
const tagOverrides = { dl: 'div', dt: 'p', dd: 'p', address: 'p', mark: 'strong' };

/** Characters that no reader sees go, spaces at the ends of lines, and all but one of several empty lines outside code. */
async function tidy(markdown: string, pace: Pace): Promise<string> {
  const lines: string[] = [];
  let fence: string | undefined;
  for (const line of markdown.split('\n')) {
    if (pace.isTired) await pace.rest();
    const text = line.replace(unseen, '').trimEnd();
    const [, sign] = /^\s*(`{3,})/.exec(text.slice(0, 100)) ?? [];
    if (fence === undefined) fence = sign;
    else if (sign !== undefined && sign.length >= fence.length) fence = undefined;
    if (text !== '' || fence !== undefined || lines.at(-1) !== '') lines.push(text);
  }
  return lines.join('\n').trim();
}

const unseen = /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e0fff}]/gu;
