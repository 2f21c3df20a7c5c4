import { execFileSync } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { appendFileSync, chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Approver, LatheOptions } from '@lathe/core';
import { expect, onTestFinished, test } from 'vitest';
import { endOf } from '../../../../testing/agent-kit.js';
import { isLong, report } from '../../../../testing/long-run.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { createAgentLathe } from '../create-agent-lathe.js';
import type { ModelRequest } from '../models/model.js';
import { ScriptedModel, type ScriptedTurn } from '../models/replay/scripted.js';
import { openAgent } from '../open-agent.js';

type Role = (request: ModelRequest, turn: number, cwd: string) => ScriptedTurn | Promise<ScriptedTurn>;

/** One model plays every agent: it tells them apart by the first words, and knows where each of them works. */
function cast(roles: Record<string, Role>) {
  const step = (request: ModelRequest) => {
    const opening = request.history[0]?.parts.map(({ text = '' }) => text).join('') ?? '';
    const role = Object.keys(roles).find((name) => opening.includes(name));
    const turn = request.history.filter(({ role: who }) => who === 'model').length;
    const cwd = /director\w+[^\n]*?(\/[\w./-]*\w)/i.exec(request.system)?.[1] ?? '';
    return roles[role ?? '']?.(request, turn, cwd) ?? { text: `nobody plays ${opening}` };
  };
  return new ScriptedModel(Array.from({ length: 5000 }, () => step));
}

const isolated = (prompt: string, background = false) => ({
  name: 'task',
  args: { description: 'some work', prompt, subagent_type: 'general-purpose', isolation: 'worktree', background },
});
const lastText = ({ history }: ModelRequest) => JSON.stringify(history.at(-1)?.parts);
const boss =
  (...tasks: ReturnType<typeof isolated>[]): Role =>
  (request, turn) =>
    turn === 0 ? { calls: tasks } : { text: lastText(request) };
const shell = (command: string) => ({ name: 'run_shell_command', args: { command } });

const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd, encoding: 'utf8' });

function repository(files: Record<string, string>): string {
  const root = tempDirectory(files);
  git(root, 'init', '-q', '-b', 'main');
  git(root, 'add', '-A');
  git(root, 'commit', '-qm', 'first');
  return root;
}

async function open(root: string, model: ScriptedModel, options: Partial<LatheOptions> = {}) {
  const home = tempDirectory();
  const env = { PATH: process.env['PATH'] };
  const lathe = await createAgentLathe({
    cwd: root,
    env,
    home,
    ...options,
    flags: { 'tools.approvalMode': 'yolo', 'agents.maxParallel': 20, ...options.flags },
  });
  onTestFinished(() => lathe.close());
  const left = () => readdirSync(join(home, '.lathe', 'worktrees'));
  return { home, lathe, agent: openAgent(lathe, { model }), left };
}

test('a subagent in a worktree changes, adds and removes files of the original, which can be undone', async () => {
  const root = repository({ 'a.txt': 'one\ntwo\n', 'b.txt': 'b\n', 'sub/c.txt': 'c\n' });
  writeFileSync(join(root, 'a.txt'), 'one\ntwo\nnot committed\n');
  const cwds: string[] = [];
  const model = cast({
    'lead the work': boss(isolated('change things')),
    'change things': (request, turn, cwd) => {
      cwds.push(cwd);
      if (turn === 0)
        return {
          calls: [
            shell(`sed -i s/one/1/ ${cwd}/a.txt && rm b.txt && printf '#!/bin/sh\\n' > run.sh && chmod +x run.sh`),
            shell(
              'git status --short; git log --oneline; git add -A && git -c user.name=x -c user.email=x commit -qm second && git log --oneline',
            ),
          ],
        };
      return { text: lastText(request) };
    },
  });
  const { agent, lathe, left } = await open(root, model);
  const end = await endOf(agent, 'lead the work');
  expect(end.text).toContain('The changes were applied to: a.txt, b.txt, run.sh');
  expect(end.text).toContain(' M a.txt');
  expect(end.text).toContain('second');
  expect(cwds[0]).not.toBe(root);
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('1\ntwo\nnot committed\n');
  expect(existsSync(join(root, 'b.txt'))).toBe(false);
  expect(git(root, 'log', '--oneline').split('\n')).toHaveLength(2);
  expect(git(root, 'branch', '-a').trim()).toBe('* main');
  expect(left()).toEqual([]);
  await lathe.changes.undo({ count: 5, root }, new AbortController().signal);
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one\ntwo\nnot committed\n');
  expect(existsSync(join(root, 'run.sh'))).toBe(false);
});

