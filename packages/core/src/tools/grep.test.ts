import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { textOf } from '../contract/content.js';
import { directCall } from '../contract/tool-call.js';
import type { Visibility } from '../files/access/visibility.js';
import { IgnoreRules } from '../files/ignore/ignore-rules.js';
import { Ripgrep, type RipgrepRun } from '../files/search/ripgrep.js';
import { Workspace } from '../files/workspace.js';
import { GrepTool } from './grep.js';

interface Setup extends Partial<Visibility> {
  ripgrep?: Ripgrep;
  searchMs?: number;
}

async function toolIn(
  root: string,
  { ripgrep = new Ripgrep(), searchMs = 30_000, ...visibility }: Setup = {},
): Promise<GrepTool> {
  const workspace = await Workspace.open(root);
  return new GrepTool(workspace, { rules: new IgnoreRules(workspace.roots), ...visibility }, ripgrep, { searchMs });
}

type Params = Parameters<GrepTool['execute']>[0];

async function grep(root: string, params: Params, setup: Setup = {}): Promise<string[]> {
  const result = await (await toolIn(root, setup)).execute(params, new AbortController().signal);
  return textOf(result.llmContent).replaceAll(`${root}/`, '').split('\n');
}

test('what the model sees of the tool stays the same', async () => {
  const { name, description, parameterSchema } = await toolIn(tempDirectory());
  expect({ name, description, parameterSchema }).toMatchSnapshot();
});

test('matches come under their files, with line numbers and a total', async () => {
  const root = tempDirectory({ 'b.txt': 'x\nneedle 1\n', 'a/c.txt': '  needle 2\nneedle 3', 'd.txt': 'hay\n' });
  const tool = await toolIn(root);
  expect(await tool.execute({ pattern: 'needle' }, new AbortController().signal)).toEqual({
    llmContent: `Found 3 matches for "needle" in ${root}:\n${root}/a/c.txt\n1:   needle 2\n2: needle 3\n${root}/b.txt\n2: needle 1`,
    returnDisplay: 'Found 3 matches',
  });
});

test('no match is not an error', async () => {
  const root = tempDirectory({ a: 'x' });
  expect(await grep(root, { pattern: 'needle', glob: '*.ts' })).toEqual([
    `No matches for "needle" in ${root} (files: *.ts).`,
  ]);
});

test('context lines are marked, gaps as well', async () => {
  const root = tempDirectory({ a: '1\n2\nhit\n4\n5\n6\n7\nhit\n9\n' });
  expect((await grep(root, { pattern: 'hit', context: 1 })).slice(1)).toEqual([
    'a',
    '2- 2',
    '3: hit',
    '4- 4',
    '--',
    '7- 7',
    '8: hit',
    '9- 9',
  ]);
});

test.each([
  ['hello', undefined, 3],
  ['Hello', undefined, 1],
  ['Hello', false, 3],
  ['hello', true, 1],
])('%s with case_sensitive %s', async (pattern, sensitive, count) => {
  const root = tempDirectory({ a: 'hello\nHello\nHELLO\n' });
  const params = sensitive === undefined ? { pattern } : { pattern, case_sensitive: sensitive };
  expect(await grep(root, params)).toHaveLength(count + 2);
});

test.each([
  ['*.ts', ['a.ts', 'src/b.ts']],
  ['*.{ts,js}', ['a.ts', 'src/b.ts', 'src/c.js']],
  ['src/*.ts', ['src/b.ts']],
  ['src/**', ['src/[id].md', 'src/b.ts', 'src/c.js']],
  ['[id].md', ['src/[id].md']],
  ['!*.ts', ['src/[id].md', 'src/c.js']],
  ['!src', ['a.ts']],
  ['!src/', ['a.ts']],
  ['!a.ts/', ['a.ts', 'src/[id].md', 'src/b.ts', 'src/c.js']],
])('the glob %s selects %j', async (glob, expected) => {
  const root = tempDirectory({ 'a.ts': 'hit', 'src/b.ts': 'hit', 'src/c.js': 'hit', 'src/[id].md': 'hit' });
  const lines = await grep(root, { pattern: 'hit', glob });
  expect(lines.slice(1).filter((line) => line !== '1: hit')).toEqual(expected);
});

