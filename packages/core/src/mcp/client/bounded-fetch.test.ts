import { expect, test } from 'vitest';
import { boundedFetch } from './bounded-fetch.js';

test.each([
  'http://169.254.169.254/latest/meta-data',
  'https://169.254.169.254/latest/meta-data',
  'https://10.0.0.1/.well-known/oauth-authorization-server',
  'https://127.0.0.1:9/token',
  'https://[::1]:9/token',
  'https://[::ffff:10.0.0.1]/token',
  'https://2130706433/token',
  'https://0x7f.1/token',
  'https://localhost:9/token',
  'file:///etc/passwd',
])('SG13: a public server cannot refer Lathe to %s', async (address) => {
  const fetch = boundedFetch(new URL('https://93.184.216.34/mcp'));
  await expect(fetch(address)).rejects.toThrow('is rejected');
});