test('one question shows the whole diff, and after a no nothing has changed and the report has the diff', async () => {
  const root = repository({ 'a.txt': 'one\n', 'b.txt': 'b\n' });
  const shown: string[] = [];
  const approver: Approver = {
    decide: async ({ tool, confirmation }) => {
      if (tool !== 'apply_changes') return { outcome: 'once' };
      shown.push(confirmation.title, confirmation.type === 'edit' ? confirmation.fileDiff : '');
      return { outcome: 'deny', message: 'not now' };
    },
  };
  const model = cast({
    'lead the work': boss(isolated('change things')),
    'change things': (_, turn) =>
      turn === 0 ? { calls: [shell('echo 1 >> a.txt; echo 2 >> b.txt')] } : { text: 'ok' },
  });
  const { agent } = await open(root, model, { approver, flags: { 'tools.approvalMode': 'default' } });
  const end = await endOf(agent, 'lead the work');
  expect(shown).toHaveLength(2);
  expect(shown[0]).toBe('Apply the changes of the subagent general-purpose?');
  expect(shown[1]).toMatch(/\+1\n[\s\S]*\+2\n/);
  expect(end.text).toContain('not applied');
  expect(end.text).toContain('diff --git a/a.txt b/a.txt');
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one\n');
});

test('a subagent that is stopped reports the changes that it made', async () => {
  const root = repository({ 'a.txt': 'one\n' });
  const control = { name: 'task_control', args: { action: 'stop', id: 't1' } };
  const worked = new EventEmitter();
  const hasWorked = once(worked, 'end');
  const model = cast({
    'lead the work': (request, turn) => {
      if (turn === 0) return { calls: [isolated('change things', true)] };
      return turn === 1 ? hasWorked.then(() => ({ calls: [control] })) : { text: lastText(request) };
    },
    'change things': (_, turn) => {
      if (turn === 0) return { calls: [shell('echo 1 >> a.txt')] };
      worked.emit('end');
      return { delayMs: 600_000 };
    },
  });
  const { agent, lathe, left } = await open(root, model);
  const end = await endOf(agent, 'lead the work');
  expect(end.text).toContain('was stopped');
  expect(end.text).toContain('its changes were not applied');
  expect(end.text).toContain('+1');
  expect(lathe.subagents.background.list().map(({ state }) => state)).toEqual(['stopped']);
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one\n');
  expect(left()).toEqual([]);
});

test('a subagent that is stopped at the question about its changes reports them', async () => {
  const root = repository({ 'a.txt': 'one\n' });
  const stops: Promise<string>[] = [];
  const approver: Approver = {
    decide: async ({ tool }) => {
      if (tool !== 'apply_changes') return { outcome: 'once' };
      stops.push(lathe.subagents.background.stop('t1'));
      return { outcome: 'deny' };
    },
  };
  const model = cast({
    'lead the work': boss(isolated('change things', true)),
    'change things': (_, turn) => (turn === 0 ? { calls: [shell('echo 1 >> a.txt')] } : { text: 'ok' }),
  });
  const { agent, lathe, left } = await open(root, model, { approver, flags: { 'tools.approvalMode': 'default' } });
  await endOf(agent, 'lead the work');
  await Promise.all(stops);
  const reports = JSON.stringify(model.requests.at(-1)?.history);
  expect(reports).toContain('Not all of its changes were applied');
  expect(reports).toContain('+1');
  expect(left()).toEqual([]);
});

test('hooks, filters and the configuration of the repository run nothing, and its git directory cannot be changed', async () => {
  const root = repository({ 'a.txt': 'one\n', '.gitattributes': '*.txt filter=evil\n' });
  const trap = join(tempDirectory(), 'ran');
  for (const name of ['post-checkout', 'post-index-change', 'pre-commit', 'reference-transaction'])
    writeFileSync(join(root, '.git/hooks', name), `#!/bin/sh\ntouch ${trap}\n`, { mode: 0o755 });
  appendFileSync(
    join(root, '.git/config'),
    `[filter "evil"]\n\tclean = touch ${trap}; cat\n\tsmudge = touch ${trap}; cat\n[core]\n\tfsmonitor = "touch ${trap}; false"\n`,
  );
  const before = readFileSync(join(root, '.git/config'), 'utf8');
  const model = cast({
    'lead the work': boss(isolated('change things')),
    'change things': (request, turn) =>
      turn === 0
        ? {
            calls: [
              shell(
                `echo x >> a.txt; git add -A; git -c user.name=x -c user.email=x commit -qm c; python3 -c 'open("${root}/.git/con"+"fig","a").write("[a]")'; echo done`,
              ),
            ],
          }
        : { text: lastText(request) },
  });
  const { agent } = await open(root, model, { flags: { 'tools.sandbox.mode': 'required' } });
  const end = await endOf(agent, 'lead the work');
  expect(end.text).toContain('applied to: a.txt');
  expect(existsSync(trap)).toBe(false);
  expect(readFileSync(join(root, '.git/config'), 'utf8')).toBe(before);
});

test('files that are a git directory together come back only after a question, also in yolo mode', async () => {
  const root = repository({ 'a.txt': 'one\n' });
  const reasons: string[] = [];
  const approver: Approver = {
    decide: async ({ tool, reason }) => {
      reasons.push(`${tool}: ${reason}`);
      return { outcome: 'deny' };
    },
  };
  const command = 'mkdir -p bare/objects bare/refs; touch bare/objects/x bare/refs/x bare/config; echo ref > bare/HEAD';
  const model = cast({
    'lead the work': boss(isolated('change things')),
    'change things': (_, turn) => (turn === 0 ? { calls: [shell(command)] } : { text: 'ok' }),
  });
  const { agent } = await open(root, model, { approver });
  await endOf(agent, 'lead the work');
  expect(reasons).toEqual([
    `apply_changes: ${root}/bare is a git directory, whose configuration and hooks git executes`,
  ]);
  expect(existsSync(join(root, 'bare'))).toBe(false);
});

