import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { group } from '../case.mjs';
import { load, send } from '../http-load.mjs';

const program = join(import.meta.dirname, '..', '..', 'packages', 'cli', 'dist', 'main.cjs');
const connections = 200;

/** The least that any server does with such a request: read it, parse it, and answer with as many bytes as ours. */
const bare = `
const { createServer } = require('node:http');
const answer = JSON.stringify({ jsonrpc: '2.0', id: 1, result: 'x'.repeat(Number(process.argv[1])) });
createServer((request, response) => {
  let text = '';
  request.on('data', (piece) => (text += piece));
  request.on('end', () => {
    JSON.parse(text);
    response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
  });
}).listen(0, '127.0.0.1', function () { console.error('serving http://127.0.0.1:' + this.address().port + '/mcp\\nBearer none\\n'); });
`;

async function start(args, cwd) {
  const env = { PATH: process.env.PATH, HOME: cwd };
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] });
  let told = '';
  child.stderr.setEncoding('utf8');
  for await (const piece of child.stderr) {
    told += piece;
    const [, url, token] = /serving (\S+)\n[\s\S]*Bearer (\S+)\n/.exec(told) ?? [];
    if (url) return { child, url, token };
  }
  throw new Error(`the server ended: ${told}`);
}

const base = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
const message = (method, params = {}) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });

/** A session of our server, and the request that is repeated: what a client asks first. */
async function open(cwd) {
  const { child, url, token } = await start([program, 'serve', '--http'], cwd);
  const headers = { ...base, authorization: `Bearer ${token}` };
  const clientInfo = { name: 'bench', version: '1' };
  const hello = message('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  const { headers: answered } = await send({ url, headers, body: hello });
  const session = { 'mcp-session-id': answered['mcp-session-id'], 'mcp-protocol-version': '2025-11-25' };
  const request = { url, headers: { ...headers, ...session }, body: message('tools/list') };
  const { text } = await send(request);
  return { child, request, bytes: text.length };
}

/** Resident megabytes of a process. */
function residentMb(pid) {
  const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

/** The least memory within half a minute after the work: V8 gives it back when it is idle. */
async function memoryAfter(pid, before) {
  let least = Infinity;
  for (let second = 0; second < 30 && least - before > 16; second++) {
    least = Math.min(least, residentMb(pid));
    if (least - before > 16) await wait(1_000);
  }
  return Math.max(0, least - before);
}

async function contestant(child, request, isQuick) {
  const count = isQuick ? 2_000 : 10_000;
  // The same connections for all: a server that limits them sees those of the last round for a moment.
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  // The first requests load what the server needs for them, and V8 compiles it.
  await load({ ...request, count: 1_000, connections, agent });
  const before = residentMb(child.pid);
  return {
    run: async () => {
      const { p99, failures } = await load({ ...request, count, connections, agent });
      if (failures > 0) throw new Error(`${failures} of ${count} requests failed`);
      return { time: p99, memory: await memoryAfter(child.pid, before), stall: 0, output: '' };
    },
    close: async () => {
      agent.destroy();
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

export const cases = group('http', [
  {
    name: `99 of 100 requests to our HTTP server, over ${connections} connections`,
    note: '10,000 requests; raw is a bare Node server that parses each request and answers with as many bytes',
    contestants: {
      raw: async ({ scratch, isQuick }) => {
        const ours = await open(scratch);
        ours.child.kill('SIGKILL');
        const { child, url } = await start(['-e', bare, String(ours.bytes)], scratch);
        return contestant(child, { url, headers: base, body: message('tools/list') }, isQuick);
      },
      lathe: async ({ scratch, isQuick }) => {
        const { child, request } = await open(scratch);
        return contestant(child, request, isQuick);
      },
    },
    goals: [
      { metric: 'time', than: 'raw', limit: 20, guard: 60 },
      { metric: 'memory', limit: 32 },
    ],
    timeoutMs: 180_000,
    rounds: 3,
    isQuick: true,
  },
]);
