/** A small project and the command that builds or tests it, offline, inside the sandbox. */
export interface Build {
  name: string;
  command: string;
  files: Record<string, string>;
  /** Programs that must be on PATH. */
  programs?: readonly string[];
  /** Packages of the registry that are installed before. */
  packages?: readonly string[];
  /** What must have been downloaded before, in the home directory. */
  downloads?: string;
  /** Part of the output. */
  prints?: string;
  /** What it needs of the home directory, beside the session's own `~/.cache`. */
  needs?: string;
}

const json = (value: unknown) => JSON.stringify(value);
const sum = 'export const sum = (a, b) => a + b;\n';
const typed = 'export const sum = (a: number, b: number): number => a + b;\n';
const page = '<!doctype html><div id="app"></div><script type="module" src="/main.js"></script>\n';
const scripts = (script: string) => json({ name: 'p', version: '1.0.0', type: 'module', scripts: { build: script } });

const npx = (build: Omit<Build, 'programs'>): Build => ({ programs: ['npm'], ...build });

const node: Build[] = [
  { name: 'node', command: 'node main.js', files: { 'main.js': 'console.log("built")' }, prints: 'built' },
  {
    name: 'node --test',
    command: 'node --test',
    files: { 'a.test.mjs': "import test from 'node:test';\ntest('holds', () => {});\n" },
    prints: 'pass 1',
  },
  npx({
    name: 'npm run',
    command: 'npm run build',
    files: { 'package.json': scripts('echo built') },
    prints: 'built',
    needs: '`~/.npm` (own)',
  }),
  npx({
    name: 'npm pack',
    command: 'npm pack',
    files: { 'package.json': scripts('true'), 'index.js': sum },
    prints: 'p-1.0.0.tgz',
    needs: '`~/.npm` (own)',
  }),
  npx({
    name: 'npm install of a folder',
    command: 'npm install ./lib --no-audit && node -e "console.log(require(\'lib\'))"',
    files: {
      'package.json': json({ name: 'p' }),
      'lib/package.json': json({ name: 'lib', version: '1.0.0' }),
      'lib/index.js': "module.exports = 'built';",
    },
    prints: 'built',
    needs: '`~/.npm` (own)',
  }),
  npx({
    name: 'npm workspaces',
    command: 'npm install --offline && npm run build --workspaces',
    files: {
      'package.json': json({ name: 'p', workspaces: ['packages/*'] }),
      'packages/a/package.json': json({ name: 'a', version: '1.0.0', scripts: { build: 'echo built a' } }),
      'packages/b/package.json': json({
        name: 'b',
        version: '1.0.0',
        dependencies: { a: '1.0.0' },
        scripts: { build: 'echo built b' },
      }),
    },
    prints: 'built b',
    needs: '`~/.npm` (own)',
  }),
];

