import { lookup } from 'node:dns/promises';
import type { FetchLike } from '@modelcontextprotocol/client';
import ipaddr from 'ipaddr.js';
import { guardedFetch } from '../../web/http/guarded-agent.js';
import { hostOf, portOf } from '../../web/http/url-check.js';

const maxBytes = 16 * 1024 * 1024;

/**
 * `fetch` for one server. The user chose its URL. Every other URL comes from the server (metadata of its
 * authorization) and must be public, so that a server cannot make Lathe access the user's network. Limits the size of a
 * body and of each event of a stream.
 */
export function boundedFetch(server: URL): FetchLike {
  let serverIsLocal = false;
  // Checked again for each connection, redirects included, because a name may resolve differently a moment later.
  const guarded = guardedFetch((host, port) => serverIsLocal || (host === hostOf(server) && port === portOf(server)));
  return async (input, init) => {
    const url = new URL(input);
    if (url.origin !== server.origin) await checkAddress(url, server);
    serverIsLocal = await isLocal(server.hostname);
    return bounded(await guarded(url, init));
  };
}

/** Throws if a server must not refer Lathe to this URL. */
export async function checkAddress(url: URL, server: URL): Promise<void> {
  const serverIsLocal = await isLocal(server.hostname);
  if (url.protocol !== 'https:' && !(serverIsLocal && url.protocol === 'http:'))
    throw new Error(`${url.origin} is rejected: ${server.host} may only refer to https URLs`);
  if (!serverIsLocal && (await isLocal(url.hostname)))
    throw new Error(`${url.origin} is rejected: it is in a private network and ${server.host} is not`);
}

async function isLocal(hostname: string): Promise<boolean> {
  const bare = hostname.replace(/^\[|\]$/g, '');
  const addresses = ipaddr.isValid(bare)
    ? [bare]
    : await lookup(bare, { all: true }).then(
        (found) => found.map(({ address }) => address),
        () => [],
      );
  return addresses.some((address) => ipaddr.process(address).range() !== 'unicast');
}

function bounded(response: Response): Response {
  if (response.body === null) return response;
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  let size = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      // An event ends with an empty line; counting from the last line break is close enough.
      const end = isStream ? chunk.lastIndexOf(10) : -1;
      size = end === -1 ? size + chunk.length : chunk.length - end;
      if (size > maxBytes) controller.error(new Error(`the server sent more than ${maxBytes} bytes at once`));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers, url } = response;
  const copy = new Response(response.body.pipeThrough(limit), { status, statusText, headers });
  Object.defineProperty(copy, 'url', { value: url });
  return copy;
}
