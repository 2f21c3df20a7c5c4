import { expect, test } from 'vitest';
import { promptPieces, withArguments } from './command-files.js';

test('commands and files are split off, with balanced braces', () => {
  expect(promptPieces("Look at @{src/a b.ts} and !{ awk '{ if (1) { print $1 } }' x }. a@b {c} !d")).toEqual([
    { type: 'text', text: 'Look at ' },
    { type: 'file', text: 'src/a b.ts' },
    { type: 'text', text: ' and ' },
    { type: 'command', text: "awk '{ if (1) { print $1 } }' x" },
    { type: 'text', text: '. a@b {c} !d' },
  ]);
});

test.each(['!{echo', 'a @{b {c}', '!{'.repeat(30_000)])('a brace that is not closed is an error', (prompt) => {
  expect(() => promptPieces(prompt)).toThrow('is not closed');
});

test('arguments replace the placeholder, as one word in a command', () => {
  const pieces = promptPieces('Explain {{args}}: !{grep {{args}} notes} @{docs/{{args}}.md}');
  expect(withArguments(pieces, "it's $(x) $& {{args}} !{id}")).toEqual([
    { type: 'text', text: "Explain it's $(x) $& {{args}} !{id}: " },
    { type: 'command', text: "grep 'it'\\''s $(x) $& {{args}} !{id}' notes" },
    { type: 'text', text: ' ' },
    { type: 'file', text: "docs/it's $(x) $& {{args}} !{id}.md" },
  ]);
  expect(withArguments(promptPieces('!{git log {{args}}}'), '')).toEqual([{ type: 'command', text: 'git log ' }]);
});

test('a prompt without a placeholder gets the arguments at its end', () => {
  const pieces = promptPieces('Do it.');
  expect(withArguments(pieces, 'now')).toEqual([
    { type: 'text', text: 'Do it.' },
    { type: 'text', text: '\n\nnow' },
  ]);
  expect(withArguments(pieces, '')).toEqual(pieces);
});
