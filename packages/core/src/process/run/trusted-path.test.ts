import { chmodSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { trustedPath } from './trusted-path.js';

function workspaceWithShim(): string {
  const workspace = tempDirectory({ 'bin/bwrap': '#!/bin/sh\n', 'bin/only-here': '#!/bin/sh\n' });
  chmodSync(join(workspace, 'bin/bwrap'), 0o755);
  chmodSync(join(workspace, 'bin/only-here'), 0o755);
  return workspace;
}

// SB05, SM03
test('a shim in the workspace is never used, even if it comes first in PATH', () => {
  const workspace = workspaceWithShim();
  const options = { outside: [workspace], path: `${workspace}/bin:.:bin:/usr/bin` };
  expect(trustedPath('only-here', options)).toBeUndefined();
  expect(trustedPath('sh', options)).toMatch(/^\/(usr\/)?bin\//);
});

test('a symlink from outside into the workspace is not used', () => {
  const workspace = workspaceWithShim();
  const outside = tempDirectory();
  symlinkSync(join(workspace, 'bin/only-here'), join(outside, 'only-here'));
  expect(trustedPath('only-here', { outside: [workspace], path: outside })).toBeUndefined();
});

test('a program that is only in PATH is found', () => {
  const elsewhere = workspaceWithShim();
  expect(trustedPath('only-here', { outside: [], path: join(elsewhere, 'bin') })).toBe(
    join(elsewhere, 'bin/only-here'),
  );
});
