// A person answers in the browser: node server.mjs [directory]
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { createLathe } from '@lathe/core';

const cwd = resolve(process.argv[2] ?? '.');
// Only who knows the address can answer. A page of another site does not.
const secret = `/${randomUUID()}`;
const open = new Map();

const approver = {
  decide: (request, signal) =>
    new Promise((answer) => {
      open.set(request.callId, { request, answer });
      signal.addEventListener('abort', () => answer({ outcome: 'deny' }), { once: true });
    }).finally(() => open.delete(request.callId)),
};

const escape = (text) => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
const form = ([id, { request }]) => `<form method="post"><h2>${escape(request.confirmation.title)}</h2>
  <pre>${escape(request.confirmation.fileDiff ?? request.description)}</pre><p>${escape(request.reason)}</p>
  <input type="hidden" name="id" value="${escape(id)}">
  <button name="outcome" value="once">Yes</button> <button name="outcome" value="deny">No</button></form>`;

async function handle(request, response) {
  if (request.url !== secret) return void response.writeHead(404).end();
  if (request.method !== 'POST')
    return void response.setHeader('content-type', 'text/html; charset=utf-8').end([...open].map(form).join('') || '…');
  const fields = new URLSearchParams(Buffer.concat(await request.toArray()).toString());
  open.get(fields.get('id'))?.answer({ outcome: fields.get('outcome') === 'once' ? 'once' : 'deny' });
  response.writeHead(303, { location: secret }).end();
}

const server = createServer((request, response) => void handle(request, response).catch(() => response.destroy()));
await once(server.listen(0, '127.0.0.1'), 'listening');

const lathe = await createLathe({ cwd, env: process.env, approver });
console.log(`Answer at http://127.0.0.1:${server.address().port}${secret}`);
const args = { file_path: join(cwd, 'hello.txt'), content: 'Hello\n' };
const [outcome] = await lathe.run([{ name: 'write_file', args }], AbortSignal.timeout(300_000));
console.log(`${outcome.status}: ${outcome.description}`);
await lathe.close();
server.closeAllConnections();
server.close();
