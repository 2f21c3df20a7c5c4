import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { LatheOptions } from '@lathe/core';
import { expect, onTestFinished, test } from 'vitest';
import { collect } from '../../../testing/agent-kit.js';
import { isLong, report, seed } from '../../../testing/long-run.js';
import { hasProgram } from '../../../testing/programs.js';
import { chance, pick, type Random, randomFrom } from '../../../testing/random.js';
import { tempDirectory } from '../../../testing/temp-directory.js';
import { createAgentLathe } from './create-agent-lathe.js';
import { ScriptedModel, type ScriptStep } from './models/replay/scripted.js';
import { type OpenSessionOptions, openSession, type Session } from './open-session.js';

const never = new AbortController().signal;
const both = { conversation: true, files: true };

interface Place {
  root: string;
  home: string;
}

const yolo: NonNullable<LatheOptions['flags']> = { 'tools.approvalMode': 'yolo', 'tools.sandbox.mode': 'off' };

async function open(
  { root, home }: Place,
  steps: ScriptStep[],
  options: Partial<OpenSessionOptions> = {},
  flags: NonNullable<LatheOptions['flags']> = yolo,
) {
  const lathe = await createAgentLathe({
    cwd: root,
    env: { PATH: process.env['PATH'], HOME: home },
    home,
    flags,
  });
  onTestFinished(() => lathe.close());
  const session = await openSession(lathe, { model: new ScriptedModel(steps), ...options });
  onTestFinished(() => session.close());
  return { lathe, session };
}

const shell = (command: string) => ({ name: 'run_shell_command', args: { command } });
const write = (file_path: string, content: string) => ({ name: 'write_file', args: { file_path, content } });

function git(root: string, ...args: string[]): string {
  const env = { PATH: process.env['PATH'], HOME: root, GIT_CONFIG_NOSYSTEM: '1' };
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'init.defaultBranch=main'];
  return execFileSync('git', [...identity, ...args], { cwd: root, env, encoding: 'utf8', stdio: 'pipe' });
}

/** A repository, and a file that is ignored once the agent has made it. */
const hidden = ['.git', 'x.log'];

/** Every file below a directory with its kind, permissions and content. */
function stateOf(root: string): Record<string, string> {
  const state: Record<string, string> = {};
  const walk = (below: string) => {
    const bytesOf = (name: string) => Buffer.concat([Buffer.from(`${root}/`), Buffer.from(name, 'latin1')]);
    for (const entry of readdirSync(bytesOf(below), { encoding: 'buffer', withFileTypes: true })) {
      const name = join(below, entry.name.toString('latin1'));
      if (hidden.includes(name)) continue;
      const path = bytesOf(name);
      if (entry.isDirectory()) walk(name);
      else if (entry.isSymbolicLink()) state[name] = `link ${readlinkSync(path)}`;
      else state[name] = `${(lstatSync(path).mode & 0o777).toString(8)} ${readFileSync(path, 'base64')}`;
    }
  };
  walk('');
  return state;
}

/** The bytes and times of everything in a repository. */
function repositoryState(root: string): Record<string, string> {
  const state: Record<string, string> = {};
  for (const name of readdirSync(join(root, '.git'), { recursive: true, encoding: 'utf8' })) {
    const path = join(root, '.git', name);
    const { mtimeMs, mode } = lstatSync(path);
    state[name] = `${mode} ${mtimeMs} ${lstatSync(path).isFile() ? readFileSync(path, 'base64') : ''}`;
  }
  return state;
}

const names = ['a.txt', 'src/b.ts', 'src/deep/c.ts', 'd d/e\n.txt', 'ü.txt', 'g', 'h/i/j', 'src'];
const words = ['x\n', 'y\r\nz', '\u0000binary\u0000', '', '$Id$\n', 'long '.repeat(5000)];

function setUp(random: Random): Place & { isRepository: boolean } {
  const [outer, home] = [tempDirectory(), tempDirectory()];
  const root = chance(random, 0.3) ? join(outer, 'packages/one') : outer;
  mkdirSync(root, { recursive: true });
  for (const name of names.slice(0, -1)) if (chance(random, 0.7)) put(root, name, pick(random, words));
  if (chance(random, 0.5)) symlinkSync('a.txt', join(root, 'link'));
  put(root, 'run.sh', '#!/bin/sh\n');
  chmodSync(join(root, 'run.sh'), 0o755);
  put(root, 'ignored/keep', 'keep');
  put(root, '.gitignore', 'ignored/\n');
  if (chance(random, 0.3)) put(root, '.gitattributes', '* text=auto ident\n*.ts filter=shout\n');
  const isRepository = chance(random, 0.7);
  if (!isRepository) return { root, home, isRepository };
  git(outer, 'init', '-q');
  if (chance(random, 0.8)) git(outer, 'add', '-A');
  const hasCommit = chance(random, 0.7);
  if (hasCommit) git(outer, 'commit', '-qm', 'one', '--allow-empty');
  if (chance(random, 0.3)) put(root, 'a.txt', 'changed before\n');
  if (hasCommit && chance(random, 0.3)) git(outer, 'stash', '-q');
  if (chance(random, 0.2)) git(outer, 'update-index', '--index-version=4');
  return { root, home, isRepository };
}

