import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLathe, textOf } from '@lathe/core';
import { tempWorkspace } from '@lathe/core/testing';
import { add } from './own-tools.js';

void test('without HOME the folder is not the home directory, and its settings do not count', async () => {
  const project = tempWorkspace({
    'a.txt': 'text\n',
    '.lathe/settings.json': '{ "tools": { "approvalMode": "yolo" } }',
    '.qwen/settings.json': '{ "tools": { "approvalMode": "yolo" } }',
  });
  const state = tempWorkspace();
  const lathe = await createLathe({
    cwd: project.path,
    env: { PATH: process.env['PATH'] },
    latheHome: state.path,
    tools: [add],
  });
  try {
    assert.notEqual(lathe.settings.tools.approvalMode, 'yolo');
    assert.notEqual(lathe.host.userHome, project.path);
    const signal = AbortSignal.timeout(20_000);
    const outcomes = await lathe.run(
      [
        { name: 'list_directory', args: { path: project.path } },
        { name: 'add', args: { a: 1, b: 2 } },
        { name: 'write_file', args: { file_path: `${project.path}/b.txt`, content: 'b' } },
      ],
      signal,
    );
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['success', 'success', 'error'],
    );
    assert.match(textOf(outcomes[0]?.llmContent ?? ''), /a\.txt/);
  } finally {
    await lathe.close();
    project.remove();
    state.remove();
  }
});

void test('mistakes of the program are errors', async () => {
  await assert.rejects(createLathe({ cwd: 'relative', env: process.env }), /cwd must be an absolute path/);
  // @ts-expect-error -- there is no such setting
  await assert.rejects(createLathe({ cwd: '/', env: process.env, flags: { 'tools.approvalmode': 'yolo' } }), /flags/);
});
