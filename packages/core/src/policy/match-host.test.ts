import { expect, test } from 'vitest';
import { policyOf } from '../../../../testing/scheduler-kit.js';
import { matchesHost } from './match-host.js';

// SB20
/** Rule, host, whether an allow rule covers it, whether a deny rule does. */
// SI06
test.each([
  ['docs.python.org', 'docs.python.org', true, true],
  ['docs.python.org', 'DOCS.python.org.', true, true],
  ['docs.python.org', 'docs.python.org.evil.test', false, false],
  ['docs.python.org', 'evildocs.python.org', false, false],
  ['docs.python.org', 'python.org', false, false],
  ['docs.python.org', 'a.docs.python.org', false, true],
  ['docs.python.org', 'docs.python.org:8443', false, true],
  ['docs.python.org:8443', 'docs.python.org:8443', true, true],
  ['docs.python.org:8443', 'docs.python.org', false, false],
  ['*.python.org', 'docs.python.org', true, true],
  ['*.python.org', 'a.b.python.org', true, true],
  ['*.python.org', 'python.org', false, false],
  ['*.python.org', 'xpython.org', false, false],
  ['domain:python.org', 'python.org', true, true],
  ['python.org/path', 'python.org', false, false],
  ['user@python.org', 'python.org', false, false],
  ['*', 'python.org', false, true],
])('the rule %s and the host %s: allows %s, denies %s', (rule, target, allows, denies) => {
  const [host = '', port] = target.split(':');
  const subject = { host, ...(port !== undefined && { port: Number(port) }) };
  expect([matchesHost(rule, subject, 'narrow'), matchesHost(rule, subject, 'wide')]).toEqual([allows, denies]);
});

test.each([
  [['web_fetch(localhost:3000)'], 'localhost', 3000, true],
  [['WebFetch(localhost:3000)'], 'localhost', 3000, true],
  [['web_fetch(localhost:3000)'], 'localhost', 3001, false],
  [['web_fetch(localhost:3000)'], '127.0.0.1', 3000, false],
  [['web_fetch([::1]:3000)'], '[::1]', 3000, true],
  [['web_fetch(wiki.corp:443)'], 'wiki.corp', 443, true],
  [['web_fetch(localhost)'], 'localhost', 80, false],
  [['web_fetch'], 'localhost', 3000, false],
  [['web_fetch(*:3000)'], 'localhost', 3000, false],
  [['run_shell_command(localhost:3000)'], 'localhost', 3000, false],
  [[], 'localhost', 3000, false],
])('the rules %j open %s:%i: %s', (allow, host, port, isOpen) => {
  expect(policyOf({ allow }).opensHost(host, port)).toBe(isOpen);
});

test('yolo mode opens no host', () => {
  expect(policyOf({ mode: 'yolo' }).opensHost('localhost', 3000)).toBe(false);
});
