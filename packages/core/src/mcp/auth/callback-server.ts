import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Where the browser brings the authorization back to. */
export interface CallbackServer {
  url: string;
  /** The parameters of the first visit that carries `state`; every other visit is turned away. */
  visit(state: string): Promise<URLSearchParams>;
  close(): void;
}

const path = '/callback';

/** Listens on this machine only, on the given port or any free one. */
export async function openCallbackServer(port = 0): Promise<CallbackServer> {
  const expected = new Map<string, (params: URLSearchParams) => void>();
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    const arrive = expected.get(url.searchParams.get('state') ?? '');
    const isRight = url.pathname === path && request.method === 'GET' && arrive !== undefined;
    response.writeHead(isRight ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
    response.end(isRight ? 'Done. You can close this page and go back to Lathe.\n' : 'Nothing here.\n');
    if (isRight) arrive(url.searchParams);
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
    // Browsers open connections that they may never use, and these would keep Lathe running.
    close: () => server.close().closeAllConnections(),
  };
}
