// Writes docs/safety.md: every promise with the tests that prove it and the counts of the last long run.
// Fails when a test that is named here does not exist.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root, source, table, writePage } from './page.mjs';
import { areas } from './safety-areas.mjs';
import { labelledTests } from './safety-labels.mjs';

/** Tests as `file: the beginning of a title`, files below packages/ and without `.test.ts`. */
const promises = [
  {
    promise: 'Bytes outside an edit never change',
    how: 'Lathe finds the text in normalised form and replaces it in the original bytes. Encoding, byte order mark, mixed line endings and damaged bytes survive. A relaxed match must be unique, and the result names it.',
    tests: [
      'core/src/files/edit/splice: bytes outside an edit never change',
      'core/src/files/edit/splice: a byte sequence across two characters is not a match',
      'core/src/tools/write-file: damaged bytes of lines that are repeated',
    ],
    runs: ['edits of random files in which every byte outside the edit was compared'],
  },
  {
    promise: 'A file is old or new, never half written, and a reported success survives power loss',
    how: 'Lathe writes a temporary file in the same directory, flushes it, renames it and flushes the directory. The tests kill the process at every system call of a write, and let every system call fail. From a record of the system calls they also make the states that a power failure can leave: flushed data is there, everything else in any combination.',
    tests: [
      'core/src/tools/edit.fault: killed at any system call, the file is old or new',
      'core/src/tools/edit.fault: a system call that fails is a typed error, and the old file is intact',
      'core/src/files/write/durable-write: a full device and one without inodes keep the old file',
      'core/src/files/write/power-loss: after a power failure, %s is there or not, and can be undone',
    ],
    runs: [
      'kills of a write at a system call',
      'failing system calls in a write',
      'writes on a disk that fails again and again',
    ],
  },
  {
    promise: 'Freshness is judged by content, and no update is lost',
    how: 'A file is replaced only if the model has seen its present content. Time stamps decide nothing. Changes of one file take turns, also between processes.',
    tests: [
      'core/src/tools/write-file: freshness is judged by content',
      'core/src/tools/edit.fault: 200 parallel edits of one file from four processes are all made',
      'core/src/files/write/durable-write: a file replaced by another program since it was opened is not overwritten',
    ],
    runs: [],
  },
  {
    promise: 'Every change can be undone',
    how: 'A private journal with a size limit keeps the old content. Undo skips files that somebody else changed since, and names them.',
    tests: [
      'core/src/files/undo/journal: a whole turn is undone, file by file, back to where it began',
      'agent/src/rewind: going back to any prompt of a random session equals a copy taken then',
      'core/src/rewind/rewind: files that others changed since are left and named',
      'core/src/rewind/rewind: no program that a hostile repository names is run, and no setting of it counts',
      'core/src/rewind/rewind: a process killed in the middle of going back leaves old or new files, and the next one finishes',
      'core/src/files/undo/journal: a file that somebody else changed or removed is skipped',
      'core/src/files/undo/journal: a damaged entry or a lost content does not stop undo',
    ],
    runs: [],
  },
  {
    promise: 'One policy for every caller: in doubt it asks, and without a person it denies',
    how: 'Deny wins over ask, and ask over allow, for every part of a compound command. A real shell parser finds the parts. The tests execute generated commands that would run without a question under a tracer, and compare what they do with the prediction.',
    tests: [
      'core/src/policy/policy: deny beats ask beats allow in any order and any mode',
      'core/src/lathe/path-gate: why an edit fails tells nothing about a file that may not be read unasked',
      'core/src/lathe/protected-files: mode no protected path is written without a person, whatever the rules allow',
      'core/src/process/shell/shell-corpus: no dangerous command runs without approval',
      'cli/src/damaged-files: with damaged files the program does not crash, and deny rules still apply',
      'core/src/process/shell/differential: a command without approval executes only the predicted programs',
      "core/src/lathe/open-hooks: the user's own hooks run for every caller",
      "agent/src/agent-hooks: the person's own hooks apply to the calls of an agent",
    ],
    runs: ['generated shell commands run under a tracer', 'starts with damaged files'],
  },
  {
    promise: 'A command runs contained, and nothing survives it',
    how: 'Commands run in a sandbox of the operating system where there is one. After a cancellation, a timeout, an exit or the death of Lathe itself no process is left, however it hides.',
    tests: [
      'core/src/process/run/process-tree: aborts at random moments leave nothing',
      'core/src/process/run/process-tree: nothing is left when Lathe itself dies',
      'core/src/process/sandbox/sandbox: missing settings cannot be created',
      'core/src/process/sandbox/sandbox: no privileges inside, and a system call filter',
      'core/src/process/sandbox/sandbox-home: no place with keys can be read',
      'core/src/lathe/private-places: in yolo mode no tool reads a private place of the home directory unasked',
    ],
    runs: [
      'aborts at random moments (sandbox off)',
      'aborts at random moments (sandbox required)',
      'builds and test runs inside the sandbox',
    ],
  },
  {
    promise: 'Everything is bounded',
    how: 'Every file, output, server and model has a limit: see [limits.md](limits.md). An agent that works for an hour holds no more memory, descriptors or processes than after the first minutes.',
    tests: [
      'agent/src/soak: work leaves no descriptor and no process behind',
      'agent/src/soak: hours of work: memory, descriptors and processes stay flat',
      'core/src/mcp/client/bad-servers: the faults of a server affect no other server',
      'agent/src/models/http/mutated-streams: %s: damaged streams crash nothing and make no call that was not meant',
    ],
    runs: [
      'soak',
      'damaged model streams (openai)',
      'damaged model streams (ollama)',
      'damaged model streams (anthropic)',
      'damaged model streams (gemini)',
    ],
  },
  {
    promise: 'Nothing in an untrusted folder runs before its user agrees',
    how: 'Settings of a folder can make rules stricter at any time. Its commands, servers and hooks run only in a trusted folder. You agree to exactly what Lathe shows.',
    tests: [
      'cli/src/hostile-repository: in a hostile repository runs none of its programs and contacts none of its servers',
      'core/src/lathe/open-hooks: hooks of a folder run only when it is trusted and the user approved exactly these hooks',
      'core/src/lathe/protected-files: rules that a command writes into our settings have no effect',
      'core/src/policy/folder-trust: ',
    ],
    runs: [],
  },
  {
    promise: 'The web leads to nothing private',
    how: 'Lathe checks every address that a name resolves to, connects to a checked one, and judges every redirect again.',
    tests: [
      'core/src/web/http/rebinding: a name that answers differently each time gives nothing private',
      'core/src/web/http/url-check: ',
    ],
    runs: ['requests to names that answer differently each time'],
  },
  {
    promise: 'Small',
    how: 'Snapshots pin the text about tools that every model gets, and a test counts its tokens. `npm run bench` measures it [beside other agents](../bench/RESULTS.md).',
    tests: ['agent/src/declared-tools: declarations stay small'],
    runs: [],
  },
];

