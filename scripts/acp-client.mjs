// Two real clients of the Agent Client Protocol, acpx and acp-factory, drive the built `lathe acp` with the model server
// of the tests.
//   node scripts/acp-client.mjs
// The clients and the Node that acpx needs are installed below bench/.work when they are not there yet (240 MB).
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setup } from './setup.mjs';

const root = join(import.meta.dirname, '..');
const cache = join(root, 'bench/.work/acp-client');
const packages = ['acpx@0.19.1', 'acp-factory@0.1.14', `node-${process.platform}-${process.arch}@22.23.3`];

if (!packages.every((name) => existsSync(join(cache, 'node_modules', name.replace(/(.)@.*/, '$1'))))) {
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, 'package.json'), '{"private":true}\n');
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error', '--prefix', cache];
  if (spawnSync('npm', ['install', ...flags, ...packages], { stdio: 'inherit' }).status !== 0) process.exit(1);
}
setup();
const vitest = join(root, 'node_modules/vitest/vitest.mjs');
const { status } = spawnSync(process.execPath, [vitest, 'run', 'testing/acp-client.test.ts'], {
  cwd: root,
  env: { ...process.env, LATHE_ACP_CLIENT: '1' },
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