test.each([
  ['/src/*.ts', ['src/b.ts']],
  ['/*.ts', ['a.ts']],
  ['ROOT/src/*.ts', ['src/b.ts']],
  ['ROOT/**/*.ts', ['a.ts', 'src/b.ts']],
  ['/**/src/*.ts', ['src/b.ts']],
  ['!ROOT/src/*.ts', ['a.ts']],
  ['!/elsewhere/*.ts', ['a.ts', 'src/b.ts']],
])('the absolute glob %s selects %j', async (glob, expected) => {
  const root = tempDirectory({ 'a.ts': 'hit', 'src/b.ts': 'hit' });
  const lines = await grep(root, { pattern: 'hit', glob: glob.replace('ROOT', root) });
  expect(lines.slice(1).filter((line) => line !== '1: hit')).toEqual(expected);
});

test('a glob that leads out of the directory is refused', async () => {
  const root = tempDirectory({ 'src/a.ts': 'hit', 'lib/b.ts': 'hit' });
  const tool = await toolIn(root);
  for (const glob of ['../*', 'src/../../*.ts'])
    expect(tool.validateToolParams({ pattern: 'hit', glob })).toContain('".." is not possible');
  for (const glob of ['/elsewhere/*.ts', `${root}/lib/*.ts`])
    await expect(grep(root, { pattern: 'hit', path: 'src', glob })).rejects.toMatchObject({
      type: 'invalid_tool_params',
      message: `The glob ${glob} leads out of ${root}/src: give the directory as path and a glob seen from there.`,
    });
  expect(await grep(root, { pattern: 'hit', path: 'src/a.ts', glob: `${root}/src/*.ts` })).toHaveLength(3);
});

test('a glob that leads into one directory of the workspace searches that one', async () => {
  const [root, other] = [tempDirectory({ a: 'hit' }), tempDirectory({ a: 'hit', b: 'hit' })];
  const workspace = await Workspace.open(root, [other]);
  const tool = new GrepTool(workspace, { rules: new IgnoreRules(workspace.roots) }, new Ripgrep());
  const result = await tool.execute({ pattern: 'hit', glob: `${other}/a` }, new AbortController().signal);
  expect(result.llmContent).toBe(`Found 1 match for "hit" in ${other} (files: ${other}/a):\n${other}/a\n1: hit`);
});

test('a glob that leaves out the file that path names is refused', async () => {
  const root = tempDirectory({ 'a.txt': 'hit' });
  await expect(grep(root, { pattern: 'hit', path: 'a.txt', glob: '*.md' })).rejects.toMatchObject({
    type: 'invalid_tool_params',
    message: expect.stringContaining('glob'),
  });
  for (const glob of ['*.txt', '**/a.*', '!*.md'])
    expect((await grep(root, { pattern: 'hit', path: 'a.txt', glob })).slice(1)).toEqual(['a.txt', '1: hit']);
});

test('a glob does not bring back what is ignored', async () => {
  const root = tempDirectory({
    '.git/HEAD': 'hit',
    '.gitignore': '*.log\nout/\n',
    'a.log': 'hit',
    'out/b.ts': 'hit',
    'c.ts': 'hit',
  });
  for (const glob of ['*.log', '**', '*'])
    expect(
      (await grep(root, { pattern: 'hit', glob })).filter((line) =>
        /log|out/.test(line.replace(/^(?:No|Found).*/, '')),
      ),
    ).toEqual([]);
  expect((await grep(root, { pattern: 'hit', path: 'out' })).slice(1)).toEqual(['out/b.ts', '1: hit']);
  expect((await grep(root, { pattern: 'hit', path: 'a.log' })).slice(1)).toEqual(['a.log', '1: hit']);
});

test('an agent ignore file hides also what is named', async () => {
  const root = tempDirectory({ '.latheignore': 'private/\nkey.txt\n', 'private/a': 'hit', 'key.txt': 'hit' });
  expect(await grep(root, { pattern: 'hit' })).toEqual([`No matches for "hit" in ${root}.`]);
  for (const path of ['private', 'key.txt'])
    expect(await grep(root, { pattern: 'hit', path })).toEqual([
      `No matches for "hit" in ${path}.`,
      `(hidden by .qwenignore or .latheignore: ${path})`,
    ]);
});

