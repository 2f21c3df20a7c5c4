import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDirectory } from './temp-directory.js';

/** A checkout whose dependencies are out of date, with an `npm` and a build that only leave a file each. */
function checkout(files: Record<string, string> = {}) {
  const root = tempDirectory({
    ...files,
    'package-lock.json': '{"packages":{"":{},"node_modules/a":{"version":"1.0.0"},"node_modules/b":{"optional":true}}}',
    'tsconfig.base.json': '{}',
    'packages/one/package.json': '{}',
    'packages/one/tsconfig.json': '{}',
    'packages/one/src/a.ts': '',
    'scripts/direct-imports.mjs': '',
    'scripts/build.mjs': "import { writeFileSync } from 'node:fs'; writeFileSync('built', '');",
    'node_modules/.lathe-setup.json': '{"lock":"older","sources":"older"}',
  });
  copyFileSync(join(import.meta.dirname, '..', 'scripts', 'setup.mjs'), join(root, 'scripts', 'setup.mjs'));
  mkdirSync(join(root, 'bin'));
  writeFileSync(join(root, 'bin', 'npm'), '#!/bin/sh\necho >installed\n', { mode: 0o755 });
  return (env: Record<string, string>) => {
    const path = `${join(root, 'bin')}:${process.env['PATH']}`;
    execFileSync(process.execPath, ['scripts/setup.mjs'], { cwd: root, env: { PATH: path, ...env }, stdio: 'pipe' });
    return { isInstalled: existsSync(join(root, 'installed')), isBuilt: existsSync(join(root, 'built')) };
  };
}

test.skipIf(process.platform === 'win32')('setup installs and builds what is out of date', () => {
  expect(checkout()({})).toEqual({ isInstalled: true, isBuilt: true });
});

test.skipIf(process.platform === 'win32')(
  'inside a test run it only builds, because other tests use what is installed',
  () => {
    expect(process.env['VITEST']).toBeDefined();
    expect(checkout()({ VITEST: 'true' })).toEqual({ isInstalled: false, isBuilt: true });
  },
);

test.skipIf(process.platform === 'win32')('an install that npm refuses ends with a hint, and leaves no file', () => {
  const [root, temporary] = [tempDirectory({ 'scripts/setup.mjs': 'export function setup() {}' }), tempDirectory()];
  copyFileSync(join(import.meta.dirname, '..', 'scripts', 'install.mjs'), join(root, 'scripts', 'install.mjs'));
  const npm =
    '#!/bin/sh\nif [ "$1" = pack ]; then echo \'[{"filename":"a.tgz"}]\'; else echo EACCES >&2; exit 243; fi\n';
  mkdirSync(join(root, 'bin'));
  writeFileSync(join(root, 'bin', 'npm'), npm, { mode: 0o755 });
  const env = { PATH: `${join(root, 'bin')}:${process.env['PATH']}`, TMPDIR: temporary };
  const { status, stderr } = spawnSync(process.execPath, ['scripts/install.mjs'], { cwd: root, env, encoding: 'utf8' });
  expect({ status, stderr, left: readdirSync(temporary) }).toEqual({
    status: 1,
    stderr: [
      'EACCES',
      'lathe was not installed, because npm install failed.',
      'If npm cannot write to its global folder, choose a folder of your own: npm config set prefix ~/.local',
      '',
    ].join('\n'),
    left: [],
  });
});

test.skipIf(process.platform === 'win32').each([
  ['1.0.0', false],
  ['1.1.0', true],
])('after npm ci with version %s, setup installs: %s', (version, isInstalled) => {
  const run = checkout({
    'node_modules/.package-lock.json': JSON.stringify({ packages: { 'node_modules/a': { version } } }),
  });
  expect(run({})).toEqual({ isInstalled, isBuilt: true });
});
