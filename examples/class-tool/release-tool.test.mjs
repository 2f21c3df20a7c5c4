import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCalls, tempWorkspace } from '@lathe/core/testing';
import { ReleaseTool } from './release-tool.mjs';

const calls = [{ name: 'release', args: { version: '1.3.0' } }];
const yes = { outcome: 'once' };

async function release(answers) {
  const workspace = tempWorkspace({ 'package.json': '{ "version": "1.2.0" }\n' });
  try {
    const { outcomes, questions } = await runCalls({ tools: [new ReleaseTool()], calls, cwd: workspace.path, answers });
    const asked = questions.map(({ tool, confirmation }) => `${tool}: ${confirmation.title}`);
    return { status: outcomes[0].status, asked, text: workspace.read('package.json') };
  } finally {
    workspace.remove();
  }
}

test('it asks, then shows the change of the file', async () => {
  assert.deepEqual(await release([yes, yes]), {
    status: 'success',
    asked: ['release: Release?', 'write_file: Confirm WriteFile: package.json'],
    text: '{ "version": "1.3.0" }\n',
  });
});

test('after a no nothing changes', async () => {
  const { status, text } = await release([]);
  assert.deepEqual([status, text], ['cancelled', '{ "version": "1.2.0" }\n']);
});
