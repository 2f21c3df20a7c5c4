import { attempt } from '../../contract/errors.js';
/** A part of an outgoing text that looks like exfiltrated data. */
export interface Payload {
  /** Shortened, and never a secret itself. */
  shown: string;
  why: string;
}

/**
 * Finds data that a URL or a query would leak: a known secret in one of the usual encodings, or a long run of encoded
 * data. A URL is an output like any other, even when its host is trusted.
 */
export function findPayloads(text: string, secrets: readonly string[]): Payload[] {
  const plain = `${text}\n${decode(text)}`;
  if (secrets.some((secret) => secret.length >= 8 && encodings(secret).some((form) => plain.includes(form))))
    return [{ shown: 'a secret of this machine', why: 'it holds the value of a secret environment variable' }];
  const runs = (plain.match(/[A-Za-z0-9+/_-]{65,}={0,2}/g) ?? []).flatMap((run) =>
    run.split(/(?<=[a-z0-9])[/-](?=[a-z])/),
  );
  return [...new Set(runs)]
    .filter((run) => run.length > 64 && looksEncoded(run))
    .map((run) => ({ shown: shorten(run), why: `${run.length} characters of encoded data` }));
}

/** Finds data in a host name, which DNS would leak. */
export function findHostPayload(host: string, secrets: readonly string[]): Payload[] {
  // Host names are always in lower case.
  const known = findPayloads(host, [...secrets, ...secrets.map((secret) => secret.toLowerCase())]);
  if (known.length > 0) return known;
  const label = host.split('.').find((part) => part.length >= 30 && /\d/.test(part) && /^[a-z0-9]+$/.test(part));
  return label === undefined ? [] : [{ shown: shorten(label), why: 'the host name looks like encoded data' }];
}

const longText = 200;

/** Finds text of a file in a URL: several lines, or more words than a query has. */
export function findText(url: URL): Payload[] {
  return [...url.searchParams.values(), ...url.pathname.split('/').map(decode), decode(url.hash)]
    .map((piece) => piece.trim())
    .filter((piece) => /\n/.test(piece) || (piece.length > longText && /\s/.test(piece)))
    .map((piece) => ({ shown: shorten(piece.replace(/\s+/g, ' ')), why: `${piece.length} characters of text` }));
}

function decode(text: string): string {
  return attempt(() => decodeURIComponent(text)) ?? text;
}

function encodings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  // Base64 encodes groups of three bytes; where a group begins depends on the text before.
  const base64 = [0, 1, 2].map((from) => wholeGroups(bytes.subarray(from)).toString('base64'));
  return [
    secret,
    encodeURIComponent(secret),
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
    bytes.toString('hex'),
  ];
}

/** The last group depends on the text after it, so it is left out. */
function wholeGroups(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.length - (bytes.length % 3));
}

/** Words have few digits and mostly one case; hexadecimal and base64 mix them. */
function looksEncoded(run: string): boolean {
  if (/^[0-9a-f]+$/i.test(run)) return true;
  const digits = run.match(/\d/g)?.length ?? 0;
  const uppers = run.match(/[A-Z]/g)?.length ?? 0;
  return digits >= run.length / 20 && uppers >= run.length / 8;
}

function shorten(run: string): string {
  return run.length > 40 ? `${run.slice(0, 24)}…${run.slice(-8)}` : run;
}
