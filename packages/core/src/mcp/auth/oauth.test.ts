import { statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { LatheHome } from '../../files/lathe-home.js';
import { checkAddress } from '../client/bounded-fetch.js';
import { openCallbackServer, ServerAuthorization } from './oauth.js';
import { TokenStore } from './token-store.js';

const server = new URL('https://mcp.example.com/mcp');

function authorization(home = tempDirectory(), openPage?: (url: URL) => Promise<void>) {
  const store = new TokenStore(new LatheHome(home));
  return new ServerAuthorization({ server, name: 'x', settings: {}, store, ...(openPage && { openPage }) });
}

test.each([
  'file:///etc/passwd',
  'javascript:alert(1)',
  'http://auth.example.com/authorize',
  'https://127.0.0.1/authorize',
  'https://10.0.0.1/$(id)',
  'https://169.254.169.254/latest',
  'https://[::1]/authorize',
  'https://[::ffff:10.0.0.1]/',
  'calculator:x',
])('SG11: the login page %s is not opened', async (address) => {
  const opened: URL[] = [];
  const provider = authorization(undefined, async (url) => void opened.push(url));
  await provider.listen();
  await expect(provider.redirectToAuthorization(new URL(address))).rejects.toThrow('rejected');
  provider.close();
  expect(opened).toEqual([]);
});

test('a local server may refer to another local URL', async () => {
  await checkAddress(new URL('http://127.0.0.1:4000/token'), new URL('http://127.0.0.1:3000/mcp'));
  await expect(checkAddress(new URL('file:///x'), new URL('http://127.0.0.1:3000/mcp'))).rejects.toThrow('rejected');
});

test('SG12: tokens are private, and belong to one server and one issuer', async () => {
  const home = tempDirectory();
  const issuer = 'https://auth.example.com';
  const tokens = { access_token: 'a', token_type: 'Bearer', refresh_token: 'r' };
  await authorization(home).saveTokens(tokens, { issuer });
  expect(statSync(`${home}/mcp-tokens.json`).mode & 0o777).toBe(0o600);
  expect(await authorization(home).tokens({ issuer })).toEqual(tokens);
  expect(await authorization(home).tokens({ issuer: 'https://evil.example' })).toBeUndefined();
  const store = new TokenStore(new LatheHome(home));
  const other = new ServerAuthorization({ server: new URL('https://other.example/'), name: 'y', settings: {}, store });
  expect(await other.tokens()).toBeUndefined();
});

test('RM17: tokens that another process renewed are not deleted with the rejected ones', async () => {
  const home = tempDirectory();
  const issuer = 'https://auth.example.com';
  const token = (name: string) => ({ access_token: name, token_type: 'Bearer', refresh_token: `refresh-${name}` });
  const mine = authorization(home);
  await mine.saveTokens(token('old'), { issuer });
  await mine.tokens({ issuer });
  await authorization(home).saveTokens(token('new'), { issuer });
  await mine.invalidateCredentials('tokens');
  expect(await mine.tokens({ issuer })).toEqual(token('new'));
  await mine.invalidateCredentials('tokens');
  expect(await mine.tokens({ issuer })).toBeUndefined();
});

test('SG11: only a request with the right state counts', async () => {
  const callback = await openCallbackServer();
  const visit = callback.visit('right');
  expect((await fetch(`${callback.url}?state=wrong&code=evil`)).status).toBe(404);
  expect((await fetch(`${callback.url}?code=evil`)).status).toBe(404);
  // A path that is no address on its own.
  expect((await fetch(new URL(callback.url).origin + '//')).status).toBe(404);
  expect((await fetch(`${callback.url}?state=right&code=good`)).status).toBe(200);
  expect((await visit).get('code')).toBe('good');
  callback.close();
});

test('states are long and unique', () => {
  const provider = authorization();
  const states = Array.from({ length: 100 }, () => provider.state());
  expect(new Set(states).size).toBe(100);
  for (const state of states) expect(state.length).toBeGreaterThanOrEqual(43);
});
