import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import { describe, expect, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { ToolError } from '../contract/errors.js';
import { directCall } from '../contract/tool-call.js';
import { contentHash, SeenFiles } from '../files/access/seen-files.js';
import { LatheHome } from '../files/lathe-home.js';
import { Journal } from '../files/undo/journal.js';
import { Workspace } from '../files/workspace.js';
import { FileChanges } from '../files/write/file-changes.js';
import { FileLocks } from '../files/write/file-lock.js';
import { EditTool } from './edit.js';

const signal = new AbortController().signal;

async function setUp(files: Record<string, string | Uint8Array> = {}) {
  const root = tempDirectory(files);
  const home = new LatheHome(tempDirectory());
  const seen = new SeenFiles();
  const changes = new FileChanges({ locks: new FileLocks(home), journal: new Journal(home), seen });
  const tool = new EditTool(await Workspace.open(root), changes);
  const path = (name: string) => join(root, name);
  const call = (name: string, old_string: string, new_string: string, more = {}) => ({
    file_path: path(name),
    old_string,
    new_string,
    ...more,
  });
  const edit = (name: string, oldText: string, newText: string, more = {}) =>
    tool.execute(call(name, oldText, newText, more), signal);
  const read = (name: string) => readFileSync(path(name), 'utf8');
  return { root, tool, seen, changes, path, call, edit, read };
}

// SF09
describe('hidden characters', () => {
  test.each([
    ['a byte order mark that stays', '\ufeffa', '\ufeffb', []],
    ['a byte order mark that is new', 'a', '\ufeffb', ['U+FEFF in line 1 of new_string']],
    ['emoji sequences', 'a', '👩🏽‍💻 ⚠️ 🏳️‍🌈', []],
    ['a joiner in a word', 'a', 'x\nad\u200dmin', ['U+200D in line 2 of new_string']],
    ['very many', 'a', '\u200b\n'.repeat(9), ['U+200B in line 3 of new_string and 6 more']],
  ])('%s', async (_, oldText, newText, named) => {
    const { tool, call } = await setUp({ f: 'a\n' });
    const why = (await tool.getTargets(call('f', oldText, newText))).flatMap((target) => target.why ?? []);
    expect(why).toEqual(named.map((places) => expect.stringContaining(places)));
  });

  test('the question names their lines in the file', async () => {
    const { tool, call } = await setUp({ f: 'a\nb\nc\u200b\n' });
    const question = await tool.shouldConfirmExecute(call('f', 'c\u200b', 'd\u00ad'), signal);
    expect(question.warnings).toEqual([expect.stringContaining('U+200B in removed line 3, U+00AD in line 3')]);
  });
});

describe('a successful edit', () => {
  test('says so, shows the place and returns the diff', async () => {
    const { edit, read, path } = await setUp({ f: 'a\nb\nc\n' });
    const result = await edit('f', 'b', 'X');
    expect(read('f')).toBe('a\nX\nc\n');
    expect(result).toEqual({
      llmContent: `Edited ${path('f')}. Showing lines 1-3 of 3:\n---\na\nX\nc\n`,
      returnDisplay: {
        type: 'file_diff',
        fileName: 'f',
        filePath: path('f'),
        fileDiff: '--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+X\n c\n',
        originalContent: 'a\nb\nc\n',
        newContent: 'a\nX\nc\n',
        diffStat: {
          model_added_lines: 1,
          model_removed_lines: 1,
          model_added_chars: 2,
          model_removed_chars: 2,
          user_added_lines: 0,
          user_removed_lines: 0,
          user_added_chars: 0,
          user_removed_chars: 0,
        },
      },
    });
  });

  test('creates a file with its parents when old_string is empty', async () => {
    const { edit, read, path } = await setUp();
    const result = await edit('x/y/f', '', 'hello\n');
    expect(read('x/y/f')).toBe('hello\n');
    expect(result.llmContent).toBe(`Created ${path('x/y/f')}. Showing lines 1-1 of 1:\n---\nhello\n`);
    expect(result.returnDisplay).toMatchObject({
      fileDiff: '--- /dev/null\n+++ x/y/f\n@@ -0,0 +1 @@\n+hello\n',
      originalContent: null,
    });
  });

  test('replaces every occurrence on demand, also when deleting', async () => {
    const { edit, read } = await setUp({ f: 'foo\nbar foo baz foo\n', g: 'a\r\nb\r\na\nb\n' });
    const result = await edit('f', 'foo', '', { replace_all: true });
    expect(read('f')).toBe('\nbar  baz \n');
    expect(result.llmContent).toContain('3 occurrences were replaced');
    await edit('g', 'a\nb', 'c\nd', { replace_all: true });
    expect(read('g')).toBe('c\r\nd\r\nc\nd\n');
  });

  test('counts lines by their line feeds, as read_file does', async () => {
    const { edit } = await setUp({ f: 'a\r\nb\nc\rd\r\n' });
    expect((await edit('f', 'b', 'X')).llmContent).toContain('Showing lines 1-3 of 3:');
  });

  test.each([
    ['utf8', 'x'],
    ['utf8', '中'],
    ['utf16le', '😀'],
  ] as const)('shows the place of a change in a very long line (%s, %s)', async (encoding, filling) => {
    const long = `${filling.repeat(200_001)}HERE${filling.repeat(200_001)}\n`;
    const mark = encoding === 'utf8' ? '' : '\uFEFF';
    const { edit } = await setUp({ f: Buffer.from(`${mark}a\n${long}z\n`, encoding) });
    const { llmContent, returnDisplay } = await edit('f', 'HERE', 'THERE');
    const [, shown] = (llmContent as string).split('\n---\n');
    expect(llmContent).toContain('Showing lines 2-2 of 3:');
    expect(shown).toMatch(new RegExp(`^…(?:${filling}){500,2048}THERE(?:${filling}){500,2048}…$`, 'u'));
    const { fileDiff } = returnDisplay as { fileDiff: string };
    expect(fileDiff).toMatch(new RegExp(`^-…?(?:${filling})+HERE(?:${filling})+…?$`, 'mu'));
    expect(fileDiff).toMatch(new RegExp(`^\\+…?(?:${filling})+THERE(?:${filling})+…?$`, 'mu'));
  });

  test('shows what is there now after a large deletion', async () => {
    const middle = Array.from({ length: 100_000 }, (_, line) => `line ${line}\n`).join('');
    const { edit } = await setUp({ f: `a\n${middle}c\n` });
    const { llmContent, returnDisplay } = await edit('f', middle, '');
    expect(llmContent).toMatch(/Showing lines 1-2 of 2:\n---\na\nc\n$/);
    expect(returnDisplay).toMatchObject({ fileDiff: expect.not.stringContaining('U+0000') });
  });

  test('names what it overlooked', async () => {
    const { edit, read } = await setUp({ f: 'if (x)  \n  say(“hi”)\n' });
    const result = await edit('f', 'if (x)\n  say("hi")', 'if (x)\n  say("ho")');
    expect(read('f')).toBe('if (x)  \n  say(“ho”)\n');
    expect(result.llmContent).toContain('found apart from trailing whitespace and typographic characters');
  });

  // RW16 RW17
  test('keeps encodings, marks and damaged bytes elsewhere', async () => {
    const utf16 = Buffer.from('\uFEFFGrüße\r\nWelt\r\n', 'utf16le');
    const chinese = '你好，世界。这是一个测试文件，用来检查编码是否保留。\n'.repeat(5);
    const gbk = iconv.encode(`${chinese}x\n`, 'gb18030');
    const damaged = Buffer.concat([Buffer.from([0x61, 0xff, 0xfe, 0x0a, 0x62, 0x0a]), Buffer.from('你'.repeat(20))]);
    const { edit, path } = await setUp({ utf16, gbk, damaged, bom: '\uFEFFa\r\nb' });
    await edit('utf16', 'Welt', 'Mond\nneu');
    expect(readFileSync(path('utf16'))).toEqual(Buffer.from('\uFEFFGrüße\r\nMond\r\nneu\r\n', 'utf16le'));
    await edit('gbk', 'x', '世');
    expect(readFileSync(path('gbk'))).toEqual(iconv.encode(`${chinese}世\n`, 'gb18030'));
    await edit('damaged', 'b', 'c');
    expect(readFileSync(path('damaged'))).toEqual(
      Buffer.concat([damaged.subarray(0, 4), Buffer.from('c'), damaged.subarray(5)]),
    );
    await edit('bom', 'b', 'c\n');
    expect(readFileSync(path('bom'), 'utf8')).toBe('\uFEFFa\r\nc\r\n');
  });

  // RW12
  test('writes through a symbolic link and leaves it a link', async () => {
    const { edit, path, read } = await setUp({ target: 'old' });
    symlinkSync('target', path('link'));
    await edit('link', 'old', 'new');
    expect([read('target'), lstatSync(path('link')).isSymbolicLink()]).toEqual(['new', true]);
  });

  // RW13
  test('says that other names of the file keep the old content', async () => {
    const { edit, path, read } = await setUp({ f: 'old' });
    linkSync(path('f'), path('g'));
    const result = await edit('f', 'old', 'new');
    expect([read('f'), read('g')]).toEqual(['new', 'old']);
    expect(result.llmContent).toContain('another name (a hard link), which keeps the old content');
  });

  // RW31
  test('does not depend on the clock', async () => {
    const { edit, path, read } = await setUp({ f: 'old' });
    utimesSync(path('f'), new Date('2036-01-01'), new Date('2036-01-01'));
    await edit('f', 'old', 'new');
    utimesSync(path('f'), new Date('1990-01-01'), new Date('1990-01-01'));
    await edit('f', 'new', 'newer');
    expect(read('f')).toBe('newer');
  });
});

// RW18 RW19 RW21 RW26, SC18
describe('an edit that is refused leaves the file as it was', () => {
  const text = 'foo x\nfoo\n';
  test.each([
    ['no occurrence', 'f', 'nothing like this', 'x', 'edit_no_occurrence_found'],
    ['several occurrences', 'f', 'foo', 'x', 'edit_expected_occurrence_mismatch'],
    ['several occurrences to delete', 'f', 'foo', '', 'edit_expected_occurrence_mismatch'],
    ['overlapping occurrences', 'aaa', 'aa', 'b', 'edit_expected_occurrence_mismatch'],
    ['several similar places', 'quotes', 'say("x")', 'b', 'edit_expected_occurrence_mismatch'],
    ['the same text', 'f', 'foo x', 'foo x', 'edit_no_change'],
    ['an existing file to create', 'f', '', 'x', 'attempt_to_create_existing_file'],
    ['a missing file', 'missing', 'a', 'b', 'file_not_found'],
    ['a directory', '.', 'a', 'b', 'target_is_directory'],
    ['a directory to create', '.', '', 'b', 'target_is_directory'],
    ['a binary file', 'binary', 'abc', 'b', 'edit_preparation_failure'],
    ['a placeholder', 'f', 'foo x', '// ... existing code ...', 'edit_preparation_failure'],
    ['half of a surrogate pair', 'f', 'foo x', '\uD800', 'edit_preparation_failure'],
    ['a character that the encoding lacks', 'latin', 'caf', '中', 'edit_preparation_failure'],
    ['a parent that is a file', 'f/x', '', 'b', 'file_not_found'],
    ['a name that is too long', 'n'.repeat(256), '', 'b', 'read_content_failure'],
  ])('%s', async (_, name, oldText, newText, type) => {
    const binary = Buffer.from([0x61, 0x62, 0x63, 0, 1, 2, 3, 0, 0, 0xff]);
    const latin = Buffer.from('caf\u00e9 na\u00efve \u00fcber', 'latin1');
    const files = { f: text, aaa: 'aaa', quotes: 'say(“x”)\nsay(”x“)\n', binary, latin };
    const { edit, root } = await setUp(files);
    await expect(edit(name, oldText, newText)).rejects.toMatchObject({ name: 'ToolError', type });
    for (const [file, content] of Object.entries(files))
      expect(readFileSync(join(root, file))).toEqual(Buffer.from(content));
    expect(readdirSync(root).sort()).toEqual(Object.keys(files).sort());
  });

  test('several occurrences are counted and placed', async () => {
    const { edit } = await setUp({ f: 'a\nb a\nc\na\n' });
    await expect(edit('f', 'a', 'x')).rejects.toThrow('occurs 3 times');
    await expect(edit('f', 'a', 'x')).rejects.toThrow('lines 1, 2, 4');
  });

  test('a miss shows the nearest region and what differs', async () => {
    const lines = Array.from({ length: 300 }, (_, index) => `const value${index} = compute(${index});`);
    const { edit, path } = await setUp({ f: lines.join('\n') });
    const wanted = 'const value120 = compute(120);\n  const value121 = compute(121);\nconst value122 = compute(123);';
    await expect(edit('f', wanted, 'x')).rejects.toThrow(
      `old_string is not in ${path('f')}. The nearest region is at lines 121-123:\n` +
        '   121 | const value120 = compute(120);\n' +
        '   122 | const value121 = compute(121);\n' +
        '   old_string:   const value121 = compute(121);   (only the indentation differs)\n' +
        '   123 | const value122 = compute(122);\n' +
        '   old_string: const value122 = compute(123);',
    );
  });

  // RW27
  test.each(['fifo', 'socket', 'device'])('a %s', async (kind) => {
    const { tool, path } = await setUp();
    const target = kind === 'device' ? '/dev/full' : path('special');
    if (kind === 'fifo') execFileSync('mkfifo', [target]);
    if (kind === 'socket')
      execFileSync('python3', ['-c', `import socket; socket.socket(socket.AF_UNIX).bind("${target}")`]);
    const params = { file_path: target, old_string: 'a', new_string: 'b' };
    await expect(tool.shouldConfirmExecute(params, signal)).rejects.toMatchObject({ type: 'target_not_regular_file' });
  });

  // RW25
  test('a file of a terabyte is refused at once', async () => {
    const { edit, path } = await setUp({ f: '' });
    truncateSync(path('f'), 2 ** 40);
    await expect(edit('f', 'a', 'b')).rejects.toMatchObject({ type: 'file_too_large' });
    expect(statSync(path('f')).size).toBe(2 ** 40);
  });

  // RW11
  test('a read-only file', async () => {
    const { edit, path, read } = await setUp({ f: 'old' });
    chmodSync(path('f'), 0o444);
    await expect(edit('f', 'old', 'new')).rejects.toMatchObject({ type: 'permission_denied' });
    expect(read('f')).toBe('old');
  });
});

test.each([
  ['a relative path', { file_path: 'f', old_string: 'a', new_string: 'b' }],
  ['a directory', { file_path: '/tmp/', old_string: 'a', new_string: 'b' }],
  ['a missing field', { file_path: '/f', old_string: 'a' }],
  ['a number', { file_path: 1, old_string: 'a', new_string: 'b' }],
])('%s is invalid', async (_, params) => {
  expect((await setUp()).tool.validateToolParams(params)).toEqual(expect.any(String));
});

describe('the confirmation', () => {
  test('carries the true diff, the texts and a rule', async () => {
    const { tool, call, path } = await setUp({ 'src/f': '  a\nb\n' });
    const params = call('src/f', '  a', 'a');
    expect(await tool.getTargets(params)).toEqual([
      { type: 'path', access: 'write', path: path('src/f'), asks: true, isInside: true },
      { type: 'path', access: 'read', path: path('src/f'), asks: false, hidden: true },
    ]);
    expect(await tool.shouldConfirmExecute(params, signal)).toEqual({
      type: 'edit',
      title: 'Confirm Edit: src/f',
      fileName: 'f',
      filePath: path('src/f'),
      fileDiff: '--- src/f\n+++ src/f\n@@ -1,2 +1,2 @@\n-  a\n+a\n b\n',
      originalContent: '  a\nb\n',
      newContent: 'a\nb\n',
      rules: ['edit(/**)'],
    });
  });

  // SC09
  test('warns of guarded, outside, linked and hard-linked targets', async () => {
    const { tool, seen, call, path, root } = await setUp({ '.git/config': 'a', f: 'a', g: 'b' });
    const outside = join(tempDirectory({ f: 'a' }), 'f');
    seen.record(outside, contentHash(Buffer.from('a')));
    symlinkSync('f', path('link'));
    linkSync(path('g'), path('h'));
    const guarded = await tool.shouldConfirmExecute(call('.git/config', 'a', 'b'), signal);
    expect([guarded.warnings?.length, guarded.rules]).toEqual([1, undefined]);
    const params = { file_path: outside, old_string: 'a', new_string: 'b' };
    expect(await tool.shouldConfirmExecute(params, signal)).toMatchObject({
      warnings: [`${outside} is outside the workspace`],
      rules: [`edit(/${outside})`],
    });
    const linked = await tool.shouldConfirmExecute(call('link', 'a', 'b'), signal);
    expect(linked.warnings).toEqual([`${root}/link leads to ${root}/f`]);
    const hard = await tool.shouldConfirmExecute(call('g', 'b', 'c'), signal);
    expect(hard.warnings).toEqual(['The file has another name (a hard link), which keeps the old content']);
  });

  test('is not asked for an edit that would fail', async () => {
    const { tool, call } = await setUp({ f: 'a' });
    await expect(tool.shouldConfirmExecute(call('f', 'x', 'y'), signal)).rejects.toBeInstanceOf(ToolError);
  });

  // RW22, SC08
  test('binds what was shown: a file changed since is not written', async () => {
    const step = directCall();
    const { tool, call, path, read } = await setUp({ f: 'a\nb\n' });
    const params = call('f', 'a', 'x');
    await tool.shouldConfirmExecute(params, signal, step);
    writeFileSync(path('f'), 'a\nc\n');
    await expect(tool.execute(params, signal, step)).rejects.toMatchObject({ type: 'file_changed_since_read' });
    expect(read('f')).toBe('a\nc\n');
  });

  // SC07
  test('if a symlink or a parent directory changes after the yes, nothing outside changes', async () => {
    const step = directCall();
    const outside = tempDirectory({ f: 'a' });
    const { tool, call, path, read } = await setUp({ 'd/f': 'a', g: 'a' });
    const params = call('d/f', 'a', 'x');
    await tool.shouldConfirmExecute(params, signal, step);
    renameSync(path('d'), path('moved'));
    symlinkSync(outside, path('d'));
    await expect(tool.execute(params, signal, step)).rejects.toBeInstanceOf(ToolError);
    expect([readFileSync(join(outside, 'f'), 'utf8'), read('moved/f')]).toEqual(['a', 'a']);
  });

  test('an outside or guarded place that nobody was asked about is not written', async () => {
    const outside = join(tempDirectory({ f: 'a' }), 'f');
    const { tool, edit, read } = await setUp({ '.git/config': 'a' });
    const params = { file_path: outside, old_string: 'a', new_string: 'b' };
    await expect(tool.execute(params, signal)).rejects.toMatchObject({ type: 'path_not_in_workspace' });
    await expect(edit('.git/config', 'a', 'b')).rejects.toMatchObject({ type: 'path_not_in_workspace' });
    expect([readFileSync(outside, 'utf8'), read('.git/config')]).toEqual(['a', 'a']);
  });

  test('a person may change the text, and the result says so and counts it', async () => {
    const step = directCall();
    const { tool, call, read } = await setUp({ f: 'a\nb\nc\n' });
    const params = call('f', 'b', 'X');
    await tool.shouldConfirmExecute(params, signal, step);
    const changed = tool.applyChange(params, { type: 'content', content: 'a\nX\nY\nc\n' }, step);
    expect(tool.validateToolParams(changed)).toBeNull();
    expect(await tool.shouldConfirmExecute(changed, signal, step)).toMatchObject({ newContent: 'a\nX\nY\nc\n' });
    const result = await tool.execute(changed, signal, step);
    expect(read('f')).toBe('a\nX\nY\nc\n');
    expect(result.llmContent).toContain('The person changed your proposal');
    expect(result.returnDisplay).toMatchObject({
      diffStat: { model_added_lines: 1, model_removed_lines: 1, user_added_lines: 1, user_removed_lines: 0 },
    });
  });

  test('a change too large to be seen is cut, says so, and offers no always', async () => {
    const { tool, call } = await setUp({ f: 'x\n'.repeat(5).concat('y\n'.repeat(20)).repeat(600) });
    const confirmation = await tool.shouldConfirmExecute(call('f', 'x\n', 'z\n', { replace_all: true }), signal);
    expect(confirmation).toMatchObject({ warnings: ['The change is too large to be shown in full'] });
    expect(confirmation.rules).toBeUndefined();
  });
});

test('parallel edits of one file are all made', async () => {
  const { edit, read } = await setUp({ f: Array.from({ length: 50 }, (_, index) => `<${index}>\n`).join('') });
  await Promise.all(Array.from({ length: 50 }, (_, index) => edit('f', `<${index}>`, `[${index}]`)));
  expect(read('f')).toBe(Array.from({ length: 50 }, (_, index) => `[${index}]\n`).join(''));
});

test('changes can be undone, newest first, and a file changed by somebody else is skipped and named', async () => {
  const { edit, changes, read, path } = await setUp({ f: 'a', g: 'a' });
  await edit('f', 'a', 'b');
  await edit('f', 'b', 'c');
  await edit('g', 'a', 'b');
  await edit('new', '', 'x');
  writeFileSync(path('g'), 'theirs');
  const outcomes = await changes.undo({ count: 3 }, signal);
  expect(outcomes.map(({ status, change }) => [status, change.path])).toEqual([
    ['removed', path('new')],
    ['skipped', path('g')],
    ['restored', path('f')],
  ]);
  expect([read('f'), read('g'), existsSync(path('new'))]).toEqual(['b', 'theirs', false]);
});
