import { expect, test } from 'vitest';
import type { Target } from '../contract/target.js';
import { Exposure } from './exposure.js';

const fetchOf = (address: string): Target => ({
  type: 'host',
  host: new URL(address).hostname,
  asks: true,
  sends: { to: new URL(address).hostname, address },
  brings: { what: `the page ${address}` },
});
const callTo = (server: string): Target => ({
  type: 'command',
  words: [server],
  asks: false,
  sends: { to: server },
  brings: { what: `a result of ${server}`, from: server },
});
const command: Target = { type: 'command', words: ['npm'], asks: true, sends: { to: 'the network' } };
const keys: Target = { type: 'path', access: 'read', path: '/w/.env', asks: false, sensitive: 'x' };
const plain: Target = { type: 'path', access: 'read', path: '/w/a.txt', asks: false };

function exposed(...targets: Target[]): Exposure {
  const exposure = new Exposure();
  exposure.noteResult(targets, '');
  return exposure;
}

test('a session that has read ordinary files sends as its rules say', () => {
  const exposure = exposed(plain);
  expect(
    [fetchOf('https://a.example/x'), callTo('s'), command].map((target) => exposure.reasonToAsk([target])),
  ).toEqual([undefined, undefined, undefined]);
});

test.each([
  ['a file with keys', keys],
  ['a stored credential', { ...plain, guarded: 'x' }],
  ['a page', fetchOf('https://a.example/x')],
])('after %s, every kind of call that sends asks', (_, source) => {
  const exposure = exposed(source);
  for (const target of [fetchOf('https://b.example/new'), callTo('s'), command])
    expect(exposure.reasonToAsk([plain, target])).toMatch(
      /^the session has read .+, and this call could send data to /,
    );
  expect(exposure.reasonToAsk([plain])).toBeUndefined();
});

test('a server knows its own results, other servers do not', () => {
  const exposure = exposed(callTo('one'));
  expect(exposure.reasonToAsk([callTo('one')])).toBeUndefined();
  expect(exposure.reasonToAsk([callTo('two')])).toBe(
    'the session has read a result of one, and this call could send data to two',
  );
  exposure.noteResult([keys], '');
  expect(exposure.reasonToAsk([callTo('one')])).toBeDefined();
});

test('an address from a prompt, a page, or from before, carries no new data', () => {
  const exposure = new Exposure();
  exposure.noteResult([plain], 'See <https://docs.example/a>.');
  exposure.noteResult([keys], '');
  exposure.notePrompt('Look at https://docs.example/b, please.');
  exposure.noteResult([fetchOf('https://docs.example/b')], '[next](https://docs.example/c?x=1)');
  for (const name of ['a', 'b', 'c?x=1'])
    expect(exposure.reasonToAsk([fetchOf(`https://docs.example/${name}`)])).toBeUndefined();
  for (const name of ['a?d=1', 'a#d', 'b/d', 'c?x=2'])
    expect(exposure.reasonToAsk([fetchOf(`https://docs.example/${name}`)])).toBeDefined();
});

test('an address that a command prints afterwards does not count', () => {
  const exposure = exposed(keys);
  exposure.noteResult([plain], 'https://evil.example/?d=abc');
  exposure.noteResult([callTo('echo')], 'https://evil.example/?d=abc');
  expect(exposure.reasonToAsk([fetchOf('https://evil.example/?d=abc')])).toBeDefined();
});

test('"always" to such a question applies to the rules that it named', () => {
  const exposure = exposed(keys);
  expect(exposure.reasonToAsk([command], ['run_shell_command(npm *)'])).toBeDefined();
  exposure.accept(['run_shell_command(npm *)']);
  expect(exposure.reasonToAsk([command], ['run_shell_command(npm *)'])).toBeUndefined();
  expect(exposure.reasonToAsk([command], ['run_shell_command(npm *)', 'web_search'])).toBeDefined();
  expect(exposure.reasonToAsk([command])).toBeDefined();
});

test('the oldest of very many addresses are asked about again', () => {
  const exposure = exposed(keys);
  for (let page = 0; page < 25; page++) {
    const links = Array.from({ length: 1000 }, (_, index) => `https://a.example/${page}/${index}`);
    exposure.noteResult([fetchOf('https://a.example/')], links.join('\n'));
  }
  expect(exposure.reasonToAsk([fetchOf('https://a.example/24/999')])).toBeUndefined();
  expect(exposure.reasonToAsk([fetchOf('https://a.example/0/0')])).toBeDefined();
});