test('a rule against a file of the original holds in the copy', async () => {
  const root = repository({ 'secret/plan.txt': 'hidden words\n', 'a.txt': 'a\n' });
  const model = cast({
    'lead the work': boss(isolated('read it')),
    'read it': (request, turn, cwd) =>
      turn === 0
        ? { calls: [{ name: 'read_file', args: { absolute_path: join(cwd, 'secret/plan.txt') } }] }
        : { text: lastText(request) },
  });
  const { agent } = await open(root, model, { flags: { 'permissions.deny': [`read_file(/${root}/secret/**)`] } });
  const end = await endOf(agent, 'lead the work');
  expect(end.text).toContain('denies it');
  expect(end.text).not.toContain('hidden words');
});

test('twenty subagents at once on overlapping files: each change is applied or reported, none is lost', async () => {
  const count = isLong ? 20 : 6;
  const lines = Array.from({ length: 200 }, (_, line) => `line ${line}`);
  const root = repository({ 'shared.txt': `${lines.join('\n')}\n`, 'same.txt': 'start\n' });
  let reports: string[] = [];
  const worker =
    (index: number): Role =>
    (_, turn) =>
      turn === 0
        ? {
            calls: [
              shell(
                `sed -i 's/^line ${index * 10}$/changed by ${index}/' shared.txt; echo ${index} > own-${index}.txt; echo mine ${index} > same.txt`,
              ),
            ],
          }
        : { text: `worker ${index} done` };
  const roles: Record<string, Role> = Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`worker number ${index}.`, worker(index)]),
  );
  const model = cast({
    'lead the work': (request, turn) => {
      if (turn === 0)
        return {
          calls: Array.from({ length: count }, (_, index) => isolated(`You are worker number ${index}.`, true)),
        };
      const texts = request.history.flatMap(({ parts }) => parts.map(({ text = '' }) => text));
      reports = texts.filter((text) => text.startsWith('[Background task'));
      return { text: 'all in' };
    },
    ...roles,
  });
  const head = git(root, 'rev-parse', 'HEAD');
  const { agent, left } = await open(root, model);
  await endOf(agent, 'lead the work');
  expect(reports).toHaveLength(count);
  const shared = readFileSync(join(root, 'shared.txt'), 'utf8');
  for (let index = 0; index < count; index++) {
    expect(shared).toContain(`changed by ${index}\n`);
    expect(readFileSync(join(root, `own-${index}.txt`), 'utf8')).toBe(`${index}\n`);
  }
  const winner = readFileSync(join(root, 'same.txt'), 'utf8').trim();
  const losers = reports.filter((text) => text.includes('Conflict, not applied'));
  const appliers = reports.filter((text) => /applied to: .*same\.txt/.test(text));
  // One that started after another had ended builds on its result, which is not a conflict.
  expect(losers.length + appliers.length).toBe(count);
  expect(losers.length).toBeGreaterThan(0);
  for (const text of losers) expect(text).toMatch(/\+mine \d+/);
  expect(appliers.join()).toContain(`worker ${winner.slice(5)} done`);
  expect(git(root, 'rev-parse', 'HEAD')).toBe(head);
  expect(git(root, 'for-each-ref', '--format=%(refname)').trim()).toBe('refs/heads/main');
  expect(git(root, 'fsck', '--strict')).toBe('');
  expect(left()).toEqual([]);
  report('worktrees', count, { conflicts: losers.length });
}, 120_000);

test('outside a repository it is refused', async () => {
  const root = tempDirectory({ 'a.txt': 'a' });
  const model = cast({ 'lead the work': boss(isolated('change things')) });
  const { agent } = await open(root, model);
  expect((await endOf(agent, 'lead the work')).text).toContain('git init');
});

test('submodules and a repository in a subdirectory do not get in the way', async () => {
  const inner = repository({ 'i.txt': 'i\n' });
  const top = repository({ 'pkg/a.txt': 'a\n', 'other.txt': 'o\n' });
  git(top, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', inner, 'mod');
  git(top, 'commit', '-qm', 'module');
  mkdirSync(join(top, 'node_modules'));
  chmodSync(join(top, 'node_modules'), 0o755);
  const model = cast({
    'lead the work': boss(isolated('change things')),
    'change things': (request, turn) =>
      turn === 0 ? { calls: [shell('pwd; ls -a; ls ..; echo more >> a.txt')] } : { text: lastText(request) },
  });
  const { agent } = await open(join(top, 'pkg'), model);
  const end = await endOf(agent, 'lead the work');
  expect(end.text).toContain('other.txt');
  expect(end.text).toContain('applied to: pkg/a.txt');
  expect(readFileSync(join(top, 'pkg/a.txt'), 'utf8')).toBe('a\nmore\n');
});
