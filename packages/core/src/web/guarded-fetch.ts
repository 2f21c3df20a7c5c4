import type { Dispatcher } from 'undici';
import { guardedAgent } from './guarded-agent.js';
import type { OpenHosts } from './url-check.js';

export type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * `fetch` for addresses that somebody else chose, such as the metadata of a server's authorization: every connection,
 * also that of a redirect, is judged when it is made, and goes to the address that was judged.
 */
export function guardedFetch(isOpen: OpenHosts): Fetch {
  let agent: Promise<Dispatcher> | undefined;
  return async (input, init) => {
    agent ??= guardedAgent({ isOpen });
    // The built-in fetch takes agents of this package too; only their types differ.
    const guarded: RequestInit = Object.assign({}, init, { dispatcher: await agent });
    return fetch(input, guarded);
  };
}
