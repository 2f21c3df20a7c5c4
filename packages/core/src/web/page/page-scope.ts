/** The part of a document that is read: the element that says it is the main one, the articles, or everything. */
export type PageScope = 'main' | 'article' | 'body';

export interface PageElement {
  name: string;
  attributes: Record<string, string | undefined>;
}

/** Whether a scope begins at this element. The scope `body` begins with the page, because many have no body element. */
export function isScopeRoot({ name, attributes }: PageElement, scope: PageScope): boolean {
  if (scope === 'main') return name === 'main' || attributes['role'] === 'main';
  return scope === 'body' || name === scope;
}

/** Whether an element is chrome (navigation, ads …) and not content. Inside the main part fewer elements count as chrome. */
export function isChrome({ name, attributes }: PageElement, isInsideContent: boolean): boolean {
  if (neverContent.has(name)) return true;
  if (!isInsideContent && (name === 'aside' || name === 'footer')) return true;
  const role = attributes['role'];
  if (role !== undefined && (chromeRoles.has(role) || (!isInsideContent && outerRoles.has(role)))) return true;
  const { class: classes, id } = attributes;
  if (classes === undefined && id === undefined) return false;
  const words = `${classes ?? ''} ${id ?? ''}`;
  return words.split(/\s+/, 40).some((word) => chromeNames.test(word));
}

const neverContent = new Set(
  'script style noscript template svg canvas iframe object embed nav dialog button input select textarea datalist menu audio video map frame frameset applet'.split(
    ' ',
  ),
);
const chromeRoles = new Set('navigation search dialog alertdialog menu menubar toolbar tablist'.split(' '));
const outerRoles = new Set(['banner', 'contentinfo', 'complementary']);

/** Whole names only: a page with the class `has-sidebar` must not disappear. */
const chromeNames =
  /^(?:(?:cookie|consent|gdpr)(?:s|-?(?:banner|notice|bar|popup|modal|overlay|wall|message|dialog|consent))?|breadcrumbs?|side-?bar|(?:share|social)(?:-?(?:buttons?|links?|bar|icons?|media))?|newsletter(?:-?(?:form|signup|box))?|advert(?:s|isement)?|ads?(?:-?(?:container|banner|slot|wrapper|unit))?|promo(?:-?(?:box|banner))?|related(?:-?(?:posts|articles|links|stories))?|skip-?(?:link|nav|to-content)|headerlink|anchor-?link|edit-?(?:link|this-page)|mw-editsection|pagination|pager|site-?(?:header|footer|nav)|nav-?bar|mega-?menu|toc|table-of-contents|back-to-top)$/i;
