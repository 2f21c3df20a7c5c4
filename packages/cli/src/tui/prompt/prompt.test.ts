import { expect, test } from 'vitest';
import { Completer } from '../../completion/completer.js';
import type { CompletionSource } from '../../completion/completions.js';
import { pastePrefix } from '../../screen/key-stream.js';
import type { Key } from '../../screen/keys.js';
import { type Input, Prompt } from './prompt.js';

const noKey: Key = {
  upArrow: false,
  downArrow: false,
  leftArrow: false,
  rightArrow: false,
  pageDown: false,
  pageUp: false,
  home: false,
  end: false,
  return: false,
  escape: false,
  ctrl: false,
  shift: false,
  tab: false,
  backspace: false,
  delete: false,
  meta: false,
};
const keys = {
  enter: { return: true },
  altEnter: { return: true, meta: true },
  tab: { tab: true },
  up: { upArrow: true },
  down: { downArrow: true },
  escape: { escape: true },
} as const;

function setup(history: string[] = [], sources: CompletionSource[] = []) {
  const completer = new Completer();
  completer.setSources(sources);
  const prompt = new Prompt(completer);
  const sent: Input[] = [];
  const done: string[] = [];
  const context = {
    history,
    isBusy: false,
    onSubmit: (input: Input) => sent.push(input),
    onDiscard: (text: string) => done.push(`discarded ${text}`),
    onEscape: () => done.push('escape'),
    onQuit: () => done.push('leave'),
  };
  return {
    prompt,
    sent,
    done,
    context,
    type: (text: string) => prompt.press(text, noKey, context),
    press: (...names: (keyof typeof keys)[]) => {
      for (const name of names) prompt.press('', { ...noKey, ...keys[name] }, context);
    },
    control: (letter: string) => prompt.press(letter, { ...noKey, ctrl: true }, context),
    text: () => prompt.state.text,
  };
}

const fruits: CompletionSource = (text, cursor) => {
  const fitting = ['apple', 'apricot', 'plum'].filter((each) => text !== '' && each.startsWith(text) && each !== text);
  const candidates = fitting.map((each) => ({ label: each, insert: each }));
  return { start: cursor - text.length, candidates, onEnter: 'accept' };
};

test('the history is browsed without losing the draft, and searched', () => {
  const { type, press, control, text, prompt } = setup(['first', 'second one', 'third']);
  type('draft');
  press('up', 'up');
  expect(text()).toBe('second one');
  press('down', 'down');
  expect(text()).toBe('draft');
  press('down');
  expect(text()).toBe('draft');
  control('c');
  control('r');
  type('o');
  expect(prompt.list?.candidates.map(({ label }) => label)).toEqual(['second one']);
  press('enter');
  expect(text()).toBe('second one');
  expect(prompt.isSearching).toBe(false);
});

test('arrow keys select candidates, Tab or Enter accepts, Esc dismisses', () => {
  const { type, press, text, sent, done } = setup([], [fruits]);
  type('a');
  press('down', 'tab');
  expect(text()).toBe('apricot');
  press('enter');
  expect(sent).toEqual([{ shown: 'apricot', text: 'apricot' }]);
  type('ap');
  press('up', 'enter');
  expect(text()).toBe('apricot');
  press('enter');
  type('pl');
  press('escape');
  expect(done).toEqual([]);
  press('enter');
  expect(sent.map(({ text: each }) => each)).toEqual(['apricot', 'apricot', 'pl']);
  press('escape');
  expect(done).toEqual(['escape']);
});

test('Enter sends; with Alt or after a backslash it starts a new line; an empty prompt is not sent', () => {
  const { type, press, sent } = setup();
  press('enter');
  type('one');
  press('altEnter');
  type('two\\');
  press('enter');
  type('three');
  press('enter');
  expect(sent).toEqual([{ shown: 'one\ntwo\nthree', text: 'one\ntwo\nthree' }]);
});

test('a long paste is shown as a placeholder, sent in full, and complete when recalled', () => {
  const history: string[] = [];
  const { type, press, sent, text } = setup(history);
  const lines = 'line\n'.repeat(10_000);
  type('look: ');
  type(`${pastePrefix}${lines}`);
  expect(text()).toBe('look: [paste #1 10,000 lines]');
  press('enter');
  expect(sent[0]).toEqual({ shown: 'look: [paste #1 10,000 lines]', text: `look: ${lines}` });
  history.push('look: [paste #1 10,000 lines]');
  press('up', 'enter');
  expect(sent[1]?.text).toBe(`look: ${lines}`);
});

test('Ctrl+C clears the line unless something runs, Ctrl+D quits on an empty line', () => {
  const { type, control, text, done, context } = setup();
  type('abc');
  context.isBusy = true;
  control('c');
  expect(text()).toBe('abc');
  context.isBusy = false;
  control('d');
  expect(done).toEqual([]);
  control('c');
  expect(text()).toBe('');
  control('d');
  expect(done).toEqual(['discarded abc', 'leave']);
});