describe('the limit', () => {
  test('cuts the list and says how to continue, with the real total when it is known', async () => {
    const root = tempDirectory({ a: 'hit\n'.repeat(8) });
    const lines = await grep(root, { pattern: 'hit', limit: 3 });
    expect(lines).toHaveLength(6);
    expect(lines.at(-1)).toMatch(/^\((?:at least \d+|5) more; raise limit or narrow the search to see them\)$/);
  });

  test('stops a search that would go on', async () => {
    const root = tempDirectory({ big: 'hit hit hit\n'.repeat(2_000_000) });
    const lines = await grep(root, { pattern: 'hit', limit: 2 });
    expect(lines[0]).toMatch(/^Found at least \d+ matches/);
    expect(lines).toHaveLength(5);
  });

  test('holds over all directories of the workspace, the total too', async () => {
    const [first, second] = [tempDirectory({ a: 'hit\nhit\n' }), tempDirectory({ b: 'hit\nhit\n' })];
    const workspace = await Workspace.open(first, [second]);
    const tool = new GrepTool(workspace, { rules: new IgnoreRules(workspace.roots) }, new Ripgrep());
    const { llmContent } = await tool.execute({ pattern: 'hit', limit: 2 }, new AbortController().signal);
    const lines = textOf(llmContent).split('\n');
    expect(lines.slice(1, -1)).toEqual([join(first, 'a'), '1: hit', '2: hit']);
    expect(lines.at(-1)).toMatch(/^\((?:at least [12]|2) more; raise limit or narrow the search to see them\)$/);
  });

  test('applies to lines of context, which are counted when they are cut', async () => {
    const root = tempDirectory({ a: `${`${'x'.repeat(300)}\n`.repeat(50)}hit\n${`${'y'.repeat(300)}\n`.repeat(50)}` });
    const lines = await grep(root, { pattern: 'hit', context: 50 });
    const shown = lines.filter((line) => /^\d+[:-] /.test(line)).length;
    expect(shown).toBeGreaterThan(50);
    expect(lines.at(-1)).toBe(`(${101 - shown} more lines of context; lower context to see the end)`);
  });

  test.skipIf(process.platform !== 'linux')('keeps what is not shown from being read', async () => {
    const root = tempDirectory({ a: `${'x'.repeat(2000)}hit\n`.repeat(1000) });
    const open = () => readdirSync('/proc/self/fd').length;
    const before = open();
    let most = 0;
    const timer = setInterval(() => (most = Math.max(most, open())), 0);
    const lines = await grep(root, { pattern: 'hit', limit: 1000 });
    clearInterval(timer);
    expect(lines.at(-1)).toMatch(/^\(\d\d\d more; narrow the pattern/);
    expect(most).toBeGreaterThan(0);
    expect(most - before).toBeLessThan(30);
  });

  test('of time holds over all directories of the workspace', async () => {
    class Stuck extends Ripgrep {
      override run(_args: readonly string[], { signal }: RipgrepRun): Promise<never> {
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      }
    }
    const timeOf = async (extra: string[]) => {
      const workspace = await Workspace.open(tempDirectory({ a: 'hit' }), extra);
      const tool = new GrepTool(workspace, { rules: new IgnoreRules([]) }, new Stuck(), { searchMs: 300 });
      const start = performance.now();
      const { llmContent } = await tool.execute({ pattern: 'hit' }, new AbortController().signal);
      expect(llmContent).toContain('incomplete');
      return performance.now() - start;
    };
    const one = await timeOf([]);
    expect(await timeOf([1, 2, 3].map(() => tempDirectory({ a: 'hit' })))).toBeLessThan(2 * one);
  });

  test('of characters holds whatever the limit of lines', async () => {
    const root = tempDirectory({ a: `${'hit '.repeat(70)}\n`.repeat(500) });
    const lines = await grep(root, { pattern: 'hit', limit: 500 });
    expect(lines.join('\n').length).toBeLessThan(21_000);
    expect(lines.at(-1)).toBe(`(${500 - (lines.length - 3)} more; narrow the pattern, path or glob to see them)`);
  });
});

describe('odd content', () => {
  test('long lines are cut around the match', async () => {
    const root = tempDirectory({
      'far.txt': `${'é'.repeat(3000)}needle${'y'.repeat(3000)}\n`,
      'near.txt': `needle${'y'.repeat(3000)}\n`,
      'bom.txt': `\ufeff${'z'.repeat(3000)}needle${'y'.repeat(3000)}\nneedle\n`,
    });
    const shown = (await grep(root, { pattern: 'needle' })).slice(1);
    expect(shown).toEqual([
      'bom.txt',
      `1: …${'z'.repeat(100)}needle${'y'.repeat(214)}…`,
      '2: needle',
      'far.txt',
      `1: …${'é'.repeat(50)}needle${'y'.repeat(214)}…`,
      'near.txt',
      `1: needle${'y'.repeat(314)}…`,
    ]);
  });

  // RL06
  test('one hit in a line of many megabytes is found and shown', async () => {
    const root = tempDirectory({
      'one.json': `${'{"k":"v"},'.repeat(2_000_000)}needle${'{"k":"v"},'.repeat(100_000)}`,
    });
    for (const path of ['one.json', '.'])
      expect((await grep(root, { pattern: 'needle', path }))[2]).toMatch(/^1: ….{100}needle.{214}…$/);
  });

  // RL06
  test('UTF-16 is read, binary files are left out, CRLF does not show', async () => {
    const root = tempDirectory({
      'utf16.txt': Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('häy\nneedle é\n', 'utf16le')]),
      'binary.bin': 'needle\0needle\n',
      'crlf.txt': 'needle\r\n',
      'invalid.txt': Buffer.from('caf\xe9 needle\n', 'latin1'),
    });
    expect((await grep(root, { pattern: 'needle$|needle é|caf.*needle', case_sensitive: true })).slice(1)).toEqual([
      'crlf.txt',
      '1: needle',
      'invalid.txt',
      '1: caf\uFFFD needle',
      'utf16.txt',
      '2: needle é',
    ]);
    expect((await grep(root, { pattern: 'needle', path: 'crlf.txt' })).slice(1)).toEqual(['crlf.txt', '1: needle']);
    expect(await grep(root, { pattern: 'needle', path: 'binary.bin' })).toEqual([
      'Only binary files match "needle" in binary.bin.',
      '(binary files that match: binary.bin)',
    ]);
  });

  test.each([
    ['^foo$', ['a:1: foo', 'b:1: foo']],
    ['foo$', ['a:1: foo', 'a:2: bar foo', 'b:1: foo']],
    ['foo\\r$', ['a:1: foo', 'a:2: bar foo']],
    ['foo\\x0d?$', ['a:1: foo', 'a:2: bar foo', 'b:1: foo']],
    ['x.y', ['a:3: x\\x0dy']],
  ])('the end of a line may be CRLF: %s', async (pattern, expected) => {
    const root = tempDirectory({ a: 'foo\r\nbar foo\r\nx\ry\r\n', b: 'foo\n' });
    const lines = (await grep(root, { pattern })).slice(1);
    let file = '';
    const found = lines.flatMap((line) => (/^[ab]$/.test(line) ? ((file = line), []) : [`${file}:${line}`]));
    expect(found.map((line) => line.replace('\r', '\\x0d'))).toEqual(expected);
  });

  test.skipIf(process.platform !== 'linux')(
    'names of any bytes are searched and shown so that they can be given back',
    async () => {
      const root = tempDirectory({
        'a:1:b': 'hit',
        'new\nline': 'hit',
        '-e': 'hit',
        '--pre=x': 'hit',
        'hidden.log': 'hit',
        '.gitignore': '*.log',
        '.git/HEAD': '',
      });
      const bytes = (...parts: (string | number)[]) =>
        Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from([part]))));
      writeFileSync(bytes(`${root}/bad`, 0xff), 'hit');
      mkdirSync(bytes(`${root}/dir`, 0xfe));
      writeFileSync(bytes(`${root}/dir`, 0xfe, '/file'), 'hit');
      expect((await grep(root, { pattern: 'hit' })).slice(1).filter((line) => line !== '1: hit')).toEqual([
        '--pre=x',
        '-e',
        'a:1:b',
        'bad\\xFF',
        'dir\\xFE/file',
        'new\\x0Aline',
      ]);
      expect((await grep(root, { pattern: 'hit', path: 'bad\\xFF' })).slice(1)).toEqual(['bad\\xFF', '1: hit']);
      expect((await grep(root, { pattern: 'hit', path: 'dir\\xFE' })).slice(1)).toEqual(['dir\\xFE/file', '1: hit']);
    },
  );

  test('links are not followed and pipes not opened', async () => {
    const root = tempDirectory({ 'a/file': 'hit' });
    symlinkSync('..', join(root, 'a/up'));
    symlinkSync('a/file', join(root, 'link'));
    if (process.platform !== 'win32') execFileSync('mkfifo', [join(root, 'pipe'), join(root, 'a/pipe')]);
    expect((await grep(root, { pattern: 'hit' })).slice(1)).toEqual(['a/file', '1: hit']);
  });

  // RL09
  test('a pattern that matches nothing wide matches every line, within the limit', async () => {
    const root = tempDirectory({ a: 'x\n'.repeat(500) });
    for (const pattern of ['^', 'x*', '.', '$']) expect(await grep(root, { pattern, limit: 5 })).toHaveLength(8);
  });
});

