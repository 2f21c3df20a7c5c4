import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join, relative } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import type { CallOutcome } from '../contract/call.js';
import { textOf } from '../contract/content.js';
import { createLathe } from './create-lathe.js';
import type { LatheOptions } from './lathe.js';

/** What every tool that takes a path is called with, to reach what lies there. */
const calls: Record<string, (path: string) => Record<string, unknown>> = {
  list_directory: (path) => ({ path }),
  read_file: (path) => ({ absolute_path: path }),
  read_many_files: (path) => ({ paths: [path] }),
  glob: (path) => ({ pattern: '**/*', path }),
  grep_search: (path) => ({ pattern: 'CANARY', path }),
  write_file: (path) => ({ file_path: path, content: 'planted' }),
  edit: (path) => ({ file_path: path, old_string: 'CANARY = guessed', new_string: 'planted' }),
};
const tools = Object.keys(calls);

/** A project, `app`, beside which something lies that only its owner may see. */
async function setUp(options: Partial<LatheOptions> & { permissions?: object } = {}) {
  const { permissions = {}, ...rest } = options;
  const base = tempDirectory({
    'app/src/a.txt': 'CANARY = inside\n',
    'app/denied/key.txt': 'CANARY = denied-content\n',
    'outside/secret.txt': 'CANARY = outside-content\n',
    'outside/dir/deep.txt': 'CANARY = outside-content\n',
    'home/.lathe/settings.json': JSON.stringify({ permissions }),
  });
  const app = join(base, 'app');
  const lathe = await createLathe({ cwd: app, home: join(base, 'home'), env: {}, ...rest });
  onTestFinished(() => lathe.close());
  const run = async (tool: string, path: string) => {
    const [outcome] = await lathe.run([{ name: tool, args: calls[tool]?.(path) ?? {} }], new AbortController().signal);
    if (outcome === undefined) throw new Error('no outcome');
    return outcome;
  };
  return { base, app, lathe, run, outside: () => tree(join(base, 'outside')) };
}

/** Every file below, with its content. */
function tree(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => `${relative(directory, path)}: ${readFileSync(path, 'utf8')}`)
    .sort();
}

/** Everything that a model or a person can read. */
const toldBy = (outcome: CallOutcome) =>
  textOf(outcome.llmContent) + JSON.stringify(outcome.returnDisplay) + (outcome.error?.message ?? '');

/** A shape: links to make below `app` (target as seen from there), and the path by which a tool is sent outside. */
const shapes: [title: string, links: Record<string, string>, path: string][] = [
  ['a file', { l: '../outside/secret.txt' }, 'l'],
  ['a file by its absolute path', { l: '{base}/outside/secret.txt' }, 'l'],
  ['a directory', { l: '../outside' }, 'l/secret.txt'],
  ['a directory itself', { l: '../outside/dir' }, 'l'],
  ['a chain', { l: 'm', m: 'src/n', 'src/n': '../../outside/secret.txt' }, 'l'],
  ['a chain of directories', { l: 'm', m: '{base}/outside' }, 'l/dir/deep.txt'],
  ['nothing, outside', { l: '../outside/new.txt' }, 'l'],
  ['a missing leaf under a linked parent', { l: '../outside' }, 'l/none/new.txt'],
  ['a path through a dangling link', { l: '../outside/none' }, 'l/new.txt'],
  ['the parent of the project', { l: '..' }, 'l/outside/secret.txt'],
  ['the root', { l: '/' }, 'l/{base}/outside/secret.txt'],
  ['a directory, and dots behind it', { 'src/l': '../../outside/dir' }, 'src/l/../l/deep.txt'],
  ['a relative link in a linked directory', { l: '../outside/dir', 'l/m': '../secret.txt' }, 'l/m'],
  ['a link through /proc', { l: '/proc/self/root{base}/outside' }, 'l/secret.txt'],
];

// SC03
test.skipIf(process.platform !== 'linux').each(shapes)(
  'a link to %s leads no tool outside unasked',
  async (_, links, path) => {
    const { base, app, run, outside } = await setUp();
    for (const [name, target] of Object.entries(links)) symlinkSync(target.replace('{base}', base), join(app, name));
    const before = outside();
    for (const tool of tools) {
      const outcome = await run(tool, `${app}/${path.replace('{base}', base)}`);
      expect([tool, outcome.status]).toEqual([tool, 'error']);
      expect(toldBy(outcome)).not.toContain('outside-content');
      // The same tools on the project as a whole do not follow the link either.
      expect(toldBy(await run(tool, app))).not.toContain('outside-content');
    }
    expect(outside()).toEqual(before);
  },
);

