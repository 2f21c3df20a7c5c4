import { expect, test } from 'vitest';
import { parseBackgroundCommand } from './background-command.js';

test.each([
  ['bg', { action: 'list' }],
  ['bg list', { action: 'list' }],
  ['bg read bg_1', { action: 'read', id: 'bg_1' }],
  ['bg read bg_1 compiled with', { action: 'read', id: 'bg_1', text: 'compiled with' }],
  ['bg send bg_12 rm -rf x; ls', { action: 'send', id: 'bg_12', text: 'rm -rf x; ls' }],
  ['bg send bg_1', { action: 'send', id: 'bg_1', text: '' }],
  ['  bg stop bg_1  ', { action: 'stop', id: 'bg_1' }],
])('%s is a background command', (command, expected) => {
  expect(parseBackgroundCommand(command)).toEqual(expected);
});

test.each([
  'bg %1',
  'bg list; rm x',
  'bg stop bg_1; rm x',
  'bg stop bg_1 && rm x',
  'bg read',
  'bgx list',
  'bg read bg_1 a\nrm x',
  'bg stop 1',
])('%j is for the shell', (command) => {
  expect(parseBackgroundCommand(command)).toBeUndefined();
});
