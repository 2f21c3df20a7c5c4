import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { group } from '../case.mjs';
import { openLivePage } from '../live-page.mjs';
import { modelStub } from '../model-stub.mjs';

const program = join(import.meta.dirname, '..', '..', 'packages', 'cli', 'dist', 'main.cjs');
const megabytes = 50;
const print = `head -c ${megabytes * 1024 * 1024} /dev/zero | tr '\\0' 'x' | fold -w 100; sleep 1`;

/** The least that any server does: it runs the same command, sends the time as often as ours does, and has a page that shows it. */
const bare = `
const page = \`<p></p><script>(async () => {
  const { body } = await fetch('/events');
  for await (const text of body.pipeThrough(new TextDecoderStream()))
    requestAnimationFrame(() => (document.querySelector('p').textContent = text));
})()</script>\`;
require('node:http').createServer(({ url }, response) => {
  response.writeHead(200, { 'content-type': url === '/events' ? 'text/event-stream' : 'text/html' });
  if (url !== '/events') return response.end(page);
  const send = (event) => response.write('data: ' + JSON.stringify({ time: Date.now(), ...event }) + '\\n\\n');
  const timer = setInterval(send, 5);
  const child = require('node:child_process').spawn('sh', ['-c', process.argv[1]]).on('exit', () => {
    clearInterval(timer);
    send({ type: 'prompt-end' });
  });
  child.stdout.resume();
}).listen(0, '127.0.0.1', function () { console.log('serving http://127.0.0.1:' + this.address().port + '/#token=none'); });
`;

async function start(args, cwd, env = {}) {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = await once(child.stdout, 'data');
  const [, origin, token] = /serving (\S+)\/#token=(\S+)/.exec(String(line)) ?? [];
  if (!origin) throw new Error(`the server says ${line}`);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const send = (method, path, body) =>
    fetch(`${origin}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return { child, send, address: `${origin}/#token=${token}` };
}

/** How long the events took that arrive until the prompt ends; the client runs in this process. */
async function delays({ send }, path) {
  const { body } = await send('GET', path);
  const found = [];
  let rest = '';
  for await (const bytes of body.pipeThrough(new TextDecoderStream())) {
    const now = Date.now();
    const blocks = (rest + bytes).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const time = /"time":(\d+)/.exec(block)?.[1];
      if (time !== undefined) found.push(now - Number(time));
      if (block.includes('"type":"prompt-end"')) return found.toSorted((a, b) => a - b);
    }
  }
  throw new Error('the events ended');
}

const p99 = (sorted) => sorted[Math.floor(sorted.length * 0.99)];