function put(root: string, name: string, content: string): void {
  try {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), content);
  } catch {
    // A file is where a directory should be, or the reverse.
  }
}

function randomCall(random: Random, root: string) {
  const name = pick(random, names);
  const quoted = `'${name}'`;
  const other = `'${pick(random, names)}'`;
  return pick(random, [
    () => write(join(root, name), `written ${random()}`),
    () => shell(`mkdir -p "$(dirname ${quoted})" && printf '%s' 'by a command ${random()}' > ${quoted}`),
    () => shell(`rm -rf ${quoted}`),
    () => shell(`mv ${quoted} ${other}`),
    () => shell(`rm -rf ${quoted}; ln -s ${other} ${quoted}`),
    () => shell(`chmod 755 ${quoted}`),
    () => shell(`chmod 644 run.sh; rm -rf ${quoted}; mkdir -p ${quoted}; echo inner > ${quoted}/inner`),
    () => shell(`printf 'odd' > "$(printf 'odd\\377')"`),
    () => shell(`printf 'ignored/\\n*.log\\n' > .gitignore; echo log > x.log`),
    () => shell(`rm -f .gitignore`),
    () => shell(`printf '* -text\\n' > .gitattributes`),
    () => shell('true'),
  ])();
}

/** One session: prompts with random calls, changes by others in between, back to a prompt, and forward again. */
async function randomSession(random: Random): Promise<void> {
  const place = setUp(random);
  const { root } = place;
  const count = 2 + Math.floor(random() * 3);
  const steps: ScriptStep[] = [];
  for (let prompt = 0; prompt < count; prompt++) {
    const calls = Array.from({ length: 1 + Math.floor(random() * 3) }, () => randomCall(random, root));
    steps.push({ calls }, { text: 'done' });
  }
  const { session } = await open(place, steps);
  const untouched = place.isRepository ? repositoryState(dirnameOfGit(root)) : {};
  const copies: { state: Record<string, string>; history: readonly unknown[] }[] = [];
  for (let prompt = 0; prompt < count; prompt++) {
    if (chance(random, 0.5)) appendFileSync(join(root, 'of-others.txt'), `${prompt}\n`);
    copies.push({ state: stateOf(root), history: session.agent.history.slice() });
    await collect(session.prompt(`prompt ${prompt}`, never));
  }
  const last = { state: stateOf(root), history: session.agent.history.slice() };
  const chosen = Math.floor(random() * count);
  expect(await back(session, chosen)).toEqual([]);
  const others = last.state['of-others.txt'];
  const expected = copies[chosen]?.state ?? {};
  const { 'of-others.txt': _, ...rest } = expected;
  expect(stateOf(root)).toEqual({ ...rest, ...(others !== undefined && { 'of-others.txt': others }) });
  expect(session.agent.history).toEqual(copies[chosen]?.history);
  expect(await back(session, count)).toEqual([]);
  expect(stateOf(root)).toEqual(last.state);
  expect(session.agent.history).toEqual(last.history);
  if (place.isRepository) expect(repositoryState(dirnameOfGit(root))).toEqual(untouched);
}

/** Files that were left, apart from the one that others changed and those that are ignored or were. */
async function back(session: Session, index: number): Promise<string[]> {
  const point = session.points[index];
  if (!point) throw new Error(`there is no point ${index}`);
  const outcomes = await session.rewind(point, both, never);
  return outcomes.flatMap((each) =>
    each.status === 'left' && !['of-others.txt', 'x.log', 'ignored/keep'].includes(each.path)
      ? [`${each.path}: ${each.reason}`]
      : [],
  );
}

function dirnameOfGit(root: string): string {
  return root.endsWith('packages/one') ? dirname(dirname(root)) : root;
}

test.skipIf(!hasProgram('bwrap'))('what auto mode runs without a question can be taken back', async () => {
  const place = { root: tempDirectory({ 'a.txt': 'one', 'src/b.ts': 'two' }), home: tempDirectory() };
  git(place.root, 'init', '-q');
  const before = stateOf(place.root);
  const command = `node -e "fs.rmSync('src', { recursive: true })"; rm a.txt; touch new`;
  const flags = { 'tools.approvalMode': 'auto-edit', 'tools.sandbox.mode': 'required' } as const;
  const { session } = await open(place, [{ calls: [shell(command)] }, { text: 'ok' }], {}, flags);
  await collect(session.prompt('clean up', never));
  expect(Object.keys(stateOf(place.root))).toEqual(['new']);
  expect(await back(session, 0)).toEqual([]);
  expect(stateOf(place.root)).toEqual(before);
});

test('going back to any prompt of a random session equals a copy taken then', { timeout: 3_600_000 }, async () => {
  const count = isLong ? 200 : 15;
  let done = 0;
  for (let round = 0; round < count; round++) {
    const own = seed + round;
    await randomSession(randomFrom(own)).catch((error: unknown) => {
      throw new Error(`LATHE_SEED=${own}`, { cause: error });
    });
    done += 1;
  }
  expect(done).toBe(count);
  report('random sessions rewound', count);
});

