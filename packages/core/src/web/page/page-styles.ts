import { declarationsOf, plainCss } from './css-declarations.js';
import type { Attributes } from './html-tokens.js';

/** Characters of all style sheets of a page together. */
export const maxSheets = 256 * 1024;

/**
 * What the style sheets of a page hide: classes and ids with a simple rule that hides them and no other rule about
 * their visibility. More than that would need a browser.
 */
export class PageStyles {
  readonly #hidden = new Set<string>();
  /** Selectors with more than one rule. */
  readonly #disputed = new Set<string>();
  #left = maxSheets;
  /** A style sheet may set backgrounds, which are not evaluated. */
  mayPaint = false;

  /** Adds a style sheet. If it is too long, nothing counts as hidden, because it may override the others. */
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
    // The `style` attribute has precedence.
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
