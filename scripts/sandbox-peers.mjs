// The attacks on our sandbox, against the sandboxes of others too: writes docs/sandbox-comparison.md.
//   node scripts/sandbox-peers.mjs [--only lathe,codex,srt,none] [--results DIR]
// The others are installed below bench/.work; srt also needs socat. Results are kept, so that --only runs one contestant again.
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'rolldown';

const root = join(import.meta.dirname, '..');
const cache = join(root, 'bench/.work/sandbox-peers');
const page = join(root, 'docs/sandbox-comparison.md');
const packages = { '@openai/codex': '0.169.0', '@anthropic-ai/sandbox-runtime': '0.0.83' };
const bin = (name) => join(cache, 'node_modules/.bin', name);
/** What the documentation of srt shows as its first configuration, and no network. */
const srtSettings = {
  network: { allowedDomains: [], deniedDomains: [] },
  filesystem: { denyRead: ['~/.ssh'], allowWrite: ['.'], denyWrite: [] },
};
const contestants = {
  lathe: {},
  codex: {
    wrapper: [bin('codex'), 'sandbox', '-c', 'sandbox_mode="workspace-write"', '--'],
    env: { CODEX_HOME: join(cache, 'codex-home') },
  },
  srt: { wrapper: [bin('srt'), '--settings', join(cache, 'srt.json')] },
  none: { wrapper: [] },
};

/** Never as root: where an attack gets out, it must not reach the machine. */
const isRoot = process.getuid?.() === 0;
const ordinaryUser = 54321;
const asUser = isRoot ? ['setpriv', `--reuid=${ordinaryUser}`, `--regid=${ordinaryUser}`, '--clear-groups'] : [];

const { values } = parseArgs({ options: { only: { type: 'string' }, results: { type: 'string' } } });
const results = values.results ?? join(cache, 'results');
mkdirSync(results, { recursive: true });
const chosen = values.only?.split(',') ?? Object.keys(contestants);
if (chosen.some((name) => name !== 'none' && !existsSync(join(results, `${name}.jsonl`))) || values.only) {
  install();
  const script = await bundle();
  for (const name of chosen) await run(name, script);
}
write();

function install() {
  const wanted = Object.entries(packages).map(([name, version]) => `${name}@${version}`);
  if (!existsSync(bin('codex')) || !existsSync(bin('srt'))) {
    const flags = ['--no-audit', '--no-fund', '--prefix', cache];
    if (spawnSync('npm', ['install', ...flags, ...wanted], { stdio: 'inherit' }).status !== 0) process.exit(1);
  }
  mkdirSync(join(cache, 'codex-home'), { recursive: true });
  if (isRoot) chownSync(join(cache, 'codex-home'), ordinaryUser, ordinaryUser);
  mkdirSync(join(cache, 'bin'), { recursive: true });
  writeFileSync(join(cache, 'srt.json'), JSON.stringify(srtSettings));
  // srt needs ripgrep, which npm brought for us; it also needs socat, from the system.
  const ripgrep = join(root, 'node_modules/@vscode', `ripgrep-${process.platform}-${process.arch}`, 'bin/rg');
  if (existsSync(ripgrep) && !existsSync(join(cache, 'bin/rg'))) symlinkSync(ripgrep, join(cache, 'bin/rg'));
}

async function bundle() {
  const outfile = join(cache, 'run-attacks.cjs');
  await build({
    input: join(root, 'testing/children/run-attacks.ts'),
    platform: 'node',
    resolve: { mainFields: ['module', 'main'] },
    tsconfig: join(root, 'tsconfig.test.json'),
    output: { file: outfile, format: 'cjs', codeSplitting: false },
    logLevel: 'silent',
  });
  chmodSync(dirname(outfile), 0o755);
  return outfile;
}