function newPlace(files: Record<string, string> = { 'a.txt': 'one' }): Place {
  return { root: tempDirectory(files), home: tempDirectory() };
}

const text = (root: string, name: string) => readFileSync(join(root, name), 'utf8');

test('a resumed session continues with the shorter conversation and can still take the rewind back', async () => {
  const here = newPlace();
  const { root } = here;
  const steps = ['two', 'three'].flatMap((word) => [
    { calls: [shell(`echo ${word} > a.txt`)] },
    { text: `wrote ${word}` },
  ]);
  const first = await open(here, steps);
  await collect(first.session.prompt('write two', never));
  const before = first.session.agent.history.slice();
  await collect(first.session.prompt('write three', never));
  const whole = first.session.agent.history.slice();
  expect(await back(first.session, 1)).toEqual([]);
  expect(text(root, 'a.txt')).toBe('two\n');
  await first.session.close();

  const second = await open(here, [], { resume: 'latest' });
  expect(second.session.notes).toEqual([]);
  expect(second.session.agent.history).toEqual(before);
  expect(second.session.points.map(({ type, text: title }) => `${type} ${title}`)).toEqual([
    'prompt write two',
    'prompt write three',
    'rewind write three',
  ]);
  expect(await back(second.session, 2)).toEqual([]);
  expect(second.session.agent.history).toEqual(whole);
  expect(text(root, 'a.txt')).toBe('three\n');
  expect(await back(second.session, 0)).toEqual([]);
  expect(second.session.agent.history).toEqual([]);
  expect(text(root, 'a.txt')).toBe('one');
});

test('conversation and files can go back alone, over a cleared conversation too', async () => {
  const here = newPlace();
  const { session } = await open(here, [{ calls: [shell('echo two > a.txt')] }, { text: 'done' }]);
  await collect(session.prompt('write two', never));
  const history = session.agent.history.slice();
  const [point] = session.points;
  if (!point) throw new Error('there is no point');
  const { files, left } = await session.previewRewind(point, never);
  expect(files).toMatchObject([{ path: 'a.txt', action: 'change', lines: { added: 1, removed: 1 } }]);
  expect(left).toEqual([]);
  expect(text(here.root, 'a.txt')).toBe('two\n');
  await session.rewind(point, { conversation: false, files: true }, never);
  expect(text(here.root, 'a.txt')).toBe('one');
  expect(session.agent.history).toEqual(history);
  session.clear();
  const again = session.points[1];
  if (!again) throw new Error('there is no point');
  await session.rewind(again, { conversation: true, files: false }, never);
  expect(session.agent.history).toEqual(history);
  expect(text(here.root, 'a.txt')).toBe('one');
});

test('a prompt that only reads takes no snapshot', async () => {
  const here = newPlace();
  const read = { name: 'read_file', args: { absolute_path: join(here.root, 'a.txt') } };
  const { session } = await open(here, [{ calls: [read, shell('cat a.txt')] }, { text: 'one' }]);
  await collect(session.prompt('what is in it?', never));
  expect(readdirSync(join(here.home, '.lathe'))).not.toContain('rewind');
  expect(session.points.map(({ before }) => before)).toEqual([undefined]);
});

test('what another Lathe edits during a prompt is left', async () => {
  const here = newPlace({ 'a.txt': 'one', 'b.txt': 'one' });
  const other = await open(here, [
    { calls: [shell('cat b.txt'), write(join(here.root, 'new.txt'), 'b')] },
    { text: 'done' },
  ]);
  const { session } = await open(here, [
    { calls: [shell('echo two > a.txt')] },
    async () => {
      await collect(other.session.prompt('write', never));
      return { calls: [shell('echo three > a.txt')] };
    },
    { text: 'done' },
  ]);
  await collect(session.prompt('write a', never));
  expect(await back(session, 0)).toEqual(['new.txt: changed by somebody else since']);
  expect([text(here.root, 'a.txt'), text(here.root, 'new.txt')]).toEqual(['one', 'b']);
  expect(await back(other.session, 0)).toEqual(['a.txt: changed by somebody else since']);
  expect(readdirSync(here.root)).toEqual(['a.txt', 'b.txt']);
});

test('where no snapshot can be taken, one notice says so and the work continues', async () => {
  const here = newPlace();
  mkdirSync(join(here.home, '.lathe'));
  writeFileSync(join(here.home, '.lathe', 'rewind'), 'in the way');
  const { session } = await open(here, [
    { calls: [shell('echo two > a.txt')] },
    { calls: [shell('echo three > a.txt')] },
    { text: 'done' },
  ]);
  const events = await collect(session.prompt('write', never));
  const notices = events.flatMap((event) => (event.type === 'notice' ? [event.message] : []));
  expect(notices).toHaveLength(1);
  expect(notices[0]).toContain('/rewind cannot bring files back');
  expect(text(here.root, 'a.txt')).toBe('three\n');
});
