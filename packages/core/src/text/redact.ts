/**
 * Removes secrets from text for an error message, a log or a transcript: first known values, then everything that looks
 * like a token.
 */
export function redact(text: string, secrets: Iterable<string | undefined> = []): string {
  let result = text;
  for (const secret of secrets) {
    if (secret === undefined || secret.length < 6) continue;
    for (const spelling of new Set([secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]))
      result = result.replaceAll(spelling, replacement);
  }
  for (const [parts, shape, substitute] of shapes)
    if (parts.some((part) => result.includes(part))) result = result.replace(shape, substitute);
  return result;
}

/** A value as JSON on one line, with secrets redacted in its strings and names. The result is valid JSON. */
export function redactedJson(value: unknown, secrets: readonly string[]): string {
  return JSON.stringify(value, (key, each: unknown) => {
    if (typeof each === 'object' && each !== null && !Array.isArray(each)) return withRedactedNames(each, secrets);
    if (typeof each !== 'string' || isOpaque(key, each)) return each;
    return secretKeys.test(key) ? replacement : redact(each, secrets);
  });
}

/** A model may write a secret as a property name. */
function withRedactedNames(object: object, secrets: readonly string[]): object {
  // Checks all names at once first, because secrets in names are rare.
  const names = Object.keys(object).join('\n');
  if (redact(names, secrets) === names) return object;
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [redact(name, secrets), value]));
}

/** Fields whose value is always a secret. */
const secretKeys = /^(?:authorization|cookie|set-cookie|x-api-key|x-goog-api-key|api[-_]?key|password)$/i;

/** Signatures that a provider needs back unchanged, and image data, which is long and contains no secrets. */
function isOpaque(key: string, value: string): boolean {
  return key === 'thoughtSignature' || (key === 'data' && value.length > 10_000 && /^[A-Za-z0-9+/]+=*$/.test(value));
}

const replacement = '[redacted]';

/**
 * What each match contains at least one of, its shape and what replaces it. To look for the parts first saves most of the
 * time: `npm run bench -- --only 'yes '`. Every quantifier is bounded or followed by something it cannot match, so hostile
 * text costs linear time.
 */
const shapes: [string[], RegExp, string][] = [
  // Keys of model providers, code hosts, clouds and chat services, by their public prefixes.
  [['k-'], /\b(?:sk|rk|pk)-[A-Za-z0-9_-]{16,}/g, replacement],
  [['AIza'], /\bAIza[A-Za-z0-9_-]{30,}/g, replacement],
  [
    ['_', '-'],
    /\b(?:gh[pousr]_|github_pat_|glpat-|hf_|npm_|xox[abeprs]-|tvly-|gsk_|xai-)[A-Za-z0-9_-]{10,}/g,
    replacement,
  ],
  [['AKIA', 'ASIA'], /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, replacement],
  [['k_'], /\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}/g, replacement],
  // A JSON web token.
  [['eyJ'], /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g, replacement],
  [
    ['-----BEGIN'],
    /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]{0,10000}?-----END [A-Z ]{0,40}PRIVATE KEY-----/g,
    replacement,
  ],
  // Credentials in headers, query strings and addresses.
  [[''], /\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, `$1 ${replacement}`],
  [
    [':', '='],
    /((?:x-api-key|x-goog-api-key|api-key|authorization)["']?\s*[:=]\s*["']?)(?!Bearer|Basic)[^\s"',;]{6,}/gi,
    `$1${replacement}`,
  ],
  [
    ['?', '&'],
    /([?&](?:key|api[-_]?key|(?:(?:access|auth|id|refresh|session|x-amz-security)[-_])?token|(?:client[-_])?secret|password|sig|(?:x-(?:amz|goog)-)?signature)=)[^&\s"'#]{4,}/gi,
    `$1${replacement}`,
  ],
  [['@'], /(\b[a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/@:]{0,200}:[^\s/@]{1,500}@/gi, `$1${replacement}@`],
];

/** A longer line without an end is cut between words, so that memory stays bounded. */
const maxHeldChars = 64 * 1024;
/** A longer word is data, not a token. */
const maxWordChars = 1_000;
/** As in `redact`: a longer key block is not a key. */
const maxKeyChars = 10_200;

/**
 * `redact` for text that arrives in pieces. Holds back what may be half of a secret: the line that has not ended yet, and
 * a private key without its end.
 */
export class RedactStream {
  readonly #secrets: readonly string[];
  /** Secrets that span lines, and the length of the longest one. */
  readonly #multiline: readonly string[];
  readonly #overlap: number;
  #held = '';

  constructor(secrets: readonly string[] = []) {
    this.#secrets = secrets;
    this.#multiline = secrets.filter((secret) => secret.includes('\n'));
    this.#overlap = Math.max(0, ...this.#multiline.map(({ length }) => length));
  }

  /** Adds a piece and returns what is ready, redacted. */
  push(piece: string): string {
    this.#held += piece;
    // Looking at everything held for each byte of a long line would take quadratic time.
    if (this.#held.length < maxHeldChars && !piece.includes('\n')) return '';
    return this.#take(this.#readyEnd());
  }

  /** The rest, whether or not its line has ended. */
  flush(): string {
    return this.#take(this.#held.length);
  }

  #take(end: number): string {
    const ready = this.#held.slice(0, end);
    this.#held = this.#held.slice(end);
    return ready === '' ? '' : redact(ready, this.#secrets);
  }

  #readyEnd(): number {
    const held = this.#held;
    const lines = held.lastIndexOf('\n', held.length - 1 - this.#overlap) + 1;
    const end = Math.min(keyStartBefore(lines, held), ...this.#multiline.map((secret) => before(secret, lines, held)));
    if (end > 0 || held.length < maxHeldChars) return end;
    const word = held.length - (/[\w.~+/=-]{0,1000}$/.exec(held.slice(-maxWordChars))?.[0].length ?? 0);
    return word > held.length - maxWordChars ? word : held.length;
  }
}

/** The end of what is ready, moved before a secret that would be cut in two. */
function before(secret: string, end: number, text: string): number {
  const start = end === 0 ? -1 : text.lastIndexOf(secret, end - 1);
  return start >= 0 && start + secret.length > end ? start : end;
}

/** The end of what is ready, moved before a private key that would be cut in two. */
function keyStartBefore(end: number, text: string): number {
  // Looking forward first takes a tenth of the time when there is none.
  const start = end === 0 || !text.includes(keyMark) ? -1 : text.lastIndexOf(keyMark, end - 1);
  if (start < 0 || text.length - start > maxKeyChars) return end;
  const block = text.slice(start, end);
  return keyBegin.test(block) && !keyEnd.test(block) ? start : end;
}

const keyMark = '-----BEGIN ';
const keyBegin = /^-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/;
const keyEnd = /-----END [A-Z ]{0,40}PRIVATE KEY-----/;
