import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FunctionCall } from '../packages/core/src/contract/content.js';
import { badMcpServer } from './bad-mcp-servers.js';
import type { ServerRequest, ServerTurn } from './model-server.js';

const project = {
  'a.txt': 'alpha\nbeta\n',
  'src/one.ts': 'export const one = 1;\n'.repeat(200),
  'src/two.ts': 'export const two = 2;\n'.repeat(2000),
  'list.mjs': `console.log(JSON.stringify([{ name: 'project_echo', description: 'Echoes.', parameters: { type: 'object', properties: {} } }]))`,
  'call.mjs': 'process.stdin.resume(); process.stdin.on("end", () => console.log("called"))',
};

/** The files of a project to work in, and the settings of a person who works there. */
export const soakProject = {
  files: project,
  settings: (pagePort: number) => ({
    mcpServers: { echo: { command: process.execPath, args: [badMcpServer, 'none'], trust: true } },
    permissions: { allow: [`web_fetch(127.0.0.1:${pagePort})`] },
    tools: {
      approvalMode: 'yolo',
      toolDiscoveryCommand: `${process.execPath} list.mjs`,
      toolCallCommand: `${process.execPath} call.mjs`,
    },
    model: { contextWindow: 40_000, skipLoopDetection: true },
  }),
};

type Turn = (n: number) => [name: string, args: Record<string, unknown>][];

/** One turn after the other, every kind of tool and every kind of mishap. */
function turns(root: string, pageUrl: string): Turn[] {
  const at = (name: string) => join(root, name);
  const shell = (command: string, more: object = {}): [string, Record<string, unknown>] => [
    'run_shell_command',
    { command, ...more },
  ];
  return [
    () => [['list_directory', { path: root }]],
    () => [
      ['read_file', { absolute_path: at('a.txt') }],
      ['read_file', { absolute_path: at('src/two.ts'), offset: 100, limit: 50 }],
      ['glob', { pattern: '**/*.ts' }],
      ['grep_search', { pattern: 'const (one|two)' }],
    ],
    (n) => [['write_file', { file_path: at(`made/${n % 20}.txt`), content: `round ${n}\n${'text\n'.repeat(500)}` }]],
    (n) => [['edit', { file_path: at(`made/${n % 20}.txt`), old_string: `round ${n}\n`, new_string: `edited ${n}\n` }]],
    () => [['edit', { file_path: at('a.txt'), old_string: 'not there', new_string: 'x' }]],
    () => [['read_many_files', { paths: ['src/**/*.ts', 'made/*.txt'] }]],
    () => [shell('echo hi; ls -la; cat src/one.ts | head -3')],
    () => [shell('seq 1 20000')],
    () => [shell('sleep 60', { timeout: 100 })],
    () => [shell('sleep 600', { is_background: true })],
    (n) => [shell('bg list'), ...[1, 2, 3, 4].map((k) => shell(`bg stop bg_${Math.max(1, n - 3 + k)}`))],
    () => [shell('(setsid sleep 600 >/dev/null 2>&1 &); echo left something behind')],
    () => [['web_fetch', { url: pageUrl, prompt: 'What does it say?' }]],
    (n) => [['save_memory', { fact: `Fact number ${n % 10}.`, scope: 'project' }]],
    (n) => [['todo_write', { todos: [{ id: '1', content: `step ${n}`, status: 'in_progress' }] }]],
    (n) => [
      ['task', { description: 'look', prompt: `soak-task ${n}`, subagent_type: 'general-purpose' }],
      ['task', { description: 'look', prompt: `soak-task ${n} too`, subagent_type: 'general-purpose' }],
    ],
    () => [
      ['echo__echo', {}],
      ['project_echo', {}],
    ],
    () => [
      ['no_such_tool', { a: 1 }],
      ['grep_search', { pattern: '(' }],
      ['read_file', { absolute_path: at('gone.txt') }],
      ['edit', { file_path: 7 }],
    ],
  ];
}

/**
 * A model that goes through all turns and then says that it is done, over and over; now and then its connection breaks.
 * Subagents look around once; a request without tools gets a summary.
 */
export function soakModel(root: string, pageUrl: string): (request: ServerRequest) => ServerTurn {
  const all = turns(root, pageUrl);
  let [turn, round, requests] = [0, 0, 0];
  const called = (calls: ReturnType<Turn>): FunctionCall[] =>
    calls.map(([name, args], index) => ({ id: `call_${requests}_${index}`, name, args }));
  return ({ body }) => {
    requests += 1;
    const text = JSON.stringify(body['messages'] ?? '');
    const usage = { input: Math.round(text.length / 4), output: 20 };
    if (!Array.isArray(body['tools']) || body['tools'].length === 0) return { text: 'A summary of it all.', usage };
    if (requests % 211 === 0) return { text: 'cut off', fault: { kind: 'reset', afterBytes: 60 } };
    if (requests % 307 === 0) return { fault: { kind: 'status', status: 503 } };
    if (/"user","content":[^}]{0,2000}soak-task/.test(text)) {
      const isDone = text.includes('"role":"tool"');
      return isDone ? { text: 'Looked.', usage } : { calls: calledBy(called([['glob', { pattern: '**/*' }]])), usage };
    }
    const calls = all[turn]?.(round);
    turn = calls ? turn + 1 : 0;
    if (calls) return { calls: calledBy(called(calls)), usage };
    round += 1;
    return { text: `Round ${round} is done.`, usage };
  };
}

const calledBy = (calls: FunctionCall[]) => calls.map(({ id = '', name = '', args }) => ({ id, name, args }));

/** What a process holds open, and the processes under it. */
export function holdings(): { files: number; children: number } {
  return { files: readdirSync('/proc/self/fd').length, children: descendants().length };
}

function descendants(): number[] {
  const parents = new Map<number, number>();
  for (const pid of readdirSync('/proc').map(Number).filter(Boolean)) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      parents.set(pid, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // It ended meanwhile.
    }
  }
  const isOurs = (pid: number): boolean => {
    const parent = parents.get(pid) ?? 0;
    return parent === process.pid || (parent > 1 && isOurs(parent));
  };
  return [...parents.keys()].filter((pid) => isOurs(pid));
}
