import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAgentLathe, openSession, openWorktree, SessionStore } from '../../packages/agent/dist/index.js';
import { drained, group } from '../case.mjs';

const program = join(import.meta.dirname, '..', '..', 'packages', 'cli', 'dist', 'main.cjs');
const never = new AbortController().signal;
const megabytes = ({ isQuick }) => (isQuick ? 20 : 200);
const subagents = 20;

export const cases = group('sessions', [
  {
    name: 'snapshot of a kernel tree after one edit',
    note: 'raw is git status after the same edit',
    corpora: ['linux'],
    contestants: {
      raw: async ({ corpora }) => ({ prepare: edits(corpora), run: () => git(corpora, 'status', '--porcelain') }),
      lathe: async (place) => {
        const { rewind, close } = await openLathe(place, join(place.corpora, 'linux'));
        const run = async () => (await rewind.snapshots.take(never)).tree;
        await run();
        return { prepare: edits(place.corpora), run, close };
      },
    },
    goals: [{ metric: 'time', than: 'raw', limit: 1.3, guard: 8 }],
    isQuick: true,
  },
  {
    name: 'open a worktree of a source tree',
    note: 'raw is git worktree add',
    corpora: ['ts'],
    contestants: {
      raw: async ({ corpora, scratch }) => {
        const cwd = cloneOf(join(corpora, 'ts'), scratch);
        let count = 0;
        return { run: () => drained('git', ['worktree', 'add', '--detach', join(scratch, `w${count++}`)], { cwd }) };
      },
      lathe: async (place) => {
        const root = cloneOf(join(place.corpora, 'ts'), place.scratch);
        const lathe = await openLathe(place, root);
        const run = async () => (await openWorktree(lathe, { kind: 'session' }, never)).cwd;
        return { run, close: lathe.close };
      },
    },
    goals: [{ metric: 'time', than: 'raw', limit: 3, guard: 12 }],
    isQuick: true,
  },
  {
    name: 'resume a session of 200 MB',
    note: 'raw reads the file; we check and parse every record',
    contestants: {
      raw: async (place) => {
        const { path } = await longSession(place);
        return { run: () => String(readFileSync(path).length) };
      },
      lathe: async (place) => {
        const { store, id } = await longSession(place);
        return { run: async () => String((await store.load(id)).messages.length) };
      },
    },
    goals: [{ metric: 'time', than: 'raw', limit: 8, guard: 40 }],
    isQuick: true,
  },
  {
    name: 'write the page of a session of 200 MB',
    note: 'lathe view, from its start to its end; raw reads the file',
    contestants: {
      raw: async (place) => {
        const { path } = await longSession(place);
        return { run: () => String(readFileSync(path).length) };
      },
      lathe: async (place) => {
        const { id } = await longSession(place);
        const env = { PATH: process.env.PATH, HOME: place.scratch };
        const args = [program, 'view', id, '--out', join(place.scratch, 'page.html')];
        return { run: () => drained(process.execPath, args, { cwd: place.scratch, env }) };
      },
    },
    goals: [{ metric: 'time', than: 'raw', limit: 40 }],
    rounds: 3,
  },
  {
    name: `memory of each of ${subagents} subagents at once`,
    unit: 'MB',
    contestants: { lathe: async (place) => ({ run: () => memoryOfSubagents(place) }) },
    goals: [{ metric: 'count', limit: 8, guard: 16 }],
    rounds: 3,
    isQuick: true,
  },
]);

/** Changes one file of the tree before each run. */
function edits(corpora) {
  const file = join(corpora, 'linux', 'lathe-bench.txt');
  return () => writeFileSync(file, `${Math.random()}\n`);
}

const git = (corpora, ...args) => drained('git', args, { cwd: join(corpora, 'linux') });