describe('a match at the end of a file without a last newline', () => {
  test.each(['$', String.raw`\s*$`, ';?$', String.raw`\z`, ' *$'])('is one like any other: %s', async (pattern) => {
    const root = tempDirectory({ a: 'one', b: 'two;\nx', c: '4', d: 'five\n', e: '6\x017' });
    const [header, ...lines] = await grep(root, { pattern });
    expect(header).toBe(`Found 6 matches for "${pattern}" in ${root}:`);
    expect(lines).toEqual(['a', '1: one', 'b', '1: two;', '2: x', 'c', '1: 4', 'd', '1: five', 'e', '1: 6\x017']);
  });

  test('shows nothing of a file that is hidden', async () => {
    const root = tempDirectory({ a: 'one', 'b.txt': 'hidden', '.latheignore': 'b.txt\n' });
    expect((await grep(root, { pattern: '$', path: root })).join('\n')).not.toContain('hidden');
  });

  test('has context like any other', async () => {
    const root = tempDirectory({ a: '1\n2', b: '3' });
    const lines = await grep(root, { pattern: String.raw`2|$`, context: 1, glob: '[ab]' });
    expect(lines.slice(1)).toEqual(['a', '1: 1', '2: 2', 'b', '1: 3']);
  });
});

// RL05, RL07
describe('errors', () => {
  test.each([
    ['(', /not a valid regular expression.*unclosed group/s],
    ['a**?+[', /not a valid regular expression/],
    ['(?<=a)b', /look-around.*not supported/s],
    ['(a)\\1', /backreferences are not supported/],
    ['a\\nb', /cannot go beyond the end of a line/],
    ['foo\\x00bar', /not a valid regular expression.*impossible to match/s],
  ])(
    'the pattern %s is refused by the engine that runs it, also when there is nothing to search',
    async (pattern, message) => {
      for (const root of [tempDirectory({ a: 'ab' }), tempDirectory()])
        await expect(grep(root, { pattern })).rejects.toMatchObject({
          type: 'invalid_tool_params',
          message: expect.stringMatching(message),
        });
    },
  );

  test('what only ripgrep understands is allowed', async () => {
    const root = tempDirectory({ a: 'HIT\n' });
    expect(await grep(root, { pattern: '(?i)hit\\z' })).toHaveLength(3);
  });

  test.each([
    [{ pattern: '' }, 'pattern is empty'],
    [{ pattern: 'a', glob: '{a,b}'.repeat(30) }, 'more than 1000'],
    [{ pattern: 'a', glob: 'src/' }, 'src/ is a directory; src/** is what is in it'],
    [{ pattern: 'a', glob: '/' }, '/** is what is in it'],
    [{ pattern: 'a', glob: '{/a,/b}' }, 'braces may not begin with a slash'],
    [{ pattern: 'a', glob: '*.ts, *.js' }, 'written {*.ts,*.js}'],
    [{ pattern: 'a', limit: 0 }, 'limit'],
    [{ pattern: 'a', limit: 1001 }, 'limit'],
    [{ pattern: 'a', context: 51 }, 'context'],
    [{ pattern: 'a', path: 'a\0b' }, 'NUL'],
  ])('%j is refused before anything runs', async (params, reason) => {
    expect((await toolIn(tempDirectory())).validateToolParams(params)).toContain(reason);
  });

  test.skipIf(process.platform !== 'linux')(
    'more arguments than the system takes are named as what they are',
    async () => {
      class Crowded extends Ripgrep {
        override run(args: readonly string[], run: RipgrepRun) {
          return super.run([...args, 'x'.repeat(200_000)], run);
        }
      }
      await expect(grep(tempDirectory({ a: '' }), { pattern: 'a' }, { ripgrep: new Crowded() })).rejects.toMatchObject({
        type: 'grep_execution_error',
        message: expect.stringMatching(/E2BIG.*too few arguments/),
      });
    },
  );

  test('a missing path is a typed error, and so is a device', async () => {
    const root = tempDirectory();
    await expect(grep(root, { pattern: 'a', path: 'none' })).rejects.toMatchObject({ type: 'search_path_not_found' });
    if (process.platform === 'win32') return;
    execFileSync('mkfifo', [join(root, 'pipe')]);
    await expect(grep(root, { pattern: 'a', path: 'pipe' })).rejects.toMatchObject({
      type: 'search_path_not_a_directory',
    });
  });

  test.each([
    ['missing', '/nowhere/rg', 'could not be run'],
    ['crashing', '#!/bin/sh\nkill -9 $$\n', 'killed by a signal'],
    ['failing', '#!/bin/sh\necho "rg: out of luck" >&2; exit 2\n', 'out of luck'],
    ['silently failing', '#!/bin/sh\nexit 2\n', 'did not say why'],
    ['wrong', '#!/bin/sh\necho "unknown flag" >&2; exit 64\n', 'unknown flag'],
    ['empty', '#!\n', 'did not say why'],
    ['another program that ends well', '/bin/true', 'did not say why'],
    ['another program that talks', '/bin/echo', 'did not say why'],
    [
      'another program that prints fields',
      String.raw`#!/bin/sh
printf 'a\0b\nc\0d\n'`,
      'cannot be parsed',
    ],
    [
      'cut off',
      String.raw`#!/bin/sh
printf '/a\0001\0001\0000\000x\n/a\0002'`,
      'cannot be parsed',
    ],
    ['another program that fails', '/bin/false', 'is not ripgrep'],
  ])('a ripgrep that is %s is an error, never "no matches"', async (_, program, message) => {
    const root = tempDirectory({ a: 'hit' });
    const path = program.startsWith('#!') ? join(tempDirectory({ rg: program }), 'rg') : program;
    if (path !== program) chmodSync(path, 0o755);
    const ripgrep = new Ripgrep(() => Promise.resolve(path));
    await expect(grep(root, { pattern: 'hit' }, { ripgrep })).rejects.toMatchObject({
      type: 'grep_execution_error',
      message: expect.stringContaining(message),
    });
  });
});