const packaged: Build[] = [
  {
    name: 'pnpm run',
    command: 'pnpm run build',
    files: { 'package.json': scripts('echo built') },
    packages: ['pnpm@9'],
    prints: 'built',
  },
  {
    name: 'pnpm install of workspaces',
    command: 'pnpm install --offline && pnpm -r run build',
    files: {
      'package.json': json({ name: 'p' }),
      'pnpm-workspace.yaml': "packages: ['packages/*']\n",
      'packages/a/package.json': json({ name: 'a', scripts: { build: 'echo built' } }),
    },
    packages: ['pnpm@9'],
    prints: 'built',
    needs: '`~/.local/share` (own)',
  },
  {
    name: 'tsc',
    command: 'tsc -p . && node out/a.js',
    files: {
      'tsconfig.json': json({ compilerOptions: { outDir: 'out', types: [] }, include: ['a.ts'] }),
      'a.ts': `${typed}console.log(sum(1, 2));`,
    },
    packages: ['typescript@5'],
    prints: '3',
  },
  {
    name: 'tsc --build',
    command: 'tsc -b && tsc -b --clean',
    files: {
      'tsconfig.json': json({ files: [], references: [{ path: 'a' }] }),
      'a/tsconfig.json': json({ compilerOptions: { composite: true, types: [] } }),
      'a/a.ts': typed,
    },
    packages: ['typescript@5'],
  },
  {
    name: 'vite build',
    command: 'vite build',
    files: { 'package.json': scripts('true'), 'index.html': page, 'main.js': `${sum}console.log(sum(1, 2))` },
    packages: ['vite@6'],
    prints: 'built in',
  },
  {
    name: 'vitest',
    command: 'vitest run',
    files: {
      'package.json': scripts('true'),
      'a.test.js': "import { expect, test } from 'vitest';\ntest('holds', () => expect(1).toBe(1));",
    },
    packages: ['vitest@3'],
    prints: '1 passed',
  },
  {
    name: 'vitest with coverage',
    command: 'vitest run --coverage',
    files: {
      'package.json': scripts('true'),
      'sum.js': sum,
      'a.test.js':
        "import { expect, test } from 'vitest';\nimport { sum } from './sum.js';\ntest('holds', () => expect(sum(1, 1)).toBe(2));",
    },
    packages: ['vitest@3', '@vitest/coverage-v8@3'],
    prints: 'sum.js',
  },
  {
    name: 'jest',
    command: 'jest --rootDir .',
    files: { 'package.json': json({ name: 'p' }), 'a.test.js': "test('holds', () => expect(1).toBe(1));" },
    packages: ['jest@29'],
    prints: 'holds',
  },
  {
    name: 'jest in workers',
    command: 'jest --rootDir . --maxWorkers=2',
    files: {
      'package.json': json({ name: 'p' }),
      'a.test.js': "test('a', () => {});",
      'b.test.js': "test('b', () => {});",
    },
    packages: ['jest@29'],
    prints: '2 passed',
  },
  {
    name: 'mocha',
    command: 'mocha',
    files: { 'test/a.js': "it('holds', () => {});" },
    packages: ['mocha@11'],
    prints: '1 passing',
  },
  {
    name: 'ava',
    command: 'ava',
    files: {
      'package.json': json({ name: 'p', type: 'module' }),
      'test.js': "import test from 'ava';\ntest('holds', (t) => t.pass());",
    },
    packages: ['ava@6'],
    prints: '1 test passed',
  },
  {
    name: 'esbuild',
    command: 'esbuild main.js --bundle --outfile=out.js && node out.js',
    files: { 'main.js': "import { sum } from './sum.js';\nconsole.log(sum(1, 2));", 'sum.js': sum },
    packages: ['esbuild@0.25'],
    prints: '3',
  },
  {
    name: 'webpack',
    command: 'webpack --mode production --entry ./main.js',
    files: {
      'package.json': json({ name: 'p' }),
      'main.js': "import { sum } from './sum.js';\nconsole.log(sum(1, 2));",
      'sum.js': sum,
    },
    packages: ['webpack@5', 'webpack-cli@6'],
    prints: 'compiled successfully',
  },
  {
    name: 'webpack with its cache',
    command: 'webpack && webpack',
    files: {
      'package.json': json({ name: 'p' }),
      'webpack.config.js':
        "module.exports = { mode: 'none', entry: './main.js', cache: { type: 'filesystem', cacheDirectory: __dirname + '/.cache' } };",
      'main.js': 'console.log(1)',
    },
    packages: ['webpack@5', 'webpack-cli@6'],
    prints: 'cached modules',
  },
  {
    name: 'rollup',
    command: 'rollup main.js --file out.mjs && node out.mjs',
    files: { 'main.js': "import { sum } from './sum.js';\nconsole.log(sum(1, 2));", 'sum.js': sum },
    packages: ['rollup@4'],
    prints: '3',
  },
  {
    name: 'parcel',
    command: 'parcel build index.html --no-cache',
    files: {
      'package.json': json({ name: 'p' }),
      'index.html': page.replace('"/', '"./'),
      'main.js': 'console.log(1)',
    },
    packages: ['parcel@2'],
    prints: 'Built in',
  },
  {
    name: 'eslint',
    command: 'eslint .',
    files: { 'eslint.config.mjs': "export default [{ rules: { 'no-undef': 'error' } }];", 'a.mjs': sum },
    packages: ['eslint@9'],
  },
  {
    name: 'eslint with its cache',
    command: 'eslint --cache . && eslint --cache .',
    files: { 'eslint.config.mjs': 'export default [];', 'a.mjs': sum },
    packages: ['eslint@9'],
  },
  {
    name: 'prettier',
    command: 'prettier --check a.js && prettier --write a.js',
    files: { 'a.js': sum },
    packages: ['prettier@3'],
    prints: 'All matched files',
  },
  {
    name: 'biome',
    command: 'biome check a.js',
    files: { 'biome.json': json({ formatter: { enabled: false } }), 'a.js': sum },
    packages: ['@biomejs/biome@2'],
    prints: 'Checked 1 file',
  },
  { name: 'oxlint', command: 'oxlint a.js', files: { 'a.js': sum }, packages: ['oxlint@1'], prints: '0 errors' },
  {
    name: 'swc',
    command: 'swc a.ts -o out.js && cat out.js',
    files: { 'a.ts': typed },
    packages: ['@swc/core@1', '@swc/cli@0.7'],
    prints: 'sum',
  },
  {
    name: 'babel',
    command: 'babel a.js --out-file out.js && cat out.js',
    files: { 'a.js': sum },
    packages: ['@babel/core@7', '@babel/cli@7'],
    prints: 'sum',
  },
  {
    name: 'tsx',
    command: 'tsx a.ts',
    files: { 'package.json': scripts('true'), 'a.ts': `${typed}console.log(sum(1, 2));` },
    packages: ['tsx@4'],
    prints: '3',
  },
  {
    name: 'tsup',
    command: 'tsup a.ts',
    files: { 'package.json': scripts('true'), 'a.ts': typed },
    packages: ['tsup@8', 'typescript@5'],
    prints: 'Build success',
  },
  {
    name: 'sass',
    command: 'sass a.scss',
    files: { 'a.scss': 'a { b { color: red } }' },
    packages: ['sass@1'],
    prints: 'a b',
  },
  {
    name: 'c8',
    command: 'c8 node a.js',
    files: { 'a.js': 'console.log("built")' },
    packages: ['c8@10'],
    prints: 'All files',
  },
  {
    name: 'nyc',
    command: 'nyc --reporter=text node a.js',
    files: { 'package.json': json({ name: 'p' }), 'a.js': 'console.log("built")' },
    packages: ['nyc@17'],
    prints: 'All files',
  },
  {
    name: 'concurrently',
    command: 'concurrently "echo one" "echo two"',
    files: { 'package.json': json({ name: 'p' }) },
    packages: ['concurrently@9'],
    prints: 'two',
  },
  {
    name: 'tailwind',
    command: 'tailwindcss -i in.css -o out.css && grep -c "display: flex" out.css',
    files: { 'in.css': '@import "tailwindcss";', 'index.html': '<p class="flex">' },
    packages: ['tailwindcss@4', '@tailwindcss/cli@4'],
  },
];

