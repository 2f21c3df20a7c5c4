// How long a key takes to show on the screen while a command prints 50 MB, beside the same with nothing going on, and how
// soon the first prompt is there. Run after a build: node bench/terminal.mjs [other program and its arguments]

import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';

const program = join(import.meta.dirname, '..', 'packages', 'cli', 'dist', 'main.js');
const keys = 120;
const pauseMs = 25;
const flood = 'yes 0123456789012345678901234567890123456789012345678 | head -c 50000000; sleep 8';

const server = createServer((request, response) => {
  request.resume().on('end', () => answer(response));
}).listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const other = process.argv.slice(2);

const rows = [await echo('idle', []), await echo('while 50 MB are printed', ['--approval-mode', 'yolo', 'go'])];
for (const { name, p50, p99, max } of rows)
  console.log(`key to echo, ${name.padEnd(24)} p50 ${p50} ms  p99 ${p99} ms  max ${max} ms`);

const starts = { lathe: [], other: [] };
for (let round = 0; round < 5; round++) {
  starts.lathe.push(await firstPrompt([process.execPath, program], 'Ask for anything'));
  if (other.length > 0) starts.other.push(await firstPrompt(other, 'Type your message'));
}
for (const [name, times] of Object.entries(starts))
  if (times.length > 0)
    console.log(`first prompt, ${name.padEnd(8)} ${median(times).toFixed(0)} ms (${times.map(Math.round).join(', ')})`);
server.close();
process.exit(rows[1].p99 < 16 ? 0 : 1);

/** Types a letter at a time and waits until the screen shows it. */
async function echo(name, args) {
  const at = open([process.execPath, program, ...args]);
  await at.shows(args.length > 0 ? 'run_shell_command' : 'Ask for anything');
  await pause(args.length > 0 ? 300 : 1000);
  const times = [];
  let typed = '';
  for (let index = 0; index < keys; index++) {
    const key = String.fromCharCode(97 + (index % 26));
    typed += key;
    const begin = performance.now();
    at.type(key);
    await at.shows(typed);
    times.push(performance.now() - begin);
    await pause(pauseMs);
  }
  at.kill();
  times.sort((a, b) => a - b);
  const share = (part) => times[Math.min(times.length - 1, Math.floor(part * times.length))].toFixed(1);
  return { name, p50: share(0.5), p99: share(0.99), max: share(1) };
}

async function firstPrompt(command, wanted) {
  const begin = performance.now();
  const at = open(command);
  await at.shows(wanted);
  const time = performance.now() - begin;
  at.kill();
  return time;
}

function open([file, ...args]) {
  const home = mkdtempSync(join(tmpdir(), 'lathe-bench-'));
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    TERM: 'xterm-256color',
    OPENAI_API_KEY: 'sk-test-0123456789abcdef',
    OPENAI_BASE_URL: `http://127.0.0.1:${server.address().port}/v1`,
    OPENAI_MODEL: 'scripted',
  };
  const child = spawn(file, args, { cols: 200, rows: 40, cwd: home, env });
  let seen = '';
  let wanted;
  child.onData((data) => {
    seen = (seen + data).slice(-20_000);
    if (wanted && seen.includes(wanted.text)) {
      wanted.resolve();
      wanted = undefined;
    }
  });
  return {
    type: (text) => {
      seen = '';
      child.write(text);
    },
    kill: () => child.kill('SIGKILL'),
    shows: (text) =>
      new Promise((resolve, reject) => {
        if (seen.includes(text)) return resolve();
        const timer = setTimeout(() => reject(new Error(`not shown: ${text}\n${seen}`)), 60_000);
        wanted = { text, resolve: () => resolve(clearTimeout(timer)) };
      }),
  };
}

/** A model that runs the flood, once. */
function answer(response) {
  const call = {
    index: 0,
    id: 'call-1',
    type: 'function',
    function: { name: 'run_shell_command', arguments: JSON.stringify({ command: flood }) },
  };
  const chunk = (delta, reason) =>
    `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`${chunk({ role: 'assistant', tool_calls: [call] }, null)}${chunk({}, 'tool_calls')}data: [DONE]\n\n`);
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