describe('safety', () => {
  // SJ04 SB19
  test.each(['--pre=touch', '-f/etc/passwd', '-', '--', '-e', '--files', '--help', '-uuu'])(
    'the pattern %s is text',
    async (pattern) => {
      const root = tempDirectory({ a: `x ${pattern} y\n` });
      expect((await grep(root, { pattern })).slice(1)).toEqual(['a', `1: x ${pattern} y`]);
    },
  );

  test('no program, configuration or ignore file of the workspace has an effect', async () => {
    const root = tempDirectory({
      rg: '#!/bin/sh\ntouch pwned\n',
      '.ripgreprc': '--files',
      '.ignore': '*',
      '.rgignore': '*',
      a: 'hit',
    });
    chmodSync(join(root, 'rg'), 0o755);
    const before = { PATH: process.env['PATH'], RIPGREP_CONFIG_PATH: process.env['RIPGREP_CONFIG_PATH'] };
    onTestFinished(() => {
      for (const [name, value] of Object.entries(before))
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
    });
    process.env['PATH'] = `${root}:.:${before.PATH ?? ''}`;
    process.env['RIPGREP_CONFIG_PATH'] = join(root, '.ripgreprc');
    expect((await grep(root, { pattern: 'hit' })).slice(1)).toEqual(['a', '1: hit']);
    expect(readdirSync(root)).not.toContain('pwned');
  });

  test.skipIf(process.platform === 'win32')(
    'a directory that becomes a link shows nothing of where it leads',
    async () => {
      const outside = tempDirectory({ 'a.txt': 'hit outside\n' });
      const root = tempDirectory({ 'sub/a.txt': 'hit\n', 'b.txt': 'hit\n' });
      renameSync(join(root, 'sub'), join(root, 'was'));
      symlinkSync(outside, join(root, 'sub'));
      const line = (name: string) => `${root}/${name}\\0001\\0001\\0000\\000hit\\n`;
      const script = `#!/bin/sh\nprintf '${line('sub/a.txt')}${line('b.txt')}'\n`;
      const program = join(tempDirectory({ rg: script }), 'rg');
      chmodSync(program, 0o755);
      const ripgrep = new Ripgrep(() => Promise.resolve(program));
      expect((await grep(root, { pattern: 'hit', glob: '[ab].txt' }, { ripgrep })).slice(1)).toEqual([
        'b.txt',
        '1: hit',
        '(moved during the search and not shown: sub/a.txt)',
      ]);
    },
  );

  test('a directory that became a link since the call was judged is refused', async () => {
    const step = directCall();
    const root = tempDirectory({ 'd/a': 'hit' });
    const tool = await toolIn(root);
    const params = { pattern: 'hit', path: 'd' };
    expect(await tool.getTargets(params, step)).toMatchObject([{ asks: false }]);
    renameSync(join(root, 'd'), join(root, 'was'));
    symlinkSync(tempDirectory({ a: 'hit outside' }), join(root, 'd'));
    await expect(tool.execute(params, new AbortController().signal, step)).rejects.toThrow('replaced by a symlink');
  });

  test('what may not be read is absent from matches and counts', async () => {
    const root = tempDirectory({ 'secret.txt': 'hit', 'dir/x': 'hit', 'open.txt': 'hit' });
    const canRead = (path: string) => path !== join(root, 'secret.txt') && path !== join(root, 'dir');
    expect(await grep(root, { pattern: 'hit' }, { canRead })).toEqual([
      `Found 1 match for "hit" in ${root}:`,
      'open.txt',
      '1: hit',
    ]);
    expect(await grep(root, { pattern: 'hit', path: 'secret.txt' }, { canRead })).toEqual([
      'No matches for "hit" in secret.txt.',
    ]);
  });

  test('files of keys and credentials are not searched', async () => {
    const root = tempDirectory({
      '.ssh/id_rsa': 'hit',
      '.aws/credentials': 'hit',
      '.netrc': 'hit',
      'a/.git-credentials': 'hit',
      'a/.netrc~': 'hit',
      a1: 'hit',
    });
    // Only those right in the directory are looked for, to be named.
    const left = '(not searched, because they hold secrets: .ssh/id_rsa and 2 more)';
    expect((await grep(root, { pattern: 'hit' })).slice(1)).toEqual(['a1', '1: hit', left]);
    // Whether they match does not show.
    expect((await grep(root, { pattern: 'none' })).slice(1)).toEqual([left]);
    expect((await grep(root, { pattern: 'hit', glob: '*rc' })).slice(1)).toEqual([
      '(not searched, because they hold secrets: .netrc)',
    ]);
  });

  test('a path outside needs approval, whatever its spelling', async () => {
    const outside = tempDirectory({ a: 'hit' });
    const root = tempDirectory({ x: '' });
    symlinkSync(outside, join(root, 'out'));
    symlinkSync(join(outside, 'a'), join(root, 'file'));
    for (const path of [outside, 'out', 'out/', 'file', `${root}-evil`, '..', 'x/../..', `/proc/self/root${outside}`])
      await expect(grep(root, { pattern: 'hit', path })).rejects.toMatchObject({ type: 'path_not_in_workspace' });
  });

  const atoms = ['a', '[a-z]', '\\w', '.', '(?:a|a)', '(?:a|aa)'];
  const forms = [
    '(X+)+$',
    '(X*)*b',
    '(X+)*=',
    '(X|X+)+!!',
    '(X+X+)+y',
    '(.*X){25}',
    '(X{1,50}){1,50}z',
    '(X?){60}X{60}z',
    '^(X+)+$',
    '((X+)*)+q',
  ];
  const catastrophic = atoms.flatMap((atom) => forms.map((form) => form.replaceAll('X', atom)));
  const tried = catastrophic.filter((_, index) => process.env['LATHE_LONG'] === '1' || index % 7 === 0);

  // SJ01
  test.each(tried)(
    'the catastrophic pattern %s ends, found or not, and the event loop runs meanwhile',
    async (pattern) => {
      const root = tempDirectory({ a: `${'a'.repeat(5000)}!\n`.repeat(20) });
      let ticks = 0;
      const timer = setInterval(() => ticks++, 1);
      await expect(grep(root, { pattern }, { searchMs: 1000 }).catch((error: unknown) => error)).resolves.toBeDefined();
      clearInterval(timer);
      expect(ticks).toBeGreaterThan(0);
    },
  );

  // RL08
  test.skipIf(process.platform === 'win32')(
    'hostile ignore files neither end the search nor hide what they do not name',
    async () => {
      const root = tempDirectory({ '.git/HEAD': '', 'b/.gitignore/y': 'hit', 'd/z': 'hit' });
      writeFileSync(join(root, 'd/.gitignore'), '[a-\n{\n**a\n\xff\n'.repeat(10_000));
      const lines = await grep(root, { pattern: 'hit' });
      expect(lines.slice(1)).toEqual(['b/.gitignore/y', '1: hit', 'd/z', '1: hit']);
    },
  );

  // RL08
  test.skipIf(process.platform !== 'linux')(
    'an ignore file of a gigabyte ends a search before memory does',
    async () => {
      const root = tempDirectory({ '.git/HEAD': '', 'a/x': 'hit', b: 'hit' });
      writeFileSync(join(root, 'a/.gitignore'), '');
      truncateSync(join(root, 'a/.gitignore'), 2 ** 30);
      const lines = await grep(root, { pattern: 'hit' }, { ripgrep: new Ripgrep(undefined, { maxMemory: 50 << 20 }) });
      expect(lines.slice(1)).toEqual(['b', '1: hit', expect.stringContaining('is incomplete')]);
    },
  );

  // RL08
  test.skipIf(process.platform === 'win32')(
    'a pipe in place of an ignore file holds a search up until its time is over, and what was found is shown',
    async () => {
      const root = tempDirectory({ '.git/HEAD': '', 'a/x': 'hit', b: 'hit' });
      execFileSync('mkfifo', [join(root, 'a/.gitignore')]);
      const lines = await grep(root, { pattern: 'hit' }, { searchMs: 1000 });
      expect(lines).toEqual([
        `Found at least 1 match for "hit" in ${root}:`,
        'b',
        '1: hit',
        '(The search took too long and is incomplete: do not read this as "no more matches".)',
      ]);
    },
  );
});

