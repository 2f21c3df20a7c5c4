import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { userExcludes } from './git-excludes.js';

test.each([
  ['[core]\n\texcludesFile = /x\n', '/x'],
  ['[core] excludesfile=/x', '/x'],
  ['[CORE]\r\nEXCLUDESFILE = "/x y" # mine\r\n', '/x y'],
  [String.raw`[core] excludesFile = "/x;\"y" ; mine`, '/x;"y'],
  ['[core]\nexcludesFile = /x\\\ny\n', '/xy'],
  ['[core]\n# odd \\\nexcludesFile = /x\n', '/x'],
  ['[core]\nexcludesFile = /x\n[core]\nexcludesFile = /y\n', '/y'],
  ['[core]\nexcludesFile = /x\nexcludesFile =\n', undefined],
  ['[core "x"]\nexcludesFile = /x\n[user]\nexcludesFile = /x\n', '~/.config/git/ignore'],
  ['[core]\n# excludesFile = /x\n', '~/.config/git/ignore'],
  ['[core]\nexcludesFile = ~/mine\n', '~/mine'],
  ['[core]\nexcludesFile = /x\n[include]\npath = more/config\n', '/included'],
  ['[include]\npath = ~/more/config\n[core]\nexcludesFile = /x\n', '/x'],
  ['[include] path = ~/more/config\n', '/included'],
  ['[include]\npath = .gitconfig\npath = missing\npath = more\n[core]\nexcludesFile = /x\n', '/x'],
])('%j names %s', (config, expected) => {
  const home = tempDirectory({ '.gitconfig': config, 'more/config': '[core]\nexcludesFile = /included\n' });
  expect(userExcludes({}, home)).toBe(expected?.replace('~', home));
});

test('the other place of the configuration counts when the first says nothing', () => {
  const home = tempDirectory({ '.gitconfig': '[user]\nname = x\n', 'xdg/git/config': '[core]\nexcludesFile = /x\n' });
  expect(userExcludes({ XDG_CONFIG_HOME: join(home, 'xdg') }, home)).toBe('/x');
});

test('a configuration that includes others a thousand times is read once', () => {
  const includes = Array.from({ length: 1000 }, (_, index) => `[include] path = ${index % 40}\n`).join('');
  const others = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`${index}`, includes]));
  const home = tempDirectory({ '.gitconfig': `${includes}[core] excludesFile = /x\n`, ...others });
  expect(userExcludes({}, home)).toBe('/x');
});
