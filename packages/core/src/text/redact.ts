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
  for (const [shape, substitute] of shapes) result = result.replace(shape, substitute);
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

/** Every quantifier is bounded or followed by something it cannot match, so hostile text costs linear time. */
const shapes: [RegExp, string][] = [
  // Keys of model providers, code hosts, clouds and chat services, by their public prefixes.
  [/\b(?:sk|rk|pk)-[A-Za-z0-9_-]{16,}/g, replacement],
  [/\bAIza[A-Za-z0-9_-]{30,}/g, replacement],
  [/\b(?:gh[pousr]_|github_pat_|glpat-|hf_|npm_|xox[abeprs]-|tvly-|gsk_|xai-)[A-Za-z0-9_-]{10,}/g, replacement],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, replacement],
  [/\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}/g, replacement],
  // A JSON web token.
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g, replacement],
  [/-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]{0,10000}?-----END [A-Z ]{0,40}PRIVATE KEY-----/g, replacement],
  // Credentials in headers, query strings and addresses.
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, `$1 ${replacement}`],
  [
    /((?:x-api-key|x-goog-api-key|api-key|authorization)["']?\s*[:=]\s*["']?)(?!Bearer|Basic)[^\s"',;]{6,}/gi,
    `$1${replacement}`,
  ],
  [
    /([?&](?:key|api[-_]?key|(?:(?:access|auth|id|refresh|session|x-amz-security)[-_])?token|(?:client[-_])?secret|password|sig|(?:x-(?:amz|goog)-)?signature)=)[^&\s"'#]{4,}/gi,
    `$1${replacement}`,
  ],
  [/(\b[a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/@:]{1,200}:[^\s/@]{1,500}@/gi, `$1${replacement}@`],
];
