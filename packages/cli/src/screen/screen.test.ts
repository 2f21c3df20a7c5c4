import { EventEmitter } from 'node:events';
import fc from 'fast-check';
import { createElement, Fragment } from 'react';
import { expect, test } from 'vitest';
import { foreignControls } from '../../../../testing/terminal-sequences.js';
import { Column, Scrollback, Text } from './elements.js';
import { openScreen, useExit, useInput } from './screen.js';

/** A terminal that records its output. */
function open(app: Parameters<typeof openScreen>[0], columns = 40) {
  let sent = '';
  const terminal = Object.assign(new EventEmitter(), { columns, write: (data: string) => (sent += data) });
  const keys = new EventEmitter<{ key: [string] }>();
  const screen = openScreen(app, terminal, keys);
  return { screen, sent: () => sent, press: (key: string) => keys.emit('key', key) };
}

const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom('\u001b[2J', '\u001b]0;t\u0007', '\u001b]52;c;aGk=\u0007', '\u009b2J', '\u001bc', '\r', '\b'),
      fc.constantFrom('\u202e', '\u2066', '\u001b[', '\u001b', '\u001b[1;1H', '\u001b[31m', '\n', '漢', 'text '),
      fc.string({ unit: 'binary', maxLength: 6 }),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));

test('SF01, SF12: whatever components render, only text, colours and our own sequences reach the terminal', async () => {
  await fc.assert(
    fc.asyncProperty(hostile, fc.integer({ min: 1, max: 80 }), async (text, columns) => {
      const { screen, sent } = open(
        createElement(
          Fragment,
          null,
          createElement(Scrollback<string>, { items: [text, text], textOf: (item) => item }),
          createElement(Column, { frame: 'round', children: createElement(Text, { children: text }) }),
          createElement(Text, { children: text, isTruncated: true }),
        ),
        columns,
      );
      screen.close();
      await screen.ended;
      expect(foreignControls(sent().replaceAll('\t', ''), { mayDraw: true })).toEqual([]);
      expect(/[\u202a-\u202e\u2066-\u2069]/.test(sent())).toBe(false);
    }),
    { numRuns: process.env['LATHE_LONG'] ? 10_000 : 500, seed: 7 },
  );
}, 120_000);

test('a key is drawn before the next event, and a component can close the screen', async () => {
  const typed: string[] = [];
  function App() {
    const exit = useExit();
    useInput((input, key) => {
      if (key.return) exit();
      typed.push(input);
    });
    return createElement(Text, { children: 'shown' });
  }
  const { screen, sent, press } = open(createElement(App));
  press('a');
  press('\r');
  await screen.ended;
  press('b');
  expect(typed).toEqual(['a', '']);
  expect(sent()).toContain('shown');
});

test('an error in a component closes the screen and is reported', async () => {
  function App(): never {
    throw new Error('boom');
  }
  await expect(open(createElement(App)).screen.ended).rejects.toThrow('boom');
});