/** The processes this one has started and that still run. */
function children(): string[] {
  return readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean);
}

describe.skipIf(process.platform !== 'linux')('ending early', () => {
  const slow = async (root: string, hit = `printf '${root}/a\\0001\\0001\\0000\\000hit\\n'`) => {
    const program = join(tempDirectory({ rg: `#!/bin/sh\n${hit}\nexec sleep 100\n` }), 'rg');
    chmodSync(program, 0o755);
    return new Ripgrep(() => Promise.resolve(program));
  };

  // RL10
  test('a timeout returns what was found, says that it is incomplete, and leaves no process', async () => {
    const root = tempDirectory({ a: 'hit' });
    const ripgrep = await slow(root);
    let lines = ['Nothing'];
    // A busy machine needs longer until the program has printed the match.
    for (let searchMs = 300; lines[0]?.startsWith('Nothing'); searchMs *= 3)
      lines = await grep(root, { pattern: 'hit' }, { ripgrep, searchMs });
    expect(lines).toEqual([
      `Found at least 1 match for "hit" in ${root}:`,
      'a',
      '1: hit',
      '(The search took too long and is incomplete: do not read this as "no more matches".)',
    ]);
    expect(children()).toEqual([]);
  });

  test('a timeout before anything was found does not say that there is nothing', async () => {
    const root = tempDirectory({ a: 'hit' });
    const lines = await grep(root, { pattern: 'hit', path: '.' }, { ripgrep: await slow(root, ''), searchMs: 100 });
    expect(lines).toEqual([
      `Nothing found so far for "hit" in ${root}.`,
      '(The search took too long and is incomplete: do not read this as "no more matches".)',
    ]);
  });

  test('an abort ends the process before the call ends', async () => {
    const root = tempDirectory({ a: 'hit' });
    const tool = await toolIn(root, { ripgrep: await slow(root) });
    const abort = new AbortController();
    const call = tool.execute({ pattern: 'hit' }, abort.signal);
    while (children().length === 0) await new Promise((resolve) => setImmediate(resolve));
    abort.abort('enough');
    await expect(call).rejects.toBe('enough');
    expect(children()).toEqual([]);
  });
});