function peakMb(pid) {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

async function end({ child }) {
  child.kill('SIGTERM');
  await once(child, 'exit');
}

/** A command prints, and somebody changes the effort all the time, so that there are many events to measure. */
async function follow(server, stub, listen = listenHere) {
  const { child, send } = server;
  stub.reset({ turns: 1, width: 1, call: () => ({ name: 'run_shell_command', args: { command: print } }) });
  const { id } = await (await send('POST', '/v1/sessions', {})).json();
  const path = `/v1/sessions/${id}`;
  const before = peakMb(child.pid);
  const reader = await listen(server, id);
  await send('POST', `${path}/prompt`, { text: 'go' });
  const done = { isReached: false };
  const changing = (async () => {
    for (let count = 0; ; count++) {
      if (done.isReached) return;
      await (await send('PATCH', path, { effort: count % 2 ? 'low' : 'high' })).text();
      await wait(5);
    }
  })();
  const found = await reader.delays();
  await reader.close?.();
  done.isReached = true;
  await changing;
  await send('POST', `${path}/close`);
  return {
    time: p99(found),
    memory: Math.max(0, peakMb(child.pid) - before),
    stall: 0,
    output: `${found.length} events`,
  };
}

/** The client runs in this process. */
async function listenHere(server, id) {
  const following = delays(server, id ? `/v1/sessions/${id}/events` : '/events');
  return { delays: () => following };
}

/** The live page in a browser: until its script has the event, or until the frame that shows it. */
const listenInPage =
  (until) =>
  async ({ address }, id) => {
    const { delays: read, close } = await openLivePage(`${address}&session=${id ?? ''}`);
    return { delays: async () => (await read())[until], close };
  };

async function rawContestant({ scratch }, listen = listenHere) {
  const server = await start(['-e', bare, print], scratch);
  const run = async () => {
    const reader = await listen(server);
    const found = await reader.delays();
    await reader.close?.();
    return { time: p99(found), memory: 0, stall: 0, output: `${found.length} events` };
  };
  return { run, close: () => end(server) };
}

async function latheContestant({ scratch }, listen) {
  const stub = await modelStub();
  const server = await start([program, '--yolo', 'serve', '--agent'], scratch, modelVariables(stub));
  const close = async () => {
    await end(server);
    stub.close();
  };
  return { run: () => follow(server, stub, listen), close };
}

/** How long `lathe acp` takes to answer an editor that changes the effort all the time, while a command prints. */
async function acpContestant({ scratch }) {
  const stub = await modelStub();
  const env = { PATH: process.env.PATH, HOME: scratch, ...modelVariables(stub) };
  const stdio = ['pipe', 'pipe', 'ignore'];
  const child = spawn(process.execPath, [program, '--yolo', 'acp'], { cwd: scratch, env, stdio });
  const waiting = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, method, result, error } = JSON.parse(line);
    if (method === undefined) waiting[id](result ?? Promise.reject(new Error(error.message)));
  });
  const request = (method, params) =>
    new Promise((resolve) => {
      const id = waiting.push(resolve) - 1;
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
  await request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  const run = async () => {
    stub.reset({ turns: 1, width: 1, call: () => ({ name: 'run_shell_command', args: { command: print } }) });
    const { sessionId } = await request('session/new', { cwd: scratch, mcpServers: [] });
    const before = peakMb(child.pid);
    const done = { isReached: false };
    const prompt = request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'go' }] });
    void prompt.then(() => (done.isReached = true));
    const found = [];
    while (!done.isReached) {
      const since = performance.now();
      const value = found.length % 2 ? 'low' : 'high';
      await request('session/set_config_option', { sessionId, configId: 'effort', value });
      found.push(performance.now() - since);
      await wait(5);
    }
    await prompt;
    const time = p99(found.toSorted((a, b) => a - b));
    return { time, memory: Math.max(0, peakMb(child.pid) - before), stall: 0, output: `${found.length} answers` };
  };
  const close = async () => {
    await end({ child });
    stub.close();
  };
  return { run, close };
}

const modelVariables = ({ url }) => ({ OPENAI_API_KEY: 'sk-none', OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: 'stub' });

export const cases = group('events', [
  {
    name: `99 of 100 events from a session to a reader while a command prints ${megabytes} MB`,
    note: 'from the moment in the server to that in the reader; raw is a bare Node server that runs the command and sends the time every 5 ms',
    contestants: {
      raw: (setup) => rawContestant(setup),
      lathe: (setup) => latheContestant(setup),
    },
    goals: [
      { metric: 'time', limit: 50, guard: 200 },
      { metric: 'memory', limit: 64 },
    ],
    timeoutMs: 120_000,
    rounds: 3,
    isQuick: true,
  },
  {
    name: `99 of 100 events from a session to the live page while a command prints ${megabytes} MB`,
    note: 'until the script of the page in headless Chromium has the event; raw is a page that shows only the time',
    contestants: {
      raw: (setup) => rawContestant(setup, listenInPage('script')),
      lathe: (setup) => latheContestant(setup, listenInPage('script')),
    },
    goals: [
      { metric: 'time', limit: 50, guard: 200 },
      { metric: 'memory', limit: 64 },
    ],
    timeoutMs: 180_000,
    rounds: 3,
  },
  {
    name: `99 of 100 events from a session to the frame that shows them while a command prints ${megabytes} MB`,
    note: 'in the live page in headless Chromium, which draws without a graphics card; raw is a page that shows only the time',
    contestants: {
      raw: (setup) => rawContestant(setup, listenInPage('frame')),
      lathe: (setup) => latheContestant(setup, listenInPage('frame')),
    },
    goals: [{ metric: 'time', limit: 50, guard: 200 }],
    timeoutMs: 180_000,
    rounds: 3,
  },
  {
    name: `99 of 100 answers to an editor while a command prints ${megabytes} MB`,
    note: 'over ACP, from the request of the editor to the answer',
    contestants: { lathe: acpContestant },
    goals: [
      { metric: 'time', limit: 50, guard: 200 },
      { metric: 'memory', limit: 64 },
    ],
    timeoutMs: 120_000,
    rounds: 3,
  },
]);
