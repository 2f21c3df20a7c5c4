import { mkdirSync, readdirSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { LatheHome } from '@lathe/core/tools';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import type { SessionRecord } from './record.js';
import { SessionStore } from './session-store.js';
import { Transcript } from './transcript.js';

const options = { model: 'scripted', secrets: [], onProblem: () => {} };
const say = (text: string): SessionRecord => ({ type: 'message', message: { role: 'user', parts: [{ text }] } });

function remember(store: SessionStore, text: string, seconds: number): { id: string; path: string } {
  const { id, transcript } = store.create(options);
  transcript.append({ type: 'prompt', text });
  transcript.append(say(text));
  utimesSync(transcript.path, seconds, seconds);
  return { id, path: transcript.path };
}

async function setup() {
  const home = new LatheHome(tempDirectory());
  const root = tempDirectory();
  return { home, root, store: await SessionStore.open(home, root) };
}

test('sessions are listed newest first, with their titles', async () => {
  const { root, store } = await setup();
  expect(await store.list()).toEqual([]);
  expect(await store.latest()).toBeUndefined();
  const old = remember(store, 'old', 1000);
  const young = remember(store, 'young', 2000);
  const shared = { cwd: root, model: 'scripted' };
  expect(await store.list()).toEqual([
    { ...young, ...shared, title: 'young', updated: '1970-01-01T00:33:20.000Z' },
    { ...old, ...shared, title: 'old', updated: '1970-01-01T00:16:40.000Z' },
  ]);
  expect(await store.latest()).toMatchObject({ id: young.id, notes: [], messages: [{ parts: [{ text: 'young' }] }] });
});

test('a session without a record leaves no file', async () => {
  const { home, store } = await setup();
  store.create(options);
  expect(readdirSync(home.path)).toEqual([]);
});

test('a session that two programs remove at once is gone, and neither fails', async () => {
  const { store } = await setup();
  const { id } = remember(store, 'one', 1000);
  await Promise.all([store.remove(id), store.remove(id)]);
  expect(await store.list()).toEqual([]);
});

test('a resumed session continues in its file', async () => {
  const { store } = await setup();
  const { id, path } = remember(store, 'one', 1000);
  const before = readFileSync(path);
  for (const text of ['two', 'three']) store.reopen(await store.load(id), options).append(say(text));
  const { messages, notes } = await store.load(id.slice(0, 8).toUpperCase());
  expect(messages.map(({ parts }) => parts[0]?.text)).toEqual(['one', 'two', 'three']);
  expect(notes).toEqual([]);
  expect(readFileSync(path).subarray(0, before.length).equals(before)).toBe(true);
});

test.each(['', 'abc', '../../etc/passwd', 'zzzz', '00000000-0000-0000-0000-000000000000', '%2e%2e', 'a'.repeat(100)])(
  '%j is not a session',
  async (id) => {
    const { store } = await setup();
    remember(store, 'x', 1);
    await expect(store.load(id)).rejects.toThrow(/session/);
  },
);

test('an id that matches two sessions is rejected', async () => {
  const { store } = await setup();
  const { path } = remember(store, 'x', 1);
  for (const name of ['aaaa1', 'aaaa2'])
    writeFileSync(join(dirname(path), `${name}.jsonl`), readFileSync(path), { mode: 0o600 });
  await expect(store.load('aaaa')).rejects.toThrow('2 sessions');
  expect((await store.load('aaaa1')).messages).toHaveLength(1);
});

// SL08
test('similar paths have separate sessions', async () => {
  const { home } = await setup();
  const base = tempDirectory();
  const names = ['a_b', 'a-b', 'a.b', 'A_b', 'a b', 'é', 'e\u0301', 'x'.repeat(200), `${'x'.repeat(199)}y`];
  for (const name of names) mkdirSync(join(base, name), { recursive: true });
  const real = new Set(readdirSync(base));
  for (const name of real) remember(await SessionStore.open(home, join(base, name)), name, 1);
  expect(readdirSync(home.file('sessions'))).toHaveLength(real.size);
  for (const name of real) {
    const titles = (await (await SessionStore.open(home, join(base, name))).list()).map(({ title }) => title);
    expect(titles).toEqual([name]);
  }
});

// RP10
test('a session of another or a deleted directory continues here, with a note', async () => {
  const { home, root, store } = await setup();
  const { id } = remember(store, 'x', 1);
  const other = await SessionStore.open(home, tempDirectory());
  expect((await other.load(id)).notes.join()).toContain(`The session was in ${root};`);
  renameSync(root, `${root}-moved`);
  const moved = await SessionStore.open(home, `${root}-moved`);
  expect((await moved.load(id)).notes.join()).toContain(`${root}, which is gone`);
  renameSync(`${root}-moved`, root);
});

// RP03
test('a session of a newer Lathe is read as far as possible', async () => {
  const { store } = await setup();
  const { transcript, id } = store.create(options);
  const newer: SessionRecord = { type: 'session', version: 99, id, cwd: '', model: '', time: '' };
  const future = new Transcript({ path: transcript.path, opening: newer, secrets: [], onProblem: () => {} });
  future.append(say('two'));
  future.append({ type: 'hologram', message: 'three' } as unknown as SessionRecord);
  const loaded = await store.load(id);
  expect(loaded.messages).toHaveLength(1);
  expect(loaded.notes.join()).toContain('newer Lathe');
});

test('damage is reported and the rest is usable', async () => {
  const { store } = await setup();
  const { id, path } = remember(store, 'one', 1);
  writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.from('{"writer":"torn')]));
  const loaded = await store.load(id);
  expect(loaded.messages).toHaveLength(1);
  expect(loaded.notes[0]).toContain('1 damaged');
});
