import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { textOf } from '../contract/content.js';
import { LatheHome } from '../files/lathe-home.js';
import { NamesInUse } from '../files/retention/names-in-use.js';
import { processIdentity } from '../files/write/file-lock.js';
import { createLathe } from './create-lathe.js';
import { Retention } from './retention.js';

const never = new AbortController().signal;
const dayMs = 86_400_000;
const session = '0a0a0a0a-0000-4000-8000-000000000001';

/** A home with files of so many days. */
function homeWith(files: Record<string, { days: number; content: string }>): LatheHome {
  const home = new LatheHome(tempDirectory());
  for (const [name, { days, content }] of Object.entries(files)) {
    mkdirSync(dirname(home.file(name)), { recursive: true });
    writeFileSync(home.file(name), content);
    const time = (Date.now() - days * dayMs) / 1000;
    utimesSync(home.file(name), time, time);
  }
  return home;
}

function left({ path }: LatheHome): string[] {
  return readdirSync(path, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1))
    .filter((name) => name !== 'cleaned')
    .sort();
}

const record = (days: number, tool: string) =>
  `${JSON.stringify({ time: new Date(Date.now() - days * dayMs).toISOString(), tool })}\n`;

const old = {
  'spill/flat.txt': { days: 200, content: 'of an earlier version' },
  'spill/run-1/a.txt': { days: 31, content: 'a' },
  'spill/run-1/b.txt': { days: 1, content: 'b' },
  [`sessions/p/${session}.jsonl`]: { days: 40, content: '{}' },
  'sessions/p/notes.txt': { days: 40, content: 'of a person' },
  'sessions/p/0a0a0a0a-0000-4000-8000-000000000002.jsonl': { days: 2, content: '{}' },
  [`views/${session}.html`]: { days: 40, content: '<p>' },
  'audit/calls.jsonl.1': { days: 50, content: record(60, 'older') },
  'audit/calls.jsonl': { days: 0, content: record(40, 'old') + record(1, 'new') },
};
const recent = [
  'audit/calls.jsonl.1',
  'sessions/p/0a0a0a0a-0000-4000-8000-000000000002.jsonl',
  'sessions/p/notes.txt',
  'spill/run-1/b.txt',
];

test('what is older than the limit goes, in every kind, and nothing else', async () => {
  const home = homeWith(old);
  const retention = new Retention(home, { days: 30, megabytes: 500 });
  const planned = await retention.clean({ isDryRun: true }, never);
  expect(left(home)).toEqual(Object.keys(old).sort());
  const removed = await retention.clean({}, never);
  expect(left(home)).toEqual(recent);
  expect(JSON.parse(readFileSync(home.file('audit/calls.jsonl.1'), 'utf8'))).toMatchObject({ tool: 'new' });
  expect(planned.map(({ kind, bytes }) => [kind, bytes])).toEqual(removed.map(({ kind, bytes }) => [kind, bytes]));
});

test('the oldest goes until a kind is small enough', async () => {
  const content = 'x'.repeat(400_000);
  const home = homeWith(
    Object.fromEntries(
      ['a', 'b', 'c', 'd'].map((name, index) => [`spill/run-${name}/f`, { days: 4 - index, content }]),
    ),
  );
  await new Retention(home, { days: -1, megabytes: 1 }).clean({}, never);
  expect(left(home)).toEqual(['spill/run-c/f', 'spill/run-d/f']);
  expect(existsSync(home.file('spill/run-a'))).toBe(false);
});

test('what a running process uses stays, whatever the rule; the mark of a dead one does not count', async () => {
  const home = homeWith(old);
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  onTestFinished(() => void child.kill('SIGKILL'));
  const names = new NamesInUse(home);
  await names.mark(session, child.pid);
  symlinkSync(
    (await processIdentity(process.pid)).replace(/^\d+/, '999999999'),
    home.file('live', 'run-1.0123456789ab'),
  );
  const retention = new Retention(home, { days: 30, megabytes: 500 });
  await retention.clean({ rule: { since: Number.POSITIVE_INFINITY, maxBytes: 0 } }, never);
  expect(left(home)).toEqual([`sessions/p/${session}.jsonl`, 'sessions/p/notes.txt', `views/${session}.html`]);
  child.kill('SIGKILL');
  await once(child, 'close');
  await retention.clean({}, never);
  expect(left(home)).toEqual(['sessions/p/notes.txt']);
});

