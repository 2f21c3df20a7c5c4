import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildProgram, modelVariables, runProgram } from '../../../../testing/lathe-program.js';
import { isLong, report, seed } from '../../../../testing/long-run.js';
import { modelServer, type ServerRequest, type ServerTurn } from '../../../../testing/model-server.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';

beforeAll(buildProgram, 120_000);

interface Result {
  id: string;
  status: string;
  result: string;
  patch?: string;
  sessionId: string;
}

function repository(): string {
  const root = tempDirectory({ 'a.txt': 'alpha\n' });
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: root });
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('commit', '-qm', 'first');
  return root;
}

const tasks = (ids: readonly string[]) =>
  ids.map((id) => `${JSON.stringify({ id, prompt: `work on number ${id}.` })}\n`).join('');
const resultsIn = (path: string): Result[] =>
  existsSync(path)
    ? readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line): Result => JSON.parse(line))
    : [];

/** Writes a file named after its task, then answers. */
function worker({ body }: ServerRequest): ServerTurn {
  const text = JSON.stringify(body);
  const number = /work on number (\w+)\./.exec(text)?.[1] ?? 'none';
  const isFirst = !text.includes('"role":"assistant"');
  const cwd = /(\/[\w./-]*worktrees\/[\w-]+)/.exec(text)?.[1] ?? '/nowhere';
  return isFirst
    ? { calls: [{ name: 'write_file', args: { file_path: join(cwd, `${number}.txt`), content: `${number}\n` } }] }
    : { text: `did ${number}` };
}

test('each task runs in a worktree of its own, its changes are a patch, and the repository stays as it is', async () => {
  const root = repository();
  const home = tempDirectory({ 'tasks.jsonl': tasks(['one', 'two', 'three']) });
  const server = await modelServer([worker]);
  const env = modelVariables('openai', server.url);
  const args = ['batch', join(home, 'tasks.jsonl'), '--jobs', '2', '--approval-mode', 'auto-edit'];
  const first = await runProgram(args, { cwd: root, home, env });
  expect(first.stderr).toContain('3 of 3 tasks have a result (3 now), 0 failed');
  expect(first).toMatchObject({ code: 0, stdout: '' });
  const results = resultsIn(join(home, 'tasks.results.jsonl'));
  expect(
    results.map(({ id, status, result }) => ({ id, status, result })).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  ).toEqual([
    { id: 'one', status: 'success', result: 'did one' },
    { id: 'three', status: 'success', result: 'did three' },
    { id: 'two', status: 'success', result: 'did two' },
  ]);
  for (const { id, patch = '' } of results) {
    expect(patch).toContain(`+++ b/${id}.txt`);
    execFileSync('git', ['apply', '--check'], { cwd: root, input: patch });
  }
  expect(execFileSync('git', ['status', '--short'], { cwd: root, encoding: 'utf8' })).toBe('');
  expect(readdirSync(join(home, '.lathe', 'worktrees'))).toEqual([]);
  const requests = server.requests.length;
  const second = await runProgram(args, { cwd: root, home, env });
  expect(second.stderr).toContain('3 of 3 tasks have a result (0 now)');
  expect(server.requests).toHaveLength(requests);
  const listed = await runProgram(['sessions'], { cwd: root, home, env });
  expect(listed.stdout).toContain(results[0]?.sessionId.slice(0, 8));
}, 120_000);

test.each([
  ['no file', ['batch'], 'batch needs a file'],
  ['a file that is not there', ['batch', 'nothing.jsonl'], 'There is no file'],
  ['a wrong line', ['batch', 'wrong.jsonl'], 'wrong.jsonl:1: prompt is missing'],
  ['the same id twice', ['batch', 'twice.jsonl'], 'is in line 1 too'],
  ['no jobs', ['batch', 'good.jsonl', '--jobs', '0'], '--jobs must be 1 to 64'],
])(
  'wrong usage: %s',
  async (_, args, message) => {
    const home = tempDirectory({
      'wrong.jsonl': '{"id":"a"}\n',
      'twice.jsonl': tasks(['a', 'a']),
      'good.jsonl': tasks(['a']),
    });
    const { code, stderr } = await runProgram(args, { home });
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  },
  60_000,
);

test('a result names the calls that needed an approval, and what would allow them', async () => {
  const root = repository();
  const home = tempDirectory({ 'tasks.jsonl': tasks(['one']) });
  const server = await modelServer([worker]);
  const env = modelVariables('openai', server.url);
  expect(await runProgram(['batch', join(home, 'tasks.jsonl')], { cwd: root, home, env })).toMatchObject({ code: 0 });
  expect(resultsIn(join(home, 'tasks.results.jsonl'))).toMatchObject([
    {
      status: 'success',
      result: expect.stringMatching(/^did one\n\[write_file was not run: .* --approval-mode auto\.\]$/),
    },
  ]);
}, 60_000);

test('outside a repository a task fails and says what to do', async () => {
  const home = tempDirectory({ 'tasks.jsonl': tasks(['a']) });
  const server = await modelServer([worker]);
  const env = modelVariables('openai', server.url);
  const { code, stderr } = await runProgram(['batch', 'tasks.jsonl'], { home, env });
  expect(code).toBe(1);
  expect(stderr).toContain('To run a failed task again, remove its line from that file.');
  expect(resultsIn(join(home, 'tasks.results.jsonl'))).toMatchObject([{ id: 'a', status: 'error', sessionId: '' }]);
  expect(readFileSync(join(home, 'tasks.results.jsonl'), 'utf8')).toContain('git init');
}, 60_000);

test('killed again and again, a batch ends with one result for each task', async () => {
  const [count, kills] = isLong ? [200, 20] : [10, 2];
  const root = repository();
  const ids = Array.from({ length: count }, (_, at) => `n${at}`);
  const home = tempDirectory({ 'tasks.jsonl': tasks(ids) });
  const out = join(home, 'out.jsonl');
  const server = await modelServer([worker]);
  const env = modelVariables('openai', server.url);
  const args = ['batch', join(home, 'tasks.jsonl'), '--out', out, '--jobs', '4', '--yolo'];
  let killed = 0;
  for (let round = 0; round < kills; round++) {
    const goal = resultsIn(out).length + ((seed + round * 31) % 5);
    const run = await runProgram(args, {
      cwd: root,
      home,
      env,
      onStart: (child) => {
        // At a random moment after some results are there.
        const timer = setInterval(() => {
          if (!existsSync(out) || readFileSync(out, 'utf8').split('\n').length - 1 < goal) return;
          clearInterval(timer);
          setTimeout(() => child.kill('SIGKILL'), (seed + round * 613) % 700);
        }, 20);
        child.on('close', () => clearInterval(timer));
      },
    });
    if (run.code === null) killed += 1;
  }
  const last = await runProgram(args, { cwd: root, home, env });
  expect(last.stderr).toContain(`${count} of ${count} tasks have a result`);
  const results = resultsIn(out);
  expect(results.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  expect(
    results.filter(({ status, patch = '', id }) => status !== 'success' || !patch.includes(`b/${id}.txt`)),
  ).toEqual([]);
  expect(readdirSync(join(home, '.lathe', 'worktrees'))).toEqual([]);
  expect(execFileSync('git', ['status', '--short'], { cwd: root, encoding: 'utf8' })).toBe('');
  expect(killed).toBeGreaterThan(0);
  report('batch', count, { kills: killed });
}, 1_200_000);
