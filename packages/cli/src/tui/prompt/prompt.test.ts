import { expect, test } from 'vitest';
import { Completer } from '../../completion/completer.js';
import type { CompletionSource } from '../../completion/completions.js';
import { pasteMark } from '../../screen/key-stream.js';
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
  completer.use(sources);
  const prompt = new Prompt(completer);
  const sent: Input[] = [];
  const done: string[] = [];
  const world = {
    history,
    isBusy: false,
    onSubmit: (input: Input) => sent.push(input),
    onEscape: () => done.push('escape'),
    onLeave: () => done.push('leave'),
  };
  return {
    prompt,
    sent,
    done,
    world,
    type: (text: string) => prompt.press(text, noKey, world),
    press: (...names: (keyof typeof keys)[]) => {
      for (const name of names) prompt.press('', { ...noKey, ...keys[name] }, world);
    },
    control: (letter: string) => prompt.press(letter, { ...noKey, ctrl: true }, world),
    text: () => prompt.state.text,
  };
}

const fruits: CompletionSource = (text, cursor) => {
  const fitting = ['apple', 'apricot', 'plum'].filter((each) => text !== '' && each.startsWith(text) && each !== text);
  const candidates = fitting.map((each) => ({ label: each, insert: each }));
  return { start: cursor - text.length, candidates, onEnter: 'take' };
};

test('history is leafed through with the draft kept, and searched', () => {
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

test('candidates are chosen with the arrows, taken with Tab or Enter, and sent away with Esc', () => {
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

test('Enter sends; with Alt or after a backslash it begins a line; an empty prompt sends nothing', () => {
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

test('a long paste is shown as a mark, sent in full, and still whole when it is recalled', () => {
  const history: string[] = [];
  const { type, press, sent, text } = setup(history);
  const lines = 'line\n'.repeat(10_000);
  type('look: ');
  type(`${pasteMark}${lines}`);
  expect(text()).toBe('look: [paste #1 10,000 lines]');
  press('enter');
  expect(sent[0]).toEqual({ shown: 'look: [paste #1 10,000 lines]', text: `look: ${lines}` });
  history.push('look: [paste #1 10,000 lines]');
  press('up', 'enter');
  expect(sent[1]?.text).toBe(`look: ${lines}`);
});

test('Ctrl+C empties the line unless something runs, Ctrl+D leaves when it is empty', () => {
  const { type, control, text, done, world } = setup();
  type('abc');
  world.isBusy = true;
  control('c');
  expect(text()).toBe('abc');
  world.isBusy = false;
  control('d');
  expect(done).toEqual([]);
  control('c');
  expect(text()).toBe('');
  control('d');
  expect(done).toEqual(['leave']);
});
