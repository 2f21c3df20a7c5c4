import type { Dispatcher } from 'undici';
import { guardedAgent } from './guarded-agent.js';
import type { OpenHosts } from './url-check.js';

export type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * `fetch` for URLs that come from outside, such as the authorization metadata of a server. Checks every connection when
 * it is made, redirects included, and connects to the checked address.
 */
export function guardedFetch(isOpen: OpenHosts): Fetch {
  let agent: Promise<Dispatcher> | undefined;
  return async (input, init) => {
    agent ??= guardedAgent({ isOpen });
    // The built-in fetch accepts agents of this package; only the types differ.
    const guarded: RequestInit = Object.assign({}, init, { dispatcher: await agent });
    return fetch(input, guarded);
  };
}
