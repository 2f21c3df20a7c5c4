// What the benchmarks work on. Made once, in a folder that is kept; quick runs have a small edition of their own.
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const words = 'alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike'.split(' ');

/** Line `n` of a generated text: its number, then words. */
export const textLine = (n) =>
  `${String(n).padStart(9, '0')} ${words[n % 13]} ${words[(n * 7) % 13]} the quick brown fox jumps over the lazy dog ${words[(n * 3) % 13]}\n`;

/** Corpora by name: each makes itself at `path` in the size that `isQuick` asks for. */
const makers = {
  linux: (path, isQuick) => (isQuick ? sourceTree(path, 5_000) : kernel(path)),
  ts: (path, isQuick) => sourceTree(path, isQuick ? 1_000 : 5_000),
  flat: (path, isQuick) => flat(path, isQuick ? 10_000 : 100_000),
  big(path, isQuick) {
    mkdirSync(path, { recursive: true });
    text(join(path, '1g.txt'), isQuick ? 2 ** 26 : 2 ** 30, textLine);
    text(join(path, '10m.txt'), 10 * 2 ** 20, textLine);
    text(join(path, 'oneline-200m.txt'), (isQuick ? 20 : 200) * 2 ** 20, (n) => `{"k${n}":"${words[n % 13]}"},`);
  },
  growth(path, isQuick) {
    mkdirSync(path, { recursive: true });
    for (const size of growthSizes(isQuick).files) sourceTree(join(path, `files-${size}`), size);
    for (const size of growthSizes(isQuick).megabytes) text(join(path, `text-${size}m.txt`), size * 2 ** 20, textLine);
  },
};

/** One, ten and a hundred times the size. */
export const growthSizes = (isQuick) => ({
  files: isQuick ? [100, 1_000] : [500, 5_000, 50_000],
  megabytes: isQuick ? [1, 10] : [1, 10, 100],
});

/** Makes what is missing of these and returns the names of what is there. */
export function makeCorpora(directory, names, { isQuick }) {
  for (const name of names) {
    const path = join(directory, name);
    if (existsSync(path)) continue;
    console.error(`bench: making the corpus ${name}`);
    // Under its name only when whole.
    const unfinished = `${path}.unfinished`;
    rmSync(unfinished, { recursive: true, force: true });
    makers[name](unfinished, isQuick);
    if (existsSync(unfinished)) renameSync(unfinished, path);
  }
  return new Set(names.filter((name) => existsSync(join(directory, name))));
}

/** A Linux source tree from Debian's package, where there is apt; nothing elsewhere. */
function kernel(path) {
  mkdirSync(path, { recursive: true });
  const script = `set -e
    apt-get download -qq "$(apt-cache search --names-only '^linux-source-[0-9.]+$' | sort -V | tail -1 | cut -d' ' -f1)"
    dpkg -x linux-source-*.deb package
    tar xf package/usr/src/linux-source-*.tar.* --strip-components=1
    rm -rf package linux-source-*.deb
    sed -i '/^# Debian packaging: ignore/,$d' .gitignore`;
  if (spawnSync('bash', ['-c', script], { cwd: path, stdio: 'ignore' }).status !== 0) {
    console.error('bench: no kernel source here (needs apt); its cases are left out');
    rmSync(path, { recursive: true });
    return;
  }
  commit(path);
}

/** TypeScript files of 120 lines, 50 to a folder, and an ignored folder beside them. */
function sourceTree(path, count) {
  const line = (file, n) => `export const value${n} = (input: number): number => input * ${n} + ${file};\n`;
  for (let file = 0; file < count; file++) {
    const folder = join(path, 'src', `part${Math.floor(file / 50) % 40}`, `module${Math.floor(file / 2_000)}`);
    if (file % 50 === 0) mkdirSync(folder, { recursive: true });
    const lines = Array.from({ length: 120 }, (_, n) => line(file, n));
    if (file % 97 === 0) lines[60] = '// rareNeedle\n';
    writeFileSync(join(folder, `file${file}.ts`), lines.join(''));
  }
  mkdirSync(join(path, 'node_modules', 'pack'), { recursive: true });
  for (let file = 0; file < 100; file++)
    writeFileSync(join(path, 'node_modules', 'pack', `${file}.ts`), '// rareNeedle\n');
  writeFileSync(join(path, '.gitignore'), 'node_modules/\n');
  commit(path);
}

function flat(path, count) {
  mkdirSync(path, { recursive: true });
  for (let n = 0; n < count; n++)
    writeFileSync(join(path, `file-${String(n).padStart(6, '0')}.txt`), `line one of ${n}\nneedle-${n % 1000}\nend\n`);
}

function text(path, bytes, line) {
  const fd = openSync(path, 'w');
  for (let written = 0, n = 0; written < bytes; ) {
    let block = '';
    while (block.length < 2 ** 22) block += line(n++);
    written += writeSync(fd, block.slice(0, bytes - written));
  }
  closeSync(fd);
}

function commit(path) {
  const git = (...args) => spawnSync('git', ['-C', path, '-c', 'gc.auto=0', ...args], { stdio: 'ignore' });
  git('init', '-q');
  git('add', '-A');
  git('-c', 'user.name=bench', '-c', 'user.email=bench@localhost', 'commit', '-qm', 'corpus');
}