/** Each attack in turn; about five minutes on an idle machine. */
async function run(name, script) {
  console.log(`attacks on ${name} …`);
  const path = [join(cache, 'bin'), process.env.PATH].join(delimiter);
  const options = JSON.stringify({ ...contestants[name], ...(isRoot && { places: makePlaces() }) });
  const [program, ...args] = [...asUser, process.execPath, script, options];
  const child = spawn(program, args, {
    cwd: '/',
    env: { ...process.env, PATH: path, HOME: cache },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout.pipe(createWriteStream(join(results, `${name}.jsonl`)));
  await new Promise((done) => child.once('close', done));
}

/** A place that sandboxes show, and one on another disk. */
function makePlaces() {
  const [shown, disk] = ['/opt', '/srv'].map((parent) => mkdtempSync(join(parent, 'lathe-attacks-')));
  for (const path of [shown, disk]) {
    chownSync(path, ordinaryUser, ordinaryUser);
    process.once('exit', () => rmSync(path, { recursive: true, force: true }));
  }
  return { shown, disk };
}

function read(name) {
  const file = join(results, `${name}.jsonl`);
  if (!existsSync(file)) return new Map();
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return new Map(lines.map((line) => JSON.parse(line)).map((one) => [`${one.area}: ${one.name}`, one]));
}

function write() {
  const tables = Object.fromEntries(Object.keys(contestants).map((name) => [name, read(name)]));
  const peers = ['lathe', 'codex', 'srt'];
  const rows = [...tables.lathe.values()];
  const count = (name, state) => rows.filter((row) => verdict(tables[name], row) === state).length;
  const lines = rows.map((row) => {
    const cells = peers.map((name) => verdict(tables[name], row));
    return `| ${row.area} | ${row.name.replaceAll('|', '\\|')} | ${cells.join(' | ')} | ${row.stoppedBy} |`;
  });
  const shown = rows.filter((row) => verdict(tables.none, row) === '**out**').length;
  const date = new Date().toISOString().slice(0, 10);
  writeFileSync(page, text({ date, count, lines, total: rows.length, shown }));
  console.log(`docs/sandbox-comparison.md: ${rows.length} attacks`);
}

function verdict(table, { area, name }) {
  const found = table.get(`${area}: ${name}`);
  if (found === undefined) return 'not run';
  if (found.state === 'not applicable') return 'n/a';
  if (found.state === 'no answer') return 'no answer';
  return found.achieved.length > 0 ? '**out**' : 'held';
}

function text({ date, count, lines, total, shown }) {
  const summary = ['lathe', 'codex', 'srt'].map((name) => {
    const cells = ['held', '**out**', 'n/a', 'no answer'].map((state) => count(name, state));
    return `| ${name} | ${cells.join(' | ')} |`;
  });
  return `# Sandboxes side by side

Use this page to see which attack each sandbox stops. \`node scripts/sandbox-peers.mjs\` runs the ${total} attacks of
\`testing/attacks\` on Linux, as an ordinary user, against three sandboxes and writes this page. The results are of ${date}.

| sandbox | version | configuration |
| ------- | ------- | ------------- |
| lathe | this repository | \`tools.sandbox: required\`, mode \`yolo\`, nobody to answer questions |
| codex | \`@openai/codex\` ${packages['@openai/codex']} | \`codex sandbox\` with \`sandbox_mode="workspace-write"\` |
| srt | \`@anthropic-ai/sandbox-runtime\` ${packages['@anthropic-ai/sandbox-runtime']} | \`allowWrite: ["."]\`, \`denyRead: ["~/.ssh"]\`, no network |

| sandbox | held | out | n/a | no answer |
| ------- | ---: | --: | --: | --------: |
${summary.join('\n')}

How to read it:

- **held**: the attack changed nothing that it must not change, read no secret and reached nobody.
- **out**: it did. That need not be a defect: codex and srt let commands read the whole disk unless configured otherwise, and their documentation says so.
- **n/a**: the attack is about names or rights that only Lathe has.
- **no answer**: the sandbox did not run the script.
- Without any sandbox ${shown} of the attacks get out. The rest either must not run without one (mounts, devices) or ask for something
  that this machine or user does not have.

| area | attack | lathe | codex | srt | what stops it in Lathe |
| ---- | ------ | ----- | ----- | --- | ---------------------- |
${lines.join('\n')}
`;
}
