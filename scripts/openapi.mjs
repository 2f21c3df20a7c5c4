// Writes docs/openapi.json from the operations of the agent server.
//   node scripts/openapi.mjs
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { setup } from './setup.mjs';

const root = join(import.meta.dirname, '..');
setup();
const folder = join(root, 'node_modules/.cache');
mkdirSync(folder, { recursive: true });
const bundle = join(folder, 'openapi.mjs');
const server = join(root, 'packages/cli/src/server');
await build({
  stdin: {
    contents: "export { openApi } from './openapi.js'; export { routes } from './routes.js';",
    resolveDir: server,
    loader: 'ts',
  },
  outfile: bundle,
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
});
const { openApi, routes } = await import(pathToFileURL(bundle).href);
const file = join(root, 'docs/openapi.json');
writeFileSync(file, `${JSON.stringify(openApi(routes), null, 2)}\n`);
const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
process.exitCode = spawnSync(process.execPath, [biome, 'format', '--write', file], { stdio: 'inherit' }).status ?? 1;