const runs = JSON.parse(source('docs/long-run.json'));

writePage(
  'safety.md',
  `# Safety: promises and their proof

Use this page to find the tests that prove a promise. [SECURITY.md](../SECURITY.md) says what Lathe does not promise.

\`npm test\` runs all of these tests, and a sample of the long ones. \`npm run test:long\` runs the long ones in full. Every random test prints
its seed, and \`LATHE_SEED\` repeats it. \`node scripts/safety-table.mjs\` writes this page, and fails if a test that it names does not exist.

## Promises

${promises.map(section).join('\n\n')}

## Attacks and faults

${table(['', 'Kind', 'Tests'], areas.map(areaRow))}

## Single checks

Numbered within their kind; the label stands in the title of the test or above it.

${table(['', 'Test', 'File'], labelledTests().map(labelRow))}
`,
  // A new test may carry a label before this page names it.
  { command: 'node scripts/safety-table.mjs', mayLack: true },
);

function section({ promise, how, tests, runs: names }) {
  const proofs = tests.map((test) => `- ${link(test)}`);
  const counts = names.map((name) => `- Last long run: ${countOf(name)}`);
  return [`### ${promise}`, '', how, '', ...proofs, ...counts].join('\n');
}

function link(test) {
  const [file, title = ''] = test.split(/: (.*)/s);
  const path = `packages/${file}.test.ts`;
  if (!source(path).includes(title)) throw new Error(`${path} has no test "${title}"`);
  return `[${title === '' ? file.split('/').at(-1) : title.replace(/^%s: /, '')}](../${path})`;
}

function countOf(name) {
  const run = runs[name];
  if (!run) return `${name}: not recorded yet (\`npm run test:long -- --record\`)`;
  const { count, date, seed, ...facts } = run;
  const more = Object.entries(facts).map(([key, value]) => `, ${key} ${value}`);
  const what = name === 'soak' ? 'tool calls in one process (soak)' : name;
  return `**${count.toLocaleString('en')}** ${what}, 0 failures${more.join('')} (${date}${seed === undefined ? '' : `, seed ${seed}`})`;
}

function areaRow([id, text, files]) {
  const paths = files.map((file) => pathOf(file));
  return [id, text, paths.map((path) => `[${nameOf(path)}](../${path})`).join(', ')];
}

function labelRow({ label, title, path }) {
  if (!areas.some(([id]) => label.startsWith(id))) throw new Error(`${path}: ${label} is of no kind`);
  const plain = title.replace(/[|<>*_`[\]]/g, String.raw`\$&`);
  return [label, plain, `[${nameOf(path)}](../${path})`];
}

/** The test file of this name, or a folder. */
function pathOf(file) {
  const folder = `packages/${file}`;
  if (statSync(join(root, folder), { throwIfNoEntry: false })?.isDirectory()) return folder;
  const path = `${folder}.test.ts`;
  if (!existsSync(join(root, path))) throw new Error(`there is no ${path}`);
  return path;
}

function nameOf(path) {
  return path
    .split('/')
    .at(-1)
    .replace(/\.test\.tsx?$/, '');
}
