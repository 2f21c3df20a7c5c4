// What a fleet meets outside: the store against an S3 server that is not ours, the deployment files by systemd and by
// the schemas of Kubernetes.
//   node scripts/fleet-servers.mjs
// The packages are installed below bench/.work when they are not there yet: 50 MB that a checkout need not carry.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const deploy = join(root, 'packages/fleet/deploy');
const cache = join(root, 'bench/.work/fleet-servers');
const packages = ['s3rver@3.7.1', 'kubernetes-models@5.1.0', 'yaml@2.8.1'];

if (!packages.every((name) => existsSync(join(cache, 'node_modules', name.replace(/(.)@.*/, '$1'))))) {
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, 'package.json'), '{"private":true,"type":"module"}\n');
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error', '--prefix', cache];
  run('npm', ['install', ...flags, ...packages]);
}
writeFileSync(join(cache, 'check.mjs'), kubernetesCheck());
run(process.execPath, [join(cache, 'check.mjs'), join(deploy, 'lathe-worker.yaml')]);
if (existsSync('/usr/bin/systemd-analyze')) {
  run('systemd-analyze', ['verify', join(deploy, 'lathe-worker.service')]);
  console.log('systemd accepts lathe-worker.service');
} else console.log('skipped: systemd-analyze is not installed');
run(
  process.execPath,
  [join(root, 'node_modules/vitest/vitest.mjs'), 'run', 'packages/fleet/src/files/stores.test.ts'],
  {
    LATHE_FLEET_SERVERS: cache,
  },
);

/** A module that is resolved where the packages are. The check must be able to fail, so it also tries a wrong file. */
function kubernetesCheck() {
  return `import assert from 'node:assert';
import { readFileSync } from 'node:fs';
import { Deployment } from 'kubernetes-models/apps/v1';
import { parseAllDocuments } from 'yaml';
for (const document of parseAllDocuments(readFileSync(process.argv[2], 'utf8'))) {
  assert.deepEqual(document.errors, []);
  const manifest = document.toJS();
  new Deployment(manifest).validate();
  const wrong = { ...manifest, spec: { ...manifest.spec, replicas: 'four' } };
  assert.throws(() => new Deployment(wrong).validate());
  console.log('Kubernetes accepts the', manifest.kind, manifest.metadata.name);
}
`;
}

function run(program, args, env = {}) {
  const { status } = spawnSync(program, args, { stdio: 'inherit', cwd: root, env: { ...process.env, ...env } });
  if (status !== 0) process.exit(status ?? 1);
}
