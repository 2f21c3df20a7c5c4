import { chmodSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fakeLanguage, fakeLanguageServer, languageWorld } from '../../../../testing/language-world.js';

const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const old = 'one\nBAD(old)\nthree\n';
const of = (fault: string, more: Parameters<typeof languageWorld>[1] = {}) =>
  languageWorld({ 'a.demo': old }, { settings: fakeLanguage(fault), ...more });

test.each(['none', 'pushes-versions', 'pushes-late', 'pushes-without-versions'])(
  'only new problems are named, each once (%s)',
  async (fault) => {
    const { edit } = of(fault);
    expect(await edit('a.demo', 'one', 'zero\none BAD(first)')).toBe('New problems:\na.demo:2:5 error bad: first');
    expect(await edit('a.demo', 'three', 'BAD(second)')).toBe('New problems:\na.demo:4:1 error bad: second');
    expect(await edit('a.demo', 'BAD(first)', '')).toBe('');
    expect(await edit('a.demo', 'zero\n', 'BAD(first)\n')).toBe('New problems:\na.demo:1:1 error bad: first');
  },
);

test('a new file is checked as a whole, and only 20 problems are named', async () => {
  const { write } = of('none');
  const text = Array.from({ length: 25 }, (_, index) => `BAD(p${index})\n`).join('');
  const lines = (await write('b.demo', text)).split('\n');
  expect([lines.length, lines[0], lines.at(-1)]).toEqual([22, 'New problems:', '(5 more)']);
});

test.each(['none', 'pushes-once'])('what others change between two edits is not new (%s)', async (fault) => {
  const { edit, put } = of(fault);
  await edit('a.demo', 'one', 'uno');
  put('a.demo', 'uno\nBAD(theirs)\n');
  expect(await edit('a.demo', 'uno', 'BAD(ours)')).toBe('New problems:\na.demo:1:1 error bad: ours');
  // Seen by the server before the next edit, or with a later one.
  for (let n = 0; n < 5; n++) {
    put('b.demo', `other ${n}`);
    expect(await edit('a.demo', 'BAD(theirs)', 'BAD(theirs) ')).toBe('');
  }
});

test('what a late server finds comes with the next result, unless it is gone by then', {
  timeout: 60_000,
}, async () => {
  const { edit } = of('starts-late', { waitMs: 500 });
  expect(await edit('a.demo', 'one', 'BAD(first)\nBAD(fixed)')).toMatch(
    /^Not checked yet: the demo server is still at/,
  );
  expect(await edit('a.demo', 'BAD(fixed)', 'fixed')).toMatch(/^Not checked yet/);
  const texts: string[] = [];
  await expect
    .poll(async () => texts.push(await edit('a.demo', 'three', 'three ')) && texts.join('\n'), { timeout: 30_000 })
    .toContain('New problems:\na.demo:1:1 error bad: first');
  expect(texts.join('\n')).not.toContain('fixed');
});

const faults = [
  'hangs-at-start',
  'hangs',
  'crashes',
  'lies-about-versions',
  'old-versions',
  'floods',
  'floods-requests',
];

const deaths = [
  'dies-at-start',
  'refuses-to-start',
  'prints-megabytes',
  'writes-rubbish',
  'huge-message',
  'no-json',
  'deep-message',
];
const lies = ['wrong-types', 'ignores-term', 'asks', 'answers-hugely', 'pushes-hugely'];

test.each([...faults, ...deaths, ...lies])(
  'a server that misbehaves costs an edit its time limit and nothing else (%s)',
  { timeout: 60_000 },
  async (fault) => {
    const { edit, read, servers, pids } = of(fault, { waitMs: 100 });
    const texts: string[] = [];
    const begin = performance.now();
    for (let n = 0; n < 6; n++) texts.push(await edit('a.demo', 'one', 'one more'));
    // Three times the limit, because a server that was late three times is not waited for, and what a machine adds.
    expect(performance.now() - begin).toBeLessThan(10_000);
    expect(read('a.demo')).toContain('one more more more more more more\n');
    expect(texts.join('\n')).not.toMatch(/old|STALE|New problems/);
    await servers.close();
    expect(pids.filter(isRunning)).toEqual([]);
  },
);

