import type { Target } from '../contract/target.js';

/** How many addresses are remembered; the oldest are forgotten first, and then asked about. */
const maxAddresses = 20_000;
/** How much of one text is looked through for addresses. */
const maxScanned = 2_000_000;

/** Something that came into the session. */
export interface ExposureSource {
  what: string;
  /** The destination that it came from and already knows, if that is the same each time. */
  from?: string;
}

/**
 * What a session has read that should not leave it (files with keys), or that may tell a model to send something (pages,
 * results of servers). From then on, calls that send data ask, whatever the rules allow. One object for an agent and its
 * subagents, because their results reach each other.
 */
export class Exposure {
  readonly #sources = new Map<string, ExposureSource>();
  readonly #addresses = new Set<string>();
  /** Rules to which a person answered "always" although the session was exposed. */
  readonly #accepted = new Set<string>();

  /** Addresses in the person's own words may be fetched. */
  notePrompt(text: string): void {
    this.#remember(text);
  }

  /** Of a call that has run: what it touched, and what the model now reads. */
  noteResult(targets: readonly Target[], text: string): void {
    // Once the session is exposed, only pages add addresses: a model can make a command print any.
    const isPage = targets.some(({ brings, type }) => brings !== undefined && type === 'host');
    if (isPage || this.#sources.size === 0) this.#remember(text);
    for (const source of targets.flatMap(sourceOf)) this.note(source);
  }

  note(source: ExposureSource): void {
    this.#sources.set(source.what, source);
  }

  /** What came in so far. */
  get sources(): ExposureSource[] {
    return [...this.#sources.values()];
  }

  /** Why a person must answer for a call that sends; `undefined` for any other call. */
  reasonToAsk(targets: readonly Target[], rules: readonly string[] = []): string | undefined {
    if (this.hasAccepted(rules)) return undefined;
    for (const { sends } of targets) {
      if (sends === undefined || this.#isKnown(sends.address)) continue;
      const [source] = [...this.#sources.values()].filter(({ from }) => from === undefined || from !== sends.to);
      if (source) return `the session has read ${source.what}, and this call could send data to ${sends.to}`;
    }
    return undefined;
  }

  hasAccepted(rules: readonly string[]): boolean {
    return rules.length > 0 && rules.every((rule) => this.#accepted.has(rule));
  }

  /** A person answered "always" to such a question. */
  accept(rules: readonly string[]): void {
    for (const rule of rules) this.#accepted.add(rule);
  }

  #isKnown(address: string | undefined): boolean {
    return address !== undefined && this.#addresses.has(normalize(address) ?? address);
  }

  #remember(text: string): void {
    for (const [found] of text.slice(0, maxScanned).matchAll(/https?:\/\/[^\s"'<>`\\^{|}]{1,2000}/gi)) {
      for (const candidate of [found, found.replace(/[).,;:!?\]*_]+$/, '')]) {
        const address = normalize(candidate);
        if (address === undefined) continue;
        this.#addresses.delete(address);
        this.#addresses.add(address);
      }
      const oldest = this.#addresses.values().next();
      if (this.#addresses.size > maxAddresses && oldest.done !== true) this.#addresses.delete(oldest.value);
    }
  }
}

function sourceOf(target: Target): ExposureSource[] {
  if (target.brings !== undefined) return [target.brings];
  const isRead = target.type === 'path' && target.access === 'read';
  const isSecret = isRead && (target.guarded ?? target.sensitive) !== undefined;
  return isSecret ? [{ what: target.path }] : [];
}

function normalize(address: string): string | undefined {
  return URL.canParse(address) ? new URL(address).href : undefined;
}
