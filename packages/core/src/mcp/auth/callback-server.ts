import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The local server that the browser is redirected to after a login. */
export interface CallbackServer {
  url: string;
  /** The parameters of the first request with this `state`; every other request is rejected. */
  visit(state: string): Promise<URLSearchParams>;
  close(): void;
}

const path = '/callback';

/** Listens on loopback, on the given port or any free one. */
export async function openCallbackServer(port = 0): Promise<CallbackServer> {
  const expected = new Map<string, (params: URLSearchParams) => void>();
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    const arrive = expected.get(url.searchParams.get('state') ?? '');
    const isExpected = url.pathname === path && request.method === 'GET' && arrive !== undefined;
    response.writeHead(isExpected ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
    response.end(isExpected ? 'Done. You can close this page and go back to Lathe.\n' : 'Nothing here.\n');
    if (isExpected) arrive(url.searchParams);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  server.unref();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server listening on a port has such an address
  const { port: actual } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${actual}${path}`,
    visit: (state) => new Promise((resolve) => expected.set(state, resolve)),
    // Unused connections that browsers open in advance would keep Lathe running.
    close: () => server.close().closeAllConnections(),
  };
}
