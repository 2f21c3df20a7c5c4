/** Measures edits of large files: time beside the raw system calls, memory above the start, longest stall. */
import {
  closeSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { contentHash, SeenFiles } from '../../packages/core/src/files/access/seen-files.js';
import { LatheHome } from '../../packages/core/src/files/lathe-home.js';
import { Journal } from '../../packages/core/src/files/undo/journal.js';
import { Workspace } from '../../packages/core/src/files/workspace.js';
import { FileChanges } from '../../packages/core/src/files/write/file-changes.js';
import { FileLocks } from '../../packages/core/src/files/write/file-lock.js';
import { EditTool } from '../../packages/core/src/tools/edit.js';
import { WriteFileTool } from '../../packages/core/src/tools/write-file.js';

const root = mkdtempSync(join(tmpdir(), 'lathe-bench-'));
const file = join(root, '10m.txt');
const signal = new AbortController().signal;
const text = Array.from(
  { length: 100_000 },
  (_, index) =>
    `${String(index).padStart(8)} ${index % 9 === 0 ? 'needle' : 'plain.'} ${'lorem ipsum dolor sit amet, consectetur adipiscing elit sed do eiusmod '.slice(0, 84)}\n`,
).join('');

async function main(): Promise<void> {
  const home = new LatheHome(join(root, 'home'));
  const seen = new SeenFiles();
  const changes = new FileChanges({ locks: new FileLocks(home), journal: new Journal(home), seen });
  const workspace = await Workspace.open(root);
  const [edit, write] = [new EditTool(workspace, changes), new WriteFileTool(workspace, changes)];
  const reset = () => writeFileSync(file, text);
  const replace = (old_string: string, new_string: string, more = {}) =>
    edit.execute({ file_path: file, old_string, new_string, ...more }, signal);
  const other = text.replaceAll('lorem', 'LOREM');
  const cases: [string, () => unknown][] = [
    ['raw write+fsync+rename 10 MB', () => rawWrite(text)],
    ['one hit in 10 MB', () => replace('   70000 plain.', '   70000 PLAIN.')],
    ['11,112 hits, replace_all', () => replace('needle', 'NEEDLE', { replace_all: true })],
    ['miss in 10 MB', () => replace('   70000 plain. lorem ipsum dolor sit amet nothing', 'x').catch(() => {})],
    ['multi-line miss in 10 MB', () => replace('   70000 plain. lorem\n  70001 xx lorem\n', 'x').catch(() => {})],
    [
      'relaxed hit in 10 MB',
      () =>
        replace(
          '   70000 plain. lorem ipsum dolor sit amet, consectetur adipiscing elit sed do eiusmod lorem ipsum do  \n   70001',
          'x',
        ).catch(() => {}),
    ],
    [
      'write 10 MB over 10 MB',
      () => (
        seen.record(file, contentHash(readFileSync(file))), write.execute({ file_path: file, content: other }, signal)
      ),
    ],
    ['one hit in 88 KB', () => replace('     100 plain.', '     100 PLAIN.')],
    [
      'confirmation of one hit in 10 MB',
      () => edit.shouldConfirmExecute({ file_path: file, old_string: '   70000 plain.', new_string: 'x' }, signal),
    ],
  ];
  for (const [name, run] of cases) {
    const times: number[] = [];
    const cpu: number[] = [];
    let [stall, memory] = [0, 0];
    for (let round = 0; round < 7; round++) {
      if (name.includes('88 KB')) writeFileSync(file, text.slice(0, 88_000));
      else reset();
      globalThis.gc?.();
      const before = process.memoryUsage().rss;
      const delay = monitorEventLoopDelay({ resolution: 1 });
      delay.enable();
      let peak = before;
      const sampler = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 2);
      const start = performance.now();
      const cpuBefore = process.cpuUsage();
      await run();
      times.push(performance.now() - start);
      const used = process.cpuUsage(cpuBefore);
      cpu.push((used.user + used.system) / 1000);
      clearInterval(sampler);
      peak = Math.max(peak, process.memoryUsage().rss);
      delay.disable();
      if (round > 0) {
        stall = Math.max(stall, delay.max / 1e6);
        memory = Math.max(memory, peak - before);
      }
    }
    times.sort((a, b) => a - b);
    cpu.sort((a, b) => a - b);
    console.log(
      `${name.padEnd(36)} ${times[3]?.toFixed(1).padStart(8)}ms  cpu ${cpu[3]?.toFixed(1).padStart(7)} ms   +${(memory / 2 ** 20).toFixed(0)} MB   stall ${stall.toFixed(1)} ms`,
    );
  }
}

function rawWrite(content: string): void {
  const bytes = Buffer.from(content);
  const handle = openSync(`${file}.tmp`, 'w');
  writeSync(handle, bytes);
  fsyncSync(handle);
  closeSync(handle);
  renameSync(`${file}.tmp`, file);
}

void main().finally(() => rmSync(root, { recursive: true, force: true }));
