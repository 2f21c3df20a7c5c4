// Compiles the libraries and bundles the command line.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { rolldown } from 'rolldown';
import { directImports } from './direct-imports.mjs';
import { writeManPage } from './man-page.mjs';
import { writeNotices } from './notices.mjs';

const root = join(import.meta.dirname, '..');
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const { status } = spawnSync(process.execPath, [tsc, '-b'], { cwd: root, stdio: ['ignore', 2, 2] });
if (status !== 0) process.exit(1);

for (const name of ['core', 'agent', 'fleet']) removeStale(join(root, 'packages', name));

const forNode = {
  cwd: root,
  platform: 'node',
  transform: { define: { 'process.env.NODE_ENV': '"production"' } },
  // Not every import of our own could be loaded late, and that is fine.
  checks: { ineffectiveDynamicImport: false },
};

/** What every task loads before its first request, with all that these files import. */
const startFiles = [
  'cli/src/run.ts',
  'cli/src/commands/agent.ts',
  'cli/src/headless/run-headless.ts',
  'core/dist/lathe/compose-lathe.js',
  'core/dist/languages/language-servers.js',
  'agent/dist/models/wire/openai/openai.js',
].map((file) => join(root, 'packages', file));

/** `import text from './x?raw'` is the text of the file, as in Vite. A script for browsers comes with what it imports. */
const rawFiles = {
  name: 'raw',
  resolveId: { filter: { id: /\?raw$/ }, handler: (id, importer) => join(dirname(importer), id) },
  load: {
    filter: { id: /\?raw$/ },
    async handler(id) {
      const path = id.replace(/\?raw$/, '');
      const text = path.endsWith('.client.js') ? await browserScript(path) : readFileSync(path, 'utf8');
      return { code: `export default ${JSON.stringify(text)};`, moduleType: 'js' };
    },
  },
};

