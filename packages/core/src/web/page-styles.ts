import { declarationsOf, plainCss } from './css-declarations.js';
import type { Attributes } from './html-tokens.js';

/** Characters, of all style sheets of a page. */
export const maxSheets = 256 * 1024;

/**
 * What a page's own style sheets hide: classes and ids of which a plain rule says so, and no other rule anything about
 * being shown. Everything beyond that would take a browser.
 */
export class PageStyles {
  readonly #hidden = new Set<string>();
  /** Selectors that more than one rule is about. */
  readonly #disputed = new Set<string>();
  #left = maxSheets;
  /** Something beside the elements themselves may say on what color their text stands. */
  mayPaint = false;

  /** Takes a style sheet. One that is too long to be read may take back what others say. */
  read(sheet: string): void {
    this.#left -= sheet.length;
    this.mayPaint ||= /background/i.test(sheet);
    if (this.#left < 0) this.#hidden.clear();
    if (this.#left < 0 || !/display|visibility/i.test(sheet)) return;
    let depth = 0;
    for (const rule of plainCss(sheet).split('}')) {
      const parts = rule.split('{');
      const [selector = '', declarations] = parts.slice(-2);
      if (declarations === undefined) depth = Math.max(0, depth - 1);
      else {
        depth += parts.length - 2;
        this.#add(selector.replace(/^.*;/s, ''), declarations, depth === 0);
      }
    }
  }

  /** Whether an element is hidden by its class or id. */
  hides({ class: classes = '', id = '', style = '' }: Attributes): boolean {
    if (this.#hidden.size === 0 || (classes === '' && id === '')) return false;
    // Its own style counts more.
    if (/display|visibility/i.test(style)) return false;
    return this.#hidden.has(`#${id}`) || classes.split(/\s+/, 40).some((name) => this.#hidden.has(`.${name}`));
  }

  #add(selector: string, rule: string, isTop: boolean): void {
    if (!/display|visibility/i.test(rule)) return;
    const style = declarationsOf(rule);
    const isHiding = isTop && (style.get('display')?.at(-1) === 'none' || style.get('visibility')?.at(-1) === 'hidden');
    for (const one of selector.split(',')) {
      const isPlain = plainSelector.test(one.trim());
      for (const [name] of one.matchAll(/[.#][\w-]+/g)) {
        if (isHiding && isPlain && !this.#disputed.has(name)) this.#hidden.add(name);
        else this.#hidden.delete(name);
        this.#disputed.add(name);
      }
    }
  }
}

const plainSelector = /^[.#][\w-]+$/;
