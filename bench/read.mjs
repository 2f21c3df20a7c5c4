// read_file and read_many_files against plain reads, interleaved in one run. `node bench/read.mjs [rounds]`
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { IgnoreRules, ReadFileTool, ReadManyFilesTool, SeenFiles, Workspace } from '../packages/core/dist/index.js';

const rounds = Number(process.argv[2] ?? 5);
const root = realpathSync(mkdtempSync(join(tmpdir(), 'lathe-bench-')));
const never = new AbortController().signal;
const workspace = await Workspace.open(root);
const visibility = { rules: new IgnoreRules([root]) };
const reader = new ReadFileTool(workspace, new SeenFiles(), visibility);
const wideReader = new ReadFileTool(workspace, new SeenFiles(), visibility, { lines: 2000, chars: 200_000 });
const manyReader = new ReadManyFilesTool(workspace, new SeenFiles(), visibility, 5_000_000);
const read = (tool, name, range) => tool.execute({ absolute_path: join(root, name), ...range }, never);

try {
  writeFileSync(join(root, 'small.txt'), 'some text\n'.repeat(100));
  writeLines(join(root, '1g.txt'), 10_737_664);
  for (let file = 0; file < 1000; file++) {
    mkdirSync(join(root, 'many', String(file % 40)), { recursive: true });
    writeFileSync(join(root, 'many', String(file % 40), `${file}.ts`), 'const some = "code";\n'.repeat(120));
  }
  const huge = join(root, '1g.txt');

  console.log('a small file');
  await compare(rounds * 40, {
    'fs.promises.readFile': () => readFile(join(root, 'small.txt'), 'utf8'),
    read_file: () => read(reader, 'small.txt'),
  });
  console.log('2,000 lines at the start of 1 GB (limit 3)');
  await compare(rounds * 40, {
    'plain read': () => readStart(huge, 200_000),
    read_file: () => read(wideReader, '1g.txt'),
  });
  console.log('line 10,000,000 of 1 GB (limit 1.5)');
  let touched = 0;
  const { peak, stall } = await watched(() =>
    compare(rounds, {
      'indexOf scan': () => scan(huge, 10_000_000),
      read_file: () => {
        // Another time stamp makes the kept index worthless.
        utimesSync(huge, 0, ++touched);
        return read(reader, '1g.txt', { offset: 10_000_000, limit: 10 });
      },
    }),
  );
  console.log('the same again (limit 0.1)');
  await compare(rounds, {
    'indexOf scan': () => scan(huge, 10_000_000),
    read_file: () => read(reader, '1g.txt', { offset: 10_000_000, limit: 10 }),
  });
  console.log('1,000 files');
  await compare(rounds, {
    cat: () => execFileSync('sh', ['-c', 'cat */*.ts'], { cwd: join(root, 'many'), maxBuffer: 1e8 }),
    read_many_files: () => manyReader.execute({ paths: ['many/**/*.ts'] }, never),
  });
  console.log(
    `memory above the start +${(peak / 2 ** 20).toFixed(0)} MB, longest stall of ours ${stall.toFixed(0)} ms`,
  );
} finally {
  rmSync(root, { recursive: true, force: true });
}

/** Medians of interleaved rounds, as ratios to the first case. */
async function compare(count, cases) {
  const times = Object.keys(cases).map(() => []);
  for (let round = 0; round < count; round++)
    for (const [index, run] of Object.values(cases).entries()) {
      const begin = performance.now();
      await run();
      times[index].push(performance.now() - begin);
    }
  const medians = times.map((values) => values.sort((a, b) => a - b)[values.length >> 1]);
  Object.keys(cases).forEach((name, index) => {
    console.log(
      `  ${name.padEnd(22)} ${medians[index].toFixed(2).padStart(9)} ms  ${(medians[index] / medians[0]).toFixed(3)}`,
    );
  });
}

async function watched(run) {
  const before = process.memoryUsage().rss;
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss - before);
  }, 5);
  await run();
  clearInterval(timer);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  utimesSync(join(root, '1g.txt'), 0, 0);
  await read(reader, '1g.txt', { offset: 10_000_000, limit: 10 });
  delay.disable();
  return { peak, stall: delay.max / 1e6 };
}

function readStart(path, length) {
  const fd = openSync(path);
  const bytes = Buffer.allocUnsafe(length);
  readSync(fd, bytes, 0, length, 0);
  closeSync(fd);
  return bytes.toString();
}

function scan(path, wanted) {
  const fd = openSync(path);
  const buffer = Buffer.allocUnsafe(1 << 20);
  let lines = 0;
  for (let length = readSync(fd, buffer); length > 0 && lines < wanted; length = readSync(fd, buffer)) {
    const chunk = buffer.subarray(0, length);
    for (let at = chunk.indexOf(10); at !== -1 && lines < wanted; at = chunk.indexOf(10, at + 1)) lines++;
  }
  closeSync(fd);
}

function writeLines(path, count) {
  const fd = openSync(path, 'w');
  for (let line = 0; line < count; line += 10_000) {
    const block = Array.from({ length: 10_000 }, (_, index) => `${String(line + index).padEnd(99, '.')}\n`);
    writeSync(fd, block.join(''));
  }
  closeSync(fd);
}
