import { chmodSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { resolveProgram, sanitizePath } from './trusted-path.js';

function withTool(): string {
  const directory = tempDirectory({ 'bin/tool': '#!/bin/sh\n' });
  chmodSync(join(directory, 'bin/tool'), 0o755);
  return directory;
}

test('a search path keeps absolute directories outside the workspace, each once', async () => {
  const [workspace, other] = [withTool(), withTool()];
  symlinkSync(join(workspace, 'bin'), join(other, 'link'));
  const path = [
    '',
    '.',
    'bin',
    `${workspace}/bin`,
    `${other}/link`,
    '/usr/bin',
    `${other}/bin`,
    '/usr/bin',
    '/nowhere',
  ].join(':');
  expect(await sanitizePath(path, [workspace])).toBe(`/usr/bin:${other}/bin`);
});

test('a bare name is the first executable file on the path', async () => {
  const [first, second] = [tempDirectory({ 'bin/tool': 'not executable' }), withTool()];
  const path = `${first}/bin:${second}/bin`;
  expect(await resolveProgram('tool', { cwd: '/', path, workspaceRoots: [] })).toEqual({
    file: join(second, 'bin/tool'),
    isInWorkspace: false,
  });
  expect(await resolveProgram('nothing', { cwd: '/', path, workspaceRoots: [] })).toEqual({ isInWorkspace: false });
});

test('a program in the workspace is recognized by name, by path and through symlinks', async () => {
  const workspace = withTool();
  symlinkSync('/bin/sh', join(workspace, 'bin/link'));
  const options = { cwd: workspace, path: `${workspace}/bin`, workspaceRoots: [workspace] };
  for (const name of ['tool', './bin/tool', 'bin/tool', join(workspace, 'bin/tool'), './bin/link']) {
    expect(await resolveProgram(name, options)).toMatchObject({ isInWorkspace: true });
  }
});
