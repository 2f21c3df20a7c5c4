import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { report } from '../../../../testing/long-run.js';
import { editJsonc } from './edit-jsonc.js';
import { type JsonValue, parseJsonc, valueOf } from './parse-jsonc.js';

test.each<[string, string, string[], JsonValue | undefined, string]>([
  ['an empty file', '', ['a', 'b'], 1, '{\n  "a": {\n    "b": 1\n  }\n}\n'],
  ['an empty object', '{}\n', ['a'], 'x', '{\n  "a": "x"\n}\n'],
  ['an object with only a comment', '{\n  // later\n}\n', ['a'], 1, '{\n  // later\n  "a": 1\n}\n'],
  ['a value', '{ "a": 1, "b": 2 } // end', ['a'], [3], '{ "a": [\n  3\n], "b": 2 } // end'],
  ['one line', '{"a": 1}', ['b'], 2, '{"a": 1, "b": 2}'],
  ['a remark on the last line', '{\n\t"a": 1 // one\n}', ['b'], 2, '{\n\t"a": 1, // one\n\t"b": 2\n}'],
  ['a trailing comma', '{\n  "a": 1, /* one */ // x\n}', ['b'], 2, '{\n  "a": 1, /* one */ // x\n  "b": 2,\n}'],
  ['a comma after a remark', '{\n  "a": 1 // x\n  ,\n}', ['b'], 2, '{\n  "a": 1 // x\n  ,\n  "b": 2,\n}'],
  [
    'a nested object',
    '{\n  "t": {\n    "a": 1\n  }\n}',
    ['t', 'b'],
    true,
    '{\n  "t": {\n    "a": 1,\n    "b": true\n  }\n}',
  ],
  [
    'Windows line ends',
    '{\r\n  "a": 1\r\n}\r\n',
    ['b'],
    { c: 2 },
    '{\r\n  "a": 1,\r\n  "b": {\r\n    "c": 2\r\n  }\r\n}\r\n',
  ],
  ['a byte order mark', '\uFEFF{"a": 1}', ['a'], 2, '\uFEFF{"a": 2}'],
  [
    'a growing list',
    '{"p": [\n  "x", // why\n]}',
    ['p'],
    ['x', 'y', 'z'],
    '{"p": [\n  "x", // why\n  "y",\n  "z",\n]}',
  ],
  ['a short list', '{"p": ["x"]}', ['p'], ['x', 'y'], '{"p": ["x", "y"]}'],
  ['an empty list', '{\n  "p": []\n}', ['p'], ['x'], '{\n  "p": [\n    "x"\n  ]\n}'],
  ['a list that shrinks', '{"p": ["x", "y"]}', ['p'], ['y'], '{"p": [\n  "y"\n]}'],
  ['a removed entry', '{\n  "a": 1,\n  // two\n  "b": 2\n}', ['a'], undefined, '{\n  // two\n  "b": 2\n}'],
  ['a removed last entry', '{\n  "a": 1,\n  "b": 2\n}', ['b'], undefined, '{\n  "a": 1\n}'],
  ['the only entry, removed,', '{\n  "a": 1,\n}', ['a'], undefined, '{\n}'],
  ['nothing to remove', '{ "a": 1 }', ['b', 'c'], undefined, '{ "a": 1 }'],
])('%s keeps its layout', async (_, before, path, value, after) => {
  expect(await editJsonc(before, path, value)).toBe(after);
});

test('a path below a value that is not an object is an error', async () => {
  await expect(editJsonc('{"a": 1}', ['a', 'b'], 2)).rejects.toThrow('not an object');
});

test('whatever the file, an edit sets what it should and nothing else', async () => {
  const key = fc.constantFrom('a', 'b', 'c', 'd.e', '"', 'ü');
  const tree = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom<JsonValue>(1, 'x', true, null, '// no', '/* no */', ','),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    ),
  })).value;
  const object = fc.dictionary(key, tree, { maxKeys: 4, noNullPrototype: true });
  const remarks = fc.array(fc.constantFrom('', ' ', '\n', '// r\n', '/* , } */', ' /*\n*/ '), {
    minLength: 1,
    maxLength: 8,
  });
  await fc.assert(
    fc.asyncProperty(
      object,
      remarks,
      fc.boolean(),
      key,
      fc.option(tree, { nil: undefined }),
      async (root, blanks, comma, name, value) => {
        const text = write(root, blanks, comma);
        const edited = valueOf(await parseJsonc(await editJsonc(text, [name], value)));
        const { [name]: _, ...others } = root;
        expect(edited).toEqual(value === undefined ? others : { ...root, [name]: value });
      },
    ),
    { numRuns: process.env['LATHE_LONG'] ? 50_000 : 2_000 },
  );
  report('random settings files edited', process.env['LATHE_LONG'] ? 50_000 : 2_000);
});

/** JSON with remarks everywhere and, if wanted, a comma after every last member. */
function write(value: JsonValue, blanks: readonly string[], comma: boolean): string {
  let turn = 0;
  const blank = () => blanks[turn++ % blanks.length] ?? '';
  const members = (parts: string[]) =>
    parts.join(`${blank()},${blank()}`) + (comma && parts.length > 0 ? `${blank()},` : '') + blank();
  const show = (node: JsonValue): string => {
    if (Array.isArray(node)) return `[${blank()}${members(node.map(show))}]`;
    if (node === null || typeof node !== 'object') return JSON.stringify(node);
    return `{${blank()}${members(Object.entries(node).map(([key, child]) => `${JSON.stringify(key)}${blank()}:${blank()}${show(child)}`))}}`;
  };
  return blank() + show(value) + blank();
}
