import { expect, test } from 'vitest';
import { page, webServer } from '../../../../../testing/web-server.js';
import { guardedFetch } from './guarded-agent.js';

test('an open server is fetched as usual', async () => {
  const { url, port, requests } = await webServer(page('hello', 'text/plain'));
  const fetchOpen = guardedFetch((host, open) => host === '127.0.0.1' && open === port);
  const response = await fetchOpen(`${url}/x`, { method: 'POST', body: 'sent', headers: { 'x-own': '1' } });
  expect([response.status, await response.text(), requests[0]?.body]).toEqual([200, 'hello', 'sent']);
});

test('a private host is rejected before a byte is sent, by name and by address', async () => {
  const { url, port, requests } = await webServer(page('secret'));
  const closed = guardedFetch(() => false);
  for (const address of [url, `http://localhost:${port}/`, `http://[::ffff:127.0.0.1]:${port}/`])
    await expect(closed(address)).rejects.toMatchObject({ cause: { type: 'permission_denied' } });
  expect(requests).toEqual([]);
});

test('a redirect is checked like any request', async () => {
  const secret = await webServer(page('secret'));
  const open = await webServer((_request, response) => response.writeHead(302, { location: secret.url }).end());
  const fetchOpen = guardedFetch((_host, port) => port === open.port);
  await expect(fetchOpen(open.url)).rejects.toMatchObject({ cause: { type: 'permission_denied' } });
  expect(secret.requests).toEqual([]);
});
