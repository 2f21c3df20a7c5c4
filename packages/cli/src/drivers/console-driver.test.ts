import { join } from 'node:path';
import { createAgentLathe } from '@lathe/agent';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { ConsoleDriver, parseParameters } from './console-driver.js';

test.each<[string, unknown]>([
  ['', {}],
  ['{"path": "/tmp", "n": 1}', { path: '/tmp', n: 1 }],
  ['path=/tmp limit=3 deep=true', { path: '/tmp', limit: 3, deep: true }],
  ['pattern="a b" other=\'c "d"\'', { pattern: 'a b', other: 'c "d"' }],
  ['paths=["a","b"]', { paths: ['a', 'b'] }],
  ['empty=', { empty: '' }],
])('%j', (text, expected) => {
  expect(parseParameters(text)).toEqual(expected);
});

test.each(['just words', '{"a": ', 'a=1 word'])('%j gives an explanation', (text) => {
  expect(parseParameters(text)).toBeTypeOf('string');
});

async function open(files: Record<string, string> = {}) {
  const cwd = tempDirectory(files);
  const lathe = await createAgentLathe({ cwd, env: {}, home: cwd, latheHome: join(cwd, '.state') });
  return { cwd, driver: new ConsoleDriver(lathe) };
}

test('a call runs through the same steps and shows what a model would receive', async () => {
  const { cwd, driver } = await open({ 'a.txt': 'hello' });
  const events = [];
  for await (const event of driver.submit(
    `read_file absolute_path=${join(cwd, 'a.txt')}`,
    new AbortController().signal,
  ))
    events.push(event);
  expect(events.map(({ type }) => type)).toEqual([
    'call-update',
    'call-update',
    'call-update',
    'call-end',
    'message-add',
  ]);
  expect(events.at(-1)).toMatchObject({ message: { parts: [{ text: '```\nhello\n```' }] } });
});

test('the message of a hook is one of the events', async () => {
  const hooks = { PreToolUse: [{ hooks: [{ type: 'command', command: 'echo broken >&2; exit 1' }] }] };
  const { driver } = await open({ '.state/settings.json': JSON.stringify({ hooks }) });
  const notices = [];
  for await (const event of driver.submit('!echo hey', new AbortController().signal))
    if (event.type === 'notice') notices.push(event.message);
  expect(notices).toEqual([expect.stringContaining('broken')]);
});
