// Writes docs/openapi.json from the operations of the agent server.
//   node scripts/openapi.mjs
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setup } from './setup.mjs';

setup();
const { openApi } = await import('@lathe/agent/client');
const root = join(import.meta.dirname, '..');
const file = join(root, 'docs/openapi.json');
writeFileSync(file, `${JSON.stringify(openApi(), null, 2)}\n`);
const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
process.exitCode = spawnSync(process.execPath, [biome, 'format', '--write', file], { stdio: 'inherit' }).status ?? 1;