const cargoFiles = {
  'Cargo.toml': '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2021"\n',
  'src/lib.rs':
    '/// ```\n/// assert_eq!(p::two(), 2);\n/// ```\npub fn two() -> u32 { 2 }\n#[test]\nfn holds() { assert_eq!(two(), 2) }\n',
  'src/main.rs': 'fn main() { println!("built {}", p::two()) }\n',
};
const cargo = (name: string, command: string, prints: string): Build => ({
  name,
  command,
  files: cargoFiles,
  programs: ['cargo'],
  prints,
  needs: '`~/.cargo/bin`, `~/.rustup` (read), `~/.cargo` (own)',
});

const c = { 'main.c': '#include <stdio.h>\nint main(void) { puts("built"); return 0; }\n' };
const cpp = { 'main.cc': '#include <iostream>\nint main() { std::cout << "built\\n"; }\n' };
const python = '`~/.pyenv` (read)';
const systems: Build[] = [
  cargo('cargo build', 'cargo build --offline && ./target/debug/p', 'built 2'),
  cargo('cargo test', 'cargo test --offline', '1 passed'),
  cargo('cargo run --release', 'cargo run --offline --release', 'built 2'),
  cargo('cargo check', 'cargo check --offline', 'Finished'),
  {
    name: 'rustc',
    command: 'rustc main.rs && ./main',
    files: { 'main.rs': 'fn main() { println!("built") }' },
    programs: ['rustc'],
    prints: 'built',
    needs: '`~/.cargo/bin`, `~/.rustup` (read)',
  },
  {
    name: 'go build',
    command: 'go build -o out . && ./out',
    files: { 'go.mod': 'module p\n\ngo 1.21\n', 'main.go': 'package main\nfunc main() { println("built") }\n' },
    programs: ['go'],
    prints: 'built',
    needs: '`~/go` (own)',
  },
  {
    name: 'go test',
    command: 'go test ./...',
    files: {
      'go.mod': 'module p\n\ngo 1.21\n',
      'a_test.go': 'package p\nimport "testing"\nfunc TestA(t *testing.T) {}\n',
    },
    programs: ['go'],
    prints: 'ok',
    needs: '`~/go` (own)',
  },
  { name: 'gcc', command: 'gcc -O2 -Wall -o out main.c && ./out', files: c, programs: ['gcc'], prints: 'built' },
  {
    name: 'gcc with a sanitizer',
    command: 'gcc -fsanitize=address,undefined -o out main.c && ASAN_OPTIONS=detect_leaks=0 ./out',
    files: c,
    programs: ['gcc'],
    prints: 'built',
  },
  { name: 'g++', command: 'g++ -std=c++17 -o out main.cc && ./out', files: cpp, programs: ['g++'], prints: 'built' },
  {
    name: 'make',
    command: 'make -j2 && ./out',
    files: { ...c, Makefile: 'out: main.o\n\t$(CC) -o $@ $^\n' },
    programs: ['make', 'gcc'],
    prints: 'built',
  },
  {
    name: 'cmake with make',
    command: 'cmake -B build && cmake --build build && ./build/out',
    files: {
      ...c,
      'CMakeLists.txt': 'cmake_minimum_required(VERSION 3.10)\nproject(p C)\nadd_executable(out main.c)\n',
    },
    programs: ['cmake', 'make', 'gcc'],
    prints: 'built',
  },
  {
    name: 'cmake with ninja and ctest',
    command: 'cmake -G Ninja -B build && cmake --build build && ctest --test-dir build',
    files: {
      ...cpp,
      'CMakeLists.txt':
        'cmake_minimum_required(VERSION 3.20)\nproject(p CXX)\nenable_testing()\nadd_executable(out main.cc)\nadd_test(runs out)\n',
    },
    programs: ['cmake', 'ninja', 'g++'],
    prints: '100% tests passed',
  },
  {
    name: 'javac',
    command: 'javac Main.java && java Main',
    files: { 'Main.java': 'class Main { public static void main(String[] a) { System.out.println("built"); } }' },
    programs: ['javac'],
    prints: 'built',
  },
  {
    name: 'jar',
    command: 'javac Main.java && jar cfe out.jar Main Main.class && java -jar out.jar',
    files: { 'Main.java': 'class Main { public static void main(String[] a) { System.out.println("built"); } }' },
    programs: ['jar'],
    prints: 'built',
  },
  {
    name: 'maven',
    command: 'mvn -o -q org.apache.maven.plugins:maven-compiler-plugin:3.11.0:compile && ls target/classes',
    downloads: '.m2/repository/org/apache/maven/plugins/maven-compiler-plugin/3.11.0',
    files: {
      'pom.xml':
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>g</groupId><artifactId>p</artifactId><version>1</version><properties><maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties></project>',
      'src/main/java/Main.java': 'class Main {}',
    },
    programs: ['mvn'],
    prints: 'Main.class',
    needs: '`~/.m2/repository` (read)',
  },
  {
    name: 'gradle',
    command: 'gradle --offline build',
    files: {
      'settings.gradle': "rootProject.name = 'p'",
      'build.gradle': "apply plugin: 'java'",
      'src/main/java/Main.java': 'class Main {}',
    },
    programs: ['gradle'],
    prints: 'BUILD SUCCESSFUL',
    needs: '`~/.gradle` (own)',
  },
  {
    name: 'python unittest',
    command: 'python3 -m unittest',
    files: { 'test_a.py': 'import unittest\nclass A(unittest.TestCase):\n    def test_a(self): pass\n' },
    programs: ['python3'],
    prints: 'OK',
    needs: python,
  },
  {
    name: 'pytest',
    command: 'pytest',
    files: { 'test_a.py': 'def test_a(tmp_path): (tmp_path / "x").write_text("y")\n' },
    programs: ['pytest'],
    prints: '1 passed',
    needs: python,
  },
  {
    name: 'python venv',
    command: 'python3 -m venv venv && venv/bin/python -c "import sys; print(sys.prefix)"',
    files: { 'a.py': '' },
    programs: ['python3'],
    prints: '/venv',
    needs: python,
  },
  {
    name: 'pip install of a wheel',
    command:
      'python3 wheel.py && python3 -m venv venv && venv/bin/pip install --no-index p-1.0-py3-none-any.whl && venv/bin/python -c "import p"',
    files: {
      'wheel.py': `import zipfile
with zipfile.ZipFile('p-1.0-py3-none-any.whl', 'w') as wheel:
    wheel.writestr('p.py', 'print("built")')
    wheel.writestr('p-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: p\\nVersion: 1.0\\n')
    wheel.writestr('p-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr('p-1.0.dist-info/RECORD', '')
`,
    },
    programs: ['python3', 'pip'],
    prints: 'built',
    needs: python,
  },
  {
    name: 'python doctest and compileall',
    command: 'python3 -m compileall -q . && python3 -m doctest -v a.py',
    files: { 'a.py': "'''\n>>> 1 + 1\n2\n'''\n" },
    programs: ['python3'],
    prints: '1 passed',
    needs: python,
  },
  {
    name: 'python with processes',
    command: 'python3 a.py',
    files: {
      'a.py':
        'from multiprocessing import Pool\ndef f(x): return x * x\nif __name__ == "__main__": print(sum(Pool(2).map(f, [1, 2])))\n',
    },
    programs: ['python3'],
    prints: '5',
    needs: python,
  },
  {
    name: 'perl',
    command: 'prove t',
    files: { 't/a.t': 'use Test::More tests => 1; ok(1);' },
    programs: ['prove'],
    prints: 'PASS',
  },
  {
    name: 'bash script',
    command: 'bash build.sh',
    files: { 'build.sh': 'set -euo pipefail\nd=$(mktemp -d)\necho built > "$d/x"\nsort <(cat "$d/x")\n' },
    prints: 'built',
  },
  {
    name: 'tar and gzip',
    command: 'tar czf /tmp/a.tgz a && tar xzf /tmp/a.tgz -O',
    files: { a: 'built' },
    programs: ['tar'],
    prints: 'built',
  },
  {
    name: 'git commit',
    command: 'git init -q r && cd r && touch a && git add a && git commit -qm first && git log --format=%s:%ae',
    files: { x: '' },
    programs: ['git'],
    prints: 'first:',
    needs: 'git identity',
  },
  {
    name: 'git branch, merge, stash',
    command:
      'git init -q -b main r && cd r && git commit -q --allow-empty -m a && git switch -qc b && echo x > x && git add x && git commit -qm b && git switch -q main && git merge -q --no-edit b && echo y > x && git stash -q && git stash pop -q && git diff --stat',
    files: { x: '' },
    programs: ['git'],
    prints: '1 file changed',
    needs: 'git identity',
  },
  {
    name: 'git clone and worktree',
    command:
      'git init -q r && git -C r commit -q --allow-empty -m a && git clone -q r c && cd c && git worktree add -q ../w && git -C ../w log --format=%s',
    files: { x: '' },
    programs: ['git'],
    prints: 'a',
    needs: 'git identity',
  },
  {
    name: 'sqlite',
    command: `python3 -c "import sqlite3; d = sqlite3.connect('a.db'); d.execute('create table t (a)'); d.commit(); print('built')"`,
    files: { x: '' },
    programs: ['python3'],
    prints: 'built',
    needs: python,
  },
];

export const builds: readonly Build[] = [...node, ...packaged, ...systems];