function openLathe({ scratch }, cwd) {
  return createAgentLathe({
    cwd,
    home: scratch,
    latheHome: join(scratch, '.lathe'),
    env: { PATH: process.env.PATH },
    flags: { 'tools.approvalMode': 'yolo', 'tools.sandbox.mode': 'off', 'agents.maxParallel': subagents },
  });
}

/** A repository of the same files with one commit. */
function cloneOf(tree, scratch) {
  const cwd = join(scratch, 'repository');
  execFileSync('cp', ['-r', tree, cwd]);
  if (readdirSync(cwd).includes('.git')) return cwd;
  const author = ['-c', 'user.name=bench', '-c', 'user.email=bench@example.org'];
  for (const args of [
    ['init', '-q'],
    ['add', '-A'],
    [...author, 'commit', '-qm', 'all'],
  ])
    execFileSync('git', args, { cwd });
  return cwd;
}

/** A session whose prompts each read a file, compacted now and then as a real one of this size is. */
async function longSession(place) {
  const { home, close } = await openLathe(place, place.scratch);
  const store = await SessionStore.open(home, place.scratch);
  const { id, transcript } = store.create({ model: 'stub', secrets: [], onProblem: () => {} });
  const output = 'const value = compute(first, second, third);\n'.repeat(400);
  const bytes = megabytes(place) * 2 ** 20;
  for (let turn = 0; turn * output.length < bytes; turn++) {
    const message = (role, part) => transcript.append({ type: 'message', message: { role, parts: [part] } });
    if (turn % 500 === 499)
      transcript.append({ type: 'history', messages: [{ role: 'user', parts: [{ text: 'so far' }] }] });
    message('user', { text: `read file ${turn}` });
    message('model', { functionCall: { id: `c${turn}`, name: 'read_file', args: { absolute_path: `/f${turn}` } } });
    message('tool', { functionResponse: { id: `c${turn}`, name: 'read_file', response: { output } } });
    message('model', { text: 'done' });
  }
  await transcript.close();
  await close();
  return { store, id, path: transcript.path };
}

/** What the process holds while all subagents wait for their model, above what it held before, by subagent. */
async function memoryOfSubagents(place) {
  mkdirSync(join(place.scratch, 'project'), { recursive: true });
  const lathe = await openLathe(place, join(place.scratch, 'project'));
  let [waiting, before, peak] = [0, 0, 0];
  let release = () => {};
  const all = new Promise((resolve) => (release = resolve));
  const calls = Array.from({ length: subagents }, (_, n) => ({
    id: `t${n}`,
    name: 'task',
    args: { description: `part ${n}`, prompt: 'wait', subagent_type: 'general-purpose', background: true },
  }));
  const answer = async (history) => {
    const isParent = JSON.stringify(history[0]).includes('start them');
    if (isParent && before === 0) {
      before = held();
      return calls.map((functionCall) => ({ functionCall }));
    }
    if (!isParent) {
      if (++waiting === subagents) {
        peak = held();
        release();
      }
      await all;
    }
    return [{ text: 'done' }];
  };
  const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 };
  const model = {
    id: 'stub',
    provider: 'stub',
    contextWindow: 128_000,
    supports: { images: false, tools: true, pdf: false },
    async *stream({ history }) {
      const parts = await answer(history);
      for (const { functionCall, text } of parts)
        yield functionCall ? { type: 'call', call: functionCall } : { type: 'text-delta', text };
      const reason = parts[0].functionCall ? 'calls' : 'stop';
      yield { type: 'finish', reason, usage, message: { role: 'model', parts } };
    },
  };
  const session = await openSession(lathe, { model });
  for await (const event of session.prompt('start them', never)) void event;
  await all;
  await session.close();
  await lathe.close();
  if (waiting < subagents) throw new Error(`${waiting} of ${subagents} subagents ran at once`);
  return { count: Math.max(0, peak - before) / subagents, memory: 0, stall: 0, time: 1, output: '' };
}

function held() {
  globalThis.gc();
  return process.memoryUsage().rss / 2 ** 20;
}