test('once a day, by one of several processes', async () => {
  const home = homeWith(old);
  const retentions = Array.from({ length: 4 }, () => new Retention(home, { days: 30, megabytes: 500 }));
  const cleaned: boolean[] = [];
  for (const retention of retentions) cleaned.push(await retention.cleanDaily(never));
  expect(cleaned).toEqual([true, false, false, false]);
  expect(left(home)).toEqual(recent);
  await Promise.all(retentions.map((retention) => retention.clean({}, never)));
  expect(left(home)).toEqual(recent);
});

test('changes of files can be undone for as long as they are kept', async () => {
  const base = tempDirectory({ 'app/f': 'a' });
  const path = join(base, 'app/f');
  const open = () =>
    createLathe({
      cwd: join(base, 'app'),
      home: base,
      env: {},
      isTrusted: true,
      caller: 'person',
      flags: { 'tools.approvalMode': 'yolo' },
    });
  const lathe = await open();
  await lathe.run([{ name: 'write_file', args: { file_path: path, content: 'b' } }], never);
  const { journal } = lathe.host;
  const entries = join(base, '.lathe/journal/changes');
  await lathe.host.retention.clean({}, never);
  expect(readdirSync(entries)).toHaveLength(1);
  for (const folder of [entries, join(base, '.lathe/journal/blobs')])
    for (const name of readdirSync(folder)) utimesSync(join(folder, name), 1000, 1000);
  await lathe.host.retention.clean({}, never);
  expect([await journal.list(), readdirSync(entries), readdirSync(join(base, '.lathe/journal/blobs'))]).toEqual([
    [],
    [],
    [],
  ]);
  await lathe.close();
});

/** Two projects of one person. */
async function twoSessions() {
  const base = tempDirectory({ 'one/f': '', 'two/f': '', 'home/.lathe/settings.json': '{}' });
  const open = async (name: string) => {
    const lathe = await createLathe({
      cwd: join(base, name),
      home: join(base, 'home'),
      env: { MY_TOKEN: 'canary-of-the-environment' },
      isTrusted: true,
      flags: { 'tools.sandbox.mode': 'off', 'tools.allowed': ['run_shell_command'] },
    });
    onTestFinished(() => lathe.close());
    const call = async (tool: string, args: object) => {
      const [outcome] = await lathe.run([{ name: tool, args: { ...args } }], never);
      return { status: outcome?.status, text: textOf(outcome?.llmContent ?? '') };
    };
    return { lathe, call };
  };
  return { base, one: await open('one'), two: await open('two'), open };
}

const long =
  'for i in $(seq 3000); do echo "line $i CANARY"; done; echo "key sk-abcdefghijklmnopqrstuvwxyz"; echo canary-of-the-environment; seq 3000';
const fileIn = (text: string) => /(\/\S+\/spill\/\S+\.log)/.exec(text)?.[1] ?? '';

test('only the session that wrote long output reads it, and no secret is in it', async () => {
  const { base, one, two, open } = await twoSessions();
  await one.lathe.host.useSession(session);
  const path = fileIn((await one.call('run_shell_command', { command: long })).text);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readFileSync(path, 'utf8')).toContain('line 2999 CANARY\nline 3000 CANARY\nkey [redacted]\n[redacted]\n1\n');
  const spill = join(base, 'home/.lathe/spill');
  expect((await one.call('grep_search', { pattern: 'CANARY', path })).status).toBe('success');
  expect((await one.call('read_file', { absolute_path: path })).status).toBe('success');
  for (const place of [path, dirname(path), spill]) {
    expect(await two.call('grep_search', { pattern: 'CANARY', path: place })).not.toMatchObject({ status: 'success' });
    expect(await two.call('list_directory', { path: place })).not.toMatchObject({ status: 'success' });
  }
  expect(await two.call('read_file', { absolute_path: path })).not.toMatchObject({ status: 'success' });
  await one.lathe.close();
  const resumed = await open('one');
  expect((await resumed.call('read_file', { absolute_path: path })).status).not.toBe('success');
  await resumed.lathe.host.useSession(session);
  expect((await resumed.call('read_file', { absolute_path: path })).status).toBe('success');
});