// SC04
test('why an edit fails tells nothing about a file that may not be read unasked', async () => {
  const { base, app, run } = await setUp({ permissions: { deny: ['read_file(/denied/**)'] }, flags: yolo });
  const netrc = join(app, '.netrc');
  writeFileSync(netrc, 'CANARY = secret-content\n');
  const outside = await (await setUp()).run('edit', join(base, 'outside/secret.txt'));
  const [denied, secret] = [await run('edit', join(app, 'denied/key.txt')), await run('edit', netrc)];
  expect([outside, denied, secret].map(({ error }) => error?.type)).toEqual([
    'edit_requires_prior_read',
    'execution_denied',
    'edit_requires_prior_read',
  ]);
  expect([outside, denied, secret].map(toldBy).join()).not.toMatch(/-content/);
});

/** Other ways to write a path to the same file. */
const aliases: [string, (path: string, app: string) => string][] = [
  ['its plain name', (path) => path],
  ['a link', (path, app) => linkTo(path, join(app, 'src/innocent'))],
  ['a link to its directory', (path, app) => join(linkTo(dirname(path), join(app, 'src/innocent')), 'key.txt')],
  ['the root of this process', (path) => `/proc/self/root${path}`],
  ['the root of its thread', (path) => `/proc/thread-self/root${path}`],
  ['the working directory of this process', (path) => `/proc/self/cwd${'/..'.repeat(30)}${path}`],
  ['an open descriptor', (path) => `/dev/fd/${open(path)}`],
  ['an open descriptor of its directory', (path) => `/proc/self/fd/${open(dirname(path))}/key.txt`],
  ['a trailing slash', (path) => `${path}/`],
  ['doubled slashes and dots', (path) => path.replaceAll('/denied/', '//src/..//denied/./')],
  ['another case', (path) => path.replace('/denied/', '/Denied/')],
  ['another case of the name', (path) => path.replace('key.txt', 'KEY.TXT')],
  ['the escapes of odd names', (path) => path.replace('key', String.raw`\x6Bey`)],
  ['a bind mount of the file', (path, app) => mountAt(path, join(app, 'src/mounted.txt'))],
  ['a bind mount of its directory', (path, app) => join(mountAt(dirname(path), join(app, 'src/mounted')), 'key.txt')],
];
const yolo = { 'tools.approvalMode': 'yolo' };

function linkTo(path: string, link: string): string {
  symlinkSync(path, link);
  return link;
}

function open(path: string): number {
  const descriptor = openSync(path, 'r');
  onTestFinished(() => closeSync(descriptor));
  return descriptor;
}

function mountAt(path: string, point: string): string {
  if (statSync(path).isDirectory()) mkdirSync(point);
  else writeFileSync(point, '');
  execFileSync('mount', ['--bind', path, point]);
  onTestFinished(() => void execFileSync('umount', [point]));
  return point;
}

const canMount = spawnSync('unshare', ['-m', 'mount', '--bind', '/tmp', '/mnt'], { stdio: 'ignore' }).status === 0;

