// Compiles the libraries and bundles the command line. Bundling with splitting is what makes `lathe --version` fast:
// each command loads only its own chunk.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { directImports } from './direct-imports.mjs';
import { writeManPage } from './man-page.mjs';
import { writeNotices } from './notices.mjs';

const root = join(import.meta.dirname, '..');
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const { status } = spawnSync(process.execPath, [tsc, '-b'], { cwd: root, stdio: ['ignore', 2, 2] });
if (status !== 0) process.exit(1);

for (const name of ['core', 'agent', 'fleet']) removeStale(join(root, 'packages', name));
await bundleCore();

const { version } = JSON.parse(readFileSync(join(root, 'packages/cli/package.json'), 'utf8'));
const outdir = join(root, 'packages/cli/dist');
for (const stale of ['chunks', 'main.js']) rmSync(join(outdir, stale), { recursive: true, force: true });
const ownFiles = directImports(join(root, 'packages'));
/** `import text from './x?raw'` is the text of the file, as in Vite. A script for browsers comes with what it imports. */
const rawFiles = {
  name: 'raw',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\?raw$/ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path.replace(/\?raw$/, '')),
      namespace: 'raw',
    }));
    onLoad({ filter: /./, namespace: 'raw' }, async ({ path }) => ({
      contents: path.endsWith('.client.js') ? await browserScript(path) : readFileSync(path, 'utf8'),
      loader: 'text',
    }));
  },
};

async function browserScript(path) {
  const { outputFiles } = await build({
    entryPoints: [path],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    minify: true,
    plugins: [ownFiles],
    logLevel: 'warning',
  });
  return outputFiles[0].text;
}

const { metafile } = await build({
  absWorkingDir: root,
  metafile: true,
  entryPoints: [join(root, 'packages/cli/src/main.ts')],
  outdir,
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  minify: true,
  legalComments: 'none',
  define: {
    LATHE_VERSION: JSON.stringify(version),
    'process.env.NODE_ENV': '"production"',
  },
  alias: {
    '@modelcontextprotocol/client/_shims': join(root, 'scripts/no-default-validator.mjs'),
    // Its main file hides its imports from a bundler.
    'jsonc-parser': 'jsonc-parser/lib/esm/main.js',
  },
  // Native parts are found by their own packages at run time.
  external: ['@vscode/ripgrep', '@lydell/node-pty', '@lathe/fleet'],
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  plugins: [rawFiles, ownFiles],
  logLevel: 'warning',
});
chmodSync(join(outdir, 'main.js'), 0o755);
writeNotices(metafile, root, join(root, 'packages/cli'), outdir);
await writeManPage(root, version, join(outdir, 'lathe.1'));

/** One file per entry, and what they share: whoever imports the library to define a tool opens a handful of files. */
async function bundleCore() {
  const directory = join(root, 'packages/core');
  const { exports, dependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(directory, 'package.json'), 'utf8'),
  );
  const entries = Object.values(exports).flatMap(({ types }) => types ?? []);
  rmSync(join(directory, 'dist/bundle'), { recursive: true, force: true });
  // The schema library is part of every tool; of two hundred files, it uses one in the bundle.
  const external = Object.keys({ ...dependencies, ...optionalDependencies }).filter((name) => name !== 'typebox');
  const { metafile: bundled } = await build({
    absWorkingDir: root,
    metafile: true,
    entryPoints: entries.map((types) => join(directory, types.replace('.d.ts', '.js'))),
    outdir: join(directory, 'dist/bundle'),
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    minifySyntax: true,
    legalComments: 'none',
    external: external.flatMap((name) => [name, `${name}/*`]),
    logLevel: 'warning',
  });
  writeNotices(bundled, root, directory, join(directory, 'dist/bundle'));
}

/** The compiler leaves what it made of a source that is gone, and it would be published. */
function removeStale(directory) {
  for (const name of readdirSync(join(directory, 'dist'), { recursive: true })) {
    if (name.startsWith('bundle')) continue;
    const source = join(directory, 'src', name.replace(/(?:\.d\.ts|\.js)$/, '.ts'));
    if (/\.(?:ts|js)$/.test(name) && !existsSync(source)) rmSync(join(directory, 'dist', name));
  }
}