/** Code from a compile cache cannot call `import()`: `load-program.ts` gives it a function that does. */
const startWithoutImports = {
  name: 'start-without-imports',
  renderChunk: (code, { fileName }) =>
    fileName === 'chunks/start.cjs' ? code.replace(/(?<![.\w$])import\(/g, 'importLate(') : null,
};

/** Node reads a file without other characters several times as fast. The minifier would write them out again. */
const startInAscii = {
  name: 'start-in-ascii',
  generateBundle(_options, bundle) {
    const start = bundle['chunks/start.cjs'];
    if (/\.raw`[^`]*[^`\0-\x7f]/.test(start.code)) throw new Error('String.raw does not know escapes');
    start.code = inAscii(start.code);
  },
};

/** The price list as JSON text, without what prices do not need: it loads in 19 ms instead of 37. */
const pricesAsText = {
  name: 'prices-as-text',
  transform: {
    filter: { id: /genai-prices\/dist\/index\.js$/ },
    handler(code) {
      const [, list] = /^const \w+ = (\[\n.*?\n\])/s.exec(code);
      const unused = new Set(['description', 'extractors', 'price_comments', 'prices_checked', 'pricing_urls']);
      const text = JSON.stringify(runInNewContext(list), (key, value) => (unused.has(key) ? undefined : value));
      return code.replace(list, () => `JSON.parse(${JSON.stringify(inAscii(text))})`);
    },
  },
};

/** For text in JavaScript or JSON strings. */
function inAscii(text) {
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

async function browserScript(path) {
  const script = await rolldown({ input: path, platform: 'browser', plugins: [directImports(join(root, 'packages'))] });
  const { output } = await script.generate({ format: 'esm', minify: true });
  return output[0].code;
}

const { version } = JSON.parse(readFileSync(join(root, 'packages/cli/package.json'), 'utf8'));
await bundleCore();
await bundleProgram();

/**
 * `main.cjs` is small, so that `lathe --version` is fast. The program itself is CommonJS: `chunks/run.cjs` runs the command
 * line, `chunks/start.cjs` is what every task needs before its first request, and other chunks are loaded on demand. One
 * large file loads faster than eighty small ones, and as CommonJS it can be loaded with a compile cache.
 */
async function bundleProgram() {
  const outdir = join(root, 'packages/cli/dist');
  for (const stale of ['chunks', 'main.cjs']) rmSync(join(outdir, stale), { recursive: true, force: true });
  const program = await rolldown({
    ...forNode,
    input: { run: join(root, 'packages/cli/src/run.ts') },
    resolve: {
      alias: {
        '@modelcontextprotocol/client/_shims': join(root, 'scripts/no-default-validator.mjs'),
        // Its main file hides its imports from a bundler.
        'jsonc-parser': join(root, 'node_modules/jsonc-parser/lib/esm/main.js'),
      },
    },
    // Native parts are found by their own packages at run time.
    external: ['@vscode/ripgrep', '@lydell/node-pty', '@lathe/fleet'],
    plugins: [rawFiles, pricesAsText, directImports(join(root, 'packages')), startWithoutImports, startInAscii],
  });
  const { output } = await program.write({
    dir: outdir,
    format: 'cjs',
    minify: true,
    comments: { legal: false },
    entryFileNames: 'chunks/[name].cjs',
    chunkFileNames: ({ name }) => (name === 'start' ? 'chunks/start.cjs' : 'chunks/[name]-[hash].cjs'),
    codeSplitting: { groups: [{ name: 'start', test: (file) => startFiles.includes(file) }] },
  });
  const start = output.find(({ fileName }) => fileName === 'chunks/start.cjs');
  const main = await rolldown({
    ...forNode,
    input: join(root, 'packages/cli/src/main.ts'),
    transform: {
      define: {
        LATHE_VERSION: JSON.stringify(version),
        LATHE_BUILD: JSON.stringify(createHash('sha256').update(start.code).digest('hex')),
      },
    },
  });
  await main.write({ dir: outdir, format: 'cjs', minify: true, entryFileNames: 'main.cjs' });
  // Scripts that run a checkout name this file.
  writeFileSync(join(outdir, 'main.js'), "#!/usr/bin/env node\nimport './main.cjs';\n");
  for (const name of ['main.cjs', 'main.js']) chmodSync(join(outdir, name), 0o755);
  writeNotices(filesOf(output), root, join(root, 'packages/cli'), outdir);
  await writeManPage(root, version, join(outdir, 'lathe.1'));
}

/** One file per entry, and what they share: a program that imports the library to define a tool opens only a few files. */
async function bundleCore() {
  const directory = join(root, 'packages/core');
  const { exports, dependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(directory, 'package.json'), 'utf8'),
  );
  const entries = Object.values(exports).flatMap(({ types }) => types ?? []);
  rmSync(join(directory, 'dist/bundle'), { recursive: true, force: true });
  // The schema library is part of every tool; of two hundred files, it uses one in the bundle.
  const external = Object.keys({ ...dependencies, ...optionalDependencies }).filter((name) => name !== 'typebox');
  const library = await rolldown({
    ...forNode,
    input: entries.map((types) => join(directory, types.replace('.d.ts', '.js'))),
    external: external.flatMap((name) => [name, new RegExp(`^${name}/`)]),
  });
  const { output } = await library.write({
    dir: join(directory, 'dist/bundle'),
    format: 'esm',
    comments: { legal: false },
    chunkFileNames: 'chunks/[name]-[hash].js',
  });
  writeNotices(filesOf(output), root, directory, join(directory, 'dist/bundle'));
}

function filesOf(output) {
  return output.flatMap(({ moduleIds }) => moduleIds ?? []);
}

/** The compiler leaves what it made of a source that is gone, and it would be published. */
function removeStale(directory) {
  for (const name of readdirSync(join(directory, 'dist'), { recursive: true })) {
    if (name.startsWith('bundle')) continue;
    const source = join(directory, 'src', name.replace(/(?:\.d\.ts|\.js)$/, '.ts'));
    if (/\.(?:ts|js)$/.test(name) && !existsSync(source)) rmSync(join(directory, 'dist', name));
  }
}