// SC04, SC10
test.skipIf(process.platform !== 'linux').each(aliases.filter(([title]) => canMount || !title.includes('mount')))(
  'a file that a rule denies is denied as %s, for every tool and in yolo mode',
  async (_, alias) => {
    const deny = ['read_file(/denied/**)', 'edit(/denied/**)'];
    const { app, run } = await setUp({ permissions: { deny }, flags: yolo });
    const file = join(app, 'denied/key.txt');
    const path = alias(file, app);
    const names = /denied-content|denied\/key|mounted\/key|key\.txt \(/;
    for (const tool of tools) {
      const direct = await run(tool, path);
      expect([tool, direct.status, direct.error?.message]).toEqual([tool, 'error', expect.not.stringMatching(names)]);
    }
    for (const tool of tools.filter((name) => name !== 'write_file' && name !== 'edit')) {
      expect(toldBy(await run(tool, dirname(path)))).not.toMatch(names);
      expect(toldBy(await run(tool, app))).not.toMatch(names);
    }
    expect(readFileSync(file, 'utf8')).toBe('CANARY = denied-content\n');
    expect(readdirSync(join(app, 'denied'))).toEqual(['key.txt']);
  },
);

// SC10
test('what a rule denies is missing from lists, matches and counts', async () => {
  const { app, run } = await setUp({ permissions: { deny: ['read_file(*.txt)'] } });
  writeFileSync(join(app, 'src/b.md'), 'CANARY = shown\n');
  const told = await Promise.all(
    ['list_directory', 'glob', 'grep_search', 'read_many_files'].map(async (tool) =>
      toldBy(await run(tool, join(app, 'src'))).replaceAll(app, ''),
    ),
  );
  expect(told.map((text) => /a\.txt|inside|\b2\b/.exec(text)?.[0])).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  expect(told.every((text) => text.includes('b.md'))).toBe(true);
});

// SC10
test('our own state is not shown because a search or a glob meets it', async () => {
  const home = tempDirectory({
    'a.txt': 'CANARY = plain\n',
    '.lathe/settings.json': '{ "general": { "vimMode": false } }',
    '.lathe/sessions/s1.jsonl': 'CANARY = state\n',
    '.lathe/tmp/x.txt': 'CANARY = state\n',
  });
  const lathe = await createLathe({ cwd: home, home, env: {} });
  onTestFinished(() => lathe.close());
  const told = async (name: string, args: Record<string, unknown>) => {
    const [outcome] = await lathe.run([{ name, args }], new AbortController().signal);
    return outcome === undefined ? '' : toldBy(outcome);
  };
  for (const args of [{ paths: ['**/*.jsonl', '**/*.txt', '.'] }, { paths: [home], useDefaultExcludes: false }])
    expect(await told('read_many_files', args)).toMatch(/^(?!.*= state).*= plain/s);
  for (const args of [{}, { glob: '*.{jsonl,txt}' }, { path: home }]) {
    const text = await told('grep_search', { pattern: 'CANARY', ...args });
    expect(text).toMatch(/^(?!.*= state).*= plain/s);
    expect(text).toContain('not searched, because they hold secrets');
  }
  expect(await told('grep_search', { pattern: 'CANARY', path: '.lathe' })).toContain('holds the state');
});

/** Makes one of each kind that can be made here, and names those that are always there. */
async function specialFiles(directory: string): Promise<string[]> {
  const server = createServer().listen(join(directory, 'socket'));
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  execFileSync('mkfifo', [join(directory, 'pipe')]);
  const devices = [
    ['character', 'c', '1', '5'],
    ['block', 'b', '7', '200'],
  ];
  for (const [name = '', ...kind] of devices) spawnSync('mknod', [join(directory, name), ...kind]);
  const made = ['socket', 'pipe', 'character', 'block'].map((name) => join(directory, name));
  const kernel = ['/dev/zero', '/dev/tty', '/proc/kcore', '/proc/self/mem', '/proc/kmsg', '/dev/stdin'];
  return [...made, ...kernel].filter((path) => existsSync(path));
}

// SC13
test.skipIf(process.platform !== 'linux')(
  'pipes, sockets, devices and windows into the kernel are refused by every tool, and hold nobody up',
  { timeout: 30_000 },
  async () => {
    const { app, run } = await setUp({ approver: { decide: async () => ({ outcome: 'once' }) } });
    const paths = await specialFiles(join(app, 'src'));
    expect(paths.length).toBeGreaterThanOrEqual(6);
    for (const path of paths)
      for (const tool of tools) {
        const outcome = await run(tool, path);
        // Several files are read as far as they can be: the others are named.
        const isRefused = tool === 'read_many_files' ? toldBy(outcome).includes('No file was read') : outcome.error;
        expect([tool, path, isRefused]).toEqual([tool, path, expect.anything()]);
        expect(outcome.error?.type).not.toBe('unhandled_exception');
      }
    const around = await Promise.all(['glob', 'grep_search', 'read_many_files'].map((tool) => run(tool, app)));
    expect(around.map(({ status }) => status)).toEqual(['success', 'success', 'success']);
  },
);

const wrong = [
  7,
  -1,
  1e308,
  null,
  true,
  [],
  {},
  [[]],
  { path: 'x' },
  ['a', 7],
  '',
  '\0',
  '\ud800',
  'x'.repeat(1 << 20),
];
const nested = JSON.parse(`${'['.repeat(2_000)}${']'.repeat(2_000)}`) as unknown;

// SC17
test.each(tools)('whatever %s gets for a path, it answers and lives', async (tool) => {
  const { app, run, lathe } = await setUp();
  const before = tree(app);
  const fields = Object.keys(calls[tool]?.('') ?? {});
  for (const field of fields)
    for (const value of [...wrong, nested, { toString: 1 }, { __proto__: { length: 1 } }]) {
      const args = { ...calls[tool]?.(join(app, 'src/a.txt')), [field]: value };
      const [outcome] = await lathe.run([{ name: tool, args }], new AbortController().signal);
      expect([field, outcome?.error?.type ?? 'ran']).not.toContain('unhandled_exception');
    }
  expect(tree(app)).toEqual(before);
  expect((await run('read_file', join(app, 'src/a.txt'))).status).toBe('success');
});
