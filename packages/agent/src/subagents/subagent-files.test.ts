import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Workspace } from '@lathe/core/tools';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { loadSubagents, parseSubagent } from './subagent-files.js';

const file = (name: string, more = '', body = 'You help.') =>
  `---\nname: ${name}\ndescription: does ${name}\n${more}---\n${body}\n`;

async function load(files: Record<string, string>, personal: Record<string, string> = {}, isTrusted = true) {
  const root = tempDirectory(files);
  const home = tempDirectory(personal);
  const workspace = await Workspace.open(root);
  return {
    root,
    ...(await loadSubagents({ workspace, isTrusted, personalFolders: [join(home, 'a'), join(home, 'b')] })),
  };
}

const names = ({ definitions }: { definitions: readonly { name: string }[] }) => definitions.map(({ name }) => name);

test('a file defines a whole subagent', () => {
  const more = 'tools: Read, github__*\ndisallowedTools:\n  - Bash\nmodel: qwen-max\napprovalMode: yolo\n';
  expect(parseSubagent(`\ufeff${file('tester', more).replaceAll('\n', '\r\n')}`)).toEqual({
    name: 'tester',
    description: 'does tester',
    instructions: 'You help.',
    tools: ['Read', 'github__*'],
    withoutTools: ['Bash'],
    model: 'qwen-max',
  });
});

test('an empty list of tools means none, and an inherited model is not set', () => {
  const { tools, model } = parseSubagent(file('a', 'tools: []\nmodel: inherit\n'));
  expect({ tools, model }).toEqual({ tools: [], model: undefined });
});

test.each([
  ['no head at all', 'You help.', 'front matter'],
  ['a name that is a path', file('../x'), 'its name'],
  ['no description', '---\nname: a\n---\nbody', 'description'],
])('%s is refused', (_what, text, reason) => {
  expect(() => parseSubagent(text)).toThrow(reason);
});

test('hidden characters become visible', () => {
  expect(parseSubagent(file('a', '', 'obey\u202e me')).instructions).toBe('obey\\u{202e} me');
});

// SK07
test('folders of Lathe and Qwen Code count, and no file of a workspace replaces a built-in subagent or the person’s own', async () => {
  const loaded = await load(
    {
      '.lathe/agents/one.md': file('one'),
      '.qwen/agents/two.md': file('two'),
      '.lathe/agents/mine.md': file('mine', '', 'from the workspace'),
      '.lathe/agents/explorer.md': file('explorer', '', 'from the workspace'),
      '.lathe/agents/notes.txt': 'no agent',
    },
    { 'a/mine.md': file('mine', '', 'mine'), 'b/mine.md': file('mine', '', 'second'), 'b/three.md': file('three') },
  );
  expect(names(loaded)).toEqual(['general-purpose', 'explorer', 'mine', 'three', 'one', 'two']);
  expect(loaded.definitions.find(({ name }) => name === 'mine')?.instructions).toBe('mine');
  expect(loaded.definitions.find(({ name }) => name === 'explorer')?.instructions).not.toContain('workspace');
  expect(loaded.problems).toHaveLength(2);
});

test('a person may replace a built-in subagent', async () => {
  const { definitions } = await load({}, { 'a/x.md': file('explorer', '', 'mine') });
  expect(definitions.map(({ name, instructions }) => [name, instructions])).toContainEqual(['explorer', 'mine']);
});

test('an untrusted workspace defines no subagents', async () => {
  const { definitions } = await load({ '.lathe/agents/one.md': file('one') }, {}, false);
  expect(names({ definitions })).toEqual(['general-purpose', 'explorer']);
});

test('a file that leads out of the project, is too large or is not valid is reported and skipped', async () => {
  const outside = tempDirectory({ 'x.md': file('outside') });
  const root = tempDirectory({
    '.lathe/agents/big.md': file('big', '', 'x'.repeat(70_000)),
    '.lathe/agents/odd.md': 'odd',
    '.lathe/agents/good.md': file('good'),
  });
  symlinkSync(join(outside, 'x.md'), join(root, '.lathe/agents/link.md'));
  const workspace = await Workspace.open(root);
  const loaded = await loadSubagents({ workspace, isTrusted: true, personalFolders: [] });
  expect(names(loaded)).toEqual(['general-purpose', 'explorer', 'good']);
  expect(loaded.problems.map((problem) => problem.replace(`${root}/.lathe/agents/`, '').split(':')[0])).toEqual([
    'big.md',
    'link.md',
    'odd.md',
  ]);
});

test('at most thirty subagents are used', async () => {
  const files = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`.lathe/agents/${n}.md`, file(`a${n}`)]));
  const loaded = await load(files);
  expect(loaded.definitions).toHaveLength(30);
  expect(loaded.problems).toEqual(['Only the first 30 of 62 subagents are used']);
});
