import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** What a request to the loopback server must match. */
export interface Access {
  port: number;
  token: string;
}

export interface Refusal {
  status: 401 | 403 | 503;
  message: string;
}

/** A token that nobody can guess. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Why a token is none: too short to resist guessing, or not fit for a header. */
export function tokenProblem(token: string): string | undefined {
  return /^[\x21-\x7e]{32,1024}$/.test(token)
    ? undefined
    : 'The token must be 32 to 1,024 letters, digits and symbols, without blanks. `openssl rand -hex 32` makes one.';
}

/**
 * Why a request is rejected. Web pages can reach a loopback port, so a request must name this host (which stops DNS
 * rebinding), have no foreign origin, and contain the token unless what it asks for is public.
 */
export function refusalOf(
  { headers }: { headers: IncomingHttpHeaders },
  { port, token }: Access,
  { isPublic = false } = {},
): Refusal | undefined {
  const hosts = ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${port}`);
  const { host, origin, authorization } = headers;
  if (host === undefined || !hosts.includes(host.toLowerCase()))
    return { status: 403, message: 'The Host header names another host' };
  if (origin !== undefined && !hosts.some((own) => origin.toLowerCase() === `http://${own}`))
    return { status: 403, message: 'Requests from web pages are rejected' };
  if (isPublic || isSame(authorization ?? '', `Bearer ${token}`)) return undefined;
  return { status: 401, message: 'The token is missing or wrong' };
}

/** Compares in constant time. */
function isSame(a: string, b: string): boolean {
  const [left, right] = [a, b].map((text) => createHash('sha256').update(text).digest());
  return left !== undefined && right !== undefined && timingSafeEqual(left, right);
}
