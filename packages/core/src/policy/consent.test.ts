import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { LatheHome } from '../files/lathe-home.js';
import { Consent, definitionHash } from './consent.js';

const server = { command: 'node', args: ['server.js'], env: { A: '1' } };

// SE10, SK15
test('an approval applies to exactly what was approved, also in the next process', async () => {
  const home = new LatheHome(join(tempDirectory(), 'home'));
  const hash = definitionHash(server);
  await new Consent(home).approve('mcp-server', '/work github', hash);
  const consent = new Consent(home);
  expect(await consent.isApproved('mcp-server', '/work github', hash)).toBe(true);
  expect(
    await consent.isApproved('mcp-server', '/work github', definitionHash({ ...server, args: ['server.jt'] })),
  ).toBe(false);
  expect(await consent.isApproved('mcp-server', '/other github', hash)).toBe(false);
  expect(await consent.isApproved('hook', '/work github', hash)).toBe(false);
});

// SK15
test('a new approval replaces the old one', async () => {
  const consent = new Consent(new LatheHome(join(tempDirectory(), 'home')));
  await consent.approve('hook', '__proto__', 'old');
  await consent.approve('hook', '__proto__', 'new');
  expect(await consent.isApproved('hook', '__proto__', 'old')).toBe(false);
  expect(await consent.isApproved('hook', '__proto__', 'new')).toBe(true);
});

test('approvals in a file that others can write do not count', async () => {
  const home = new LatheHome(join(tempDirectory(), 'home'));
  const consent = new Consent(home);
  await consent.approve('discovery-command', 'x', 'h');
  chmodSync(home.file('approvals.json'), 0o666);
  expect(await consent.isApproved('discovery-command', 'x', 'h')).toBe(false);
});

test('the hash depends on the content and not on the order of keys', () => {
  expect(definitionHash({ a: 1, b: [2, { c: undefined, d: null }] })).toBe(
    definitionHash({ b: [2, { d: null, c: undefined }], a: 1 }),
  );
  const different = [{ a: 1 }, { a: '1' }, { a: [1] }, { b: 1 }, [1], '{"a":1}', { a: 1, b: undefined }, null];
  expect(new Set(different.map(definitionHash)).size).toBe(different.length);
});
