import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Workspace } from '@lathe/core/tools';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { loadCommands } from './command-files.js';

async function load(files: Record<string, string>, personal: Record<string, string> = {}, isTrusted = true) {
  const root = tempDirectory(files);
  const home = tempDirectory(personal);
  return loadFrom(root, home, isTrusted);
}

async function loadFrom(root: string, home: string, isTrusted = true) {
  const { commands, problems } = await loadCommands({
    workspace: await Workspace.open(root),
    isTrusted,
    personalFolders: [join(home, 'a'), join(home, 'b')],
    isTaken: (name) => name === 'help',
  });
  return { commands, problems: problems.map((each) => each.replace(`${root}/`, '').replace(`${home}/`, '')) };
}

const names = ({ commands }: { commands: readonly { name: string }[] }) => commands.map(({ name }) => name);

test('a file is a command: name, description, prompt', async () => {
  const { commands, problems } = await load(
    { '.qwen/commands/git/tidy.md': '\ufeff---\r\ndescription: "tidies: up"\r\n---\r\n\r\nTidy {{args}}\r\nup.\r\n' },
    { 'a/review.md': `${'Review it all. '.repeat(20)}\nNow.` },
  );
  expect(problems).toEqual([]);
  expect(commands).toMatchObject([
    { name: 'review', description: expect.stringMatching(/^Review.{73}…$/), owner: 'person' },
    { name: 'git:tidy', description: 'tidies: up', owner: 'project', pieces: [{ text: 'Tidy {{args}}\nup.' }] },
  ]);
});

test('a TOML file in the format of Qwen Code is a command as well', async () => {
  const toml = 'description = "tests \\"it\\""\nprompt = """\nRun {{args}}:\n!{npm test}\n"""\n';
  const { commands, problems } = await load({
    '.qwen/commands/run/tests.toml': toml,
    '.qwen/commands/broken.toml': 'prompt = "never ends',
    '.qwen/commands/empty.toml': 'description = "x"',
    '.lathe/commands/twice.md': 'first',
    '.qwen/commands/twice.toml': 'prompt = "second"',
  });
  expect(commands.map(({ name, description, pieces }) => ({ name, description, pieces }))).toEqual([
    { name: 'twice', description: 'first', pieces: [{ type: 'text', text: 'first' }] },
    {
      name: 'run:tests',
      description: 'tests "it"',
      pieces: [
        { type: 'text', text: 'Run {{args}}:\n' },
        { type: 'command', text: 'npm test' },
      ],
    },
  ]);
  expect(problems).toEqual([
    expect.stringMatching(/^\.qwen\/commands\/broken\.toml: Invalid TOML/),
    '.qwen/commands/empty.toml: it has no prompt = "…"',
    '.qwen/commands/twice.toml: there is a command /twice already; this one is not used',
  ]);
});

test('no file replaces a built-in command, and no project file a person’s own', async () => {
  const { commands, problems } = await load(
    { '.lathe/commands/mine.md': 'theirs', '.lathe/commands/help.md': 'theirs', '.qwen/commands/new.md': 'new' },
    { 'a/mine.md': 'mine', 'b/mine.md': 'second', 'a/help.md': 'mine' },
  );
  expect(commands.map(({ name, pieces }) => [name, pieces[0]?.text])).toEqual([
    ['mine', 'mine'],
    ['new', 'new'],
  ]);
  expect(problems).toEqual(
    [
      ['a/help.md', 'help'],
      ['b/mine.md', 'mine'],
      ['.lathe/commands/help.md', 'help'],
      ['.lathe/commands/mine.md', 'mine'],
    ].map(([path, name]) => `${path}: there is a command /${name} already; this one is not used`),
  );
});

test('an untrusted folder defines no commands', async () => {
  expect(await load({ '.lathe/commands/x.md': 'x', '.qwen/commands/y.md': 'y' }, {}, false)).toEqual({
    commands: [],
    problems: [],
  });
});

test('SC11: a project file that leads out of the project is reported and skipped', async () => {
  const outside = tempDirectory({ 'secret.md': 'key', 'more/x.md': 'x' });
  const root = tempDirectory({ '.lathe/commands/good.md': 'good', '.qwen/keep': '' });
  symlinkSync(join(outside, 'secret.md'), join(root, '.lathe/commands/link.md'));
  symlinkSync(join(outside, 'more'), join(root, '.lathe/commands/folder'));
  symlinkSync(join(outside, 'more'), join(root, '.qwen/commands'));
  const loaded = await loadFrom(root, tempDirectory());
  expect(names(loaded)).toEqual(['good']);
  expect(loaded.problems).toEqual([
    '.lathe/commands/link.md: it leads out of the project',
    '.qwen/commands/x.md: it leads out of the project',
  ]);
});

test('a file that is too large, empty, not text, not closed or badly named is reported and skipped', async () => {
  const { commands, problems } = await load({
    '.lathe/commands/big.md': 'x'.repeat(70_000),
    '.lathe/commands/blank.md': '---\ndescription: nothing\n---\n \n',
    '.lathe/commands/open.md': 'run !{ls',
    '.lathe/commands/two words.md': 'x',
    '.lathe/commands/\u001b[31mred.md': 'x',
    '.lathe/commands/notes.txt': 'no command',
    '.lathe/commands/1/2/3/deep.md': 'deep',
    '.lathe/commands/1/2/3/4/deeper.md': 'too deep',
  });
  expect(names({ commands })).toEqual(['1:2:3:deep']);
  expect(problems).toEqual([
    expect.stringMatching(/^\.lathe\/commands\/\\x1b\[31mred\.md: a command name/),
    expect.stringMatching(/^\.lathe\/commands\/big\.md: It is larger/),
    '.lathe/commands/blank.md: it has no text',
    expect.stringMatching(/^\.lathe\/commands\/open\.md: .*not closed/),
    expect.stringMatching(/^\.lathe\/commands\/two words\.md: a command name/),
  ]);
});

test('hidden characters become visible, to the person and to the model', async () => {
  const { commands } = await load({
    '.lathe/commands/x.md': '---\ndescription: a\u202eb\n---\nrun !{ls \u200b\u001b[8m}',
  });
  expect(commands).toMatchObject([
    {
      description: 'a\\u{202e}b',
      pieces: [{ text: 'run ' }, { type: 'command', text: 'ls \\u{200b}\\x1b[8m' }],
    },
  ]);
});

test('at most two hundred commands are used', async () => {
  const files = Object.fromEntries(Array.from({ length: 250 }, (_, n) => [`.lathe/commands/c${n}.md`, 'x']));
  const { commands, problems } = await load(files);
  expect(commands).toHaveLength(200);
  expect(problems).toEqual(['Only the first 200 of 250 commands are used']);
});