test('what a server says is shown without its control characters', async () => {
  const { edit } = of('control-characters');
  const text = await edit('a.demo', 'one', 'BAD(new)');
  expect(text).toBe('New problems:\na.demo:1:1 error \\x1b[2J: a\\x07 b\\u{202e}');
  const { edit: next } = of('refuses-to-start');
  expect(await next('a.demo', 'one', 'uno')).toBe('Not checked: the demo server failed (no \\x1b[31mlicence here).');
});

test('in a file with more problems than are looked at, none is new', async () => {
  const { edit, put } = of('none');
  put('many.demo', Array.from({ length: 3_000 }, (_, index) => `BAD(p${index})\n`).join(''));
  expect(await edit('many.demo', 'BAD(p0)', '')).toBe('');
  expect(await edit('many.demo', 'BAD(p1)', 'BAD(p2)')).toBe('');
});

test('a server that eats memory is ended by the system', { timeout: 60_000 }, async () => {
  const { edit, pids } = of('eats-memory', { memoryMb: 300, waitMs: 1 });
  await edit('a.demo', 'one', 'uno');
  await expect.poll(() => pids.length > 0 && pids.filter(isRunning), { timeout: 30_000 }).toEqual([]);
});

test('a server that crashed starts again after a pause', { timeout: 30_000 }, async () => {
  const { edit, pids } = of('crashes');
  expect(await edit('a.demo', 'one', 'uno')).toMatch(
    /^Not checked: the demo server failed \(it (?:exited with code 3|closed its output)/,
  );
  expect(await edit('a.demo', 'uno', 'one')).toBe('');
  expect(pids).toHaveLength(1);
  await expect.poll(async () => (await edit('a.demo', 'one', 'one ')) + pids.length, { timeout: 20_000 }).toBe('2');
});

test('an idle server is stopped, and starts again when it is needed', async () => {
  const { edit, pids } = of('none', { idleMs: 20 });
  await edit('a.demo', 'one', 'uno');
  await expect.poll(() => pids.filter(isRunning)).toEqual([]);
  expect(await edit('a.demo', 'uno', 'BAD(one)')).toBe('New problems:\na.demo:1:1 error bad: one');
});

test('what a server asks for has no effect', async () => {
  const { edit, put, read } = of('asks');
  put('victim.txt', 'mine');
  expect(await edit('a.demo', 'one', 'BAD(new)')).toBe('New problems:\na.demo:1:1 error bad: new');
  expect(read('victim.txt')).toBe('mine');
});

/** A program of the project that leaves a mark if it runs. */
function plant(world: ReturnType<typeof languageWorld>, name: string): void {
  const program = `#!/bin/sh\ntouch ${world.fileOf('started')}\nexec ${process.execPath} ${fakeLanguageServer} none\n`;
  world.put(name, program);
  chmodSync(world.fileOf(name), 0o755);
}

test.each([true, false])('servers of the project start only in a trusted folder (%s)', async (isTrusted) => {
  const world = languageWorld({ 'x.py': 'one\n' }, { isTrusted });
  plant(world, '.venv/bin/pyright-langserver');
  const text = await world.edit('x.py', 'one', 'BAD(new)');
  expect(text).toBe(isTrusted ? 'New problems:\nx.py:1:1 error bad: new' : '');
  expect(world.read('started') !== null).toBe(isTrusted);
});

test.each(['pyright-langserver', 'clangd'])('in a folder nobody trusts, %s on PATH', async (name) => {
  const bin = languageWorld({});
  plant(bin, name);
  const file = name === 'clangd' ? 'x.c' : 'x.py';
  const world = languageWorld({ [file]: 'one\n' }, { isTrusted: false, path: bin.root });
  const text = await world.edit(file, 'one', 'BAD(new)');
  expect(text).toBe(name === 'clangd' ? 'New problems:\nx.c:1:1 error bad: new' : '');
});

test('a setting switches a language off', async () => {
  const bin = languageWorld({});
  plant(bin, 'clangd');
  const world = languageWorld({ 'x.c': 'one\n' }, { path: bin.root, settings: { c: false } });
  expect(await world.edit('x.c', 'one', 'BAD(new)')).toBe('');
  expect(bin.read('started')).toBeNull();
});
