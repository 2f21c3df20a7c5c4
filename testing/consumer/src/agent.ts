import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAgentLathe, openAgent } from '@lathe/agent';
import { type Model, ScriptedModel } from '@lathe/agent/models';
import { tempWorkspace } from '@lathe/core/testing';
import { add } from './own-tools.js';

void test('an agent calls a tool of the program', async () => {
  const [project, state] = [tempWorkspace(), tempWorkspace()];
  const model: Model = new ScriptedModel([{ calls: [{ name: 'add', args: { a: 1, b: 2 } }] }, { text: 'It is 3.' }]);
  const lathe = await createAgentLathe({
    cwd: project.path,
    env: { PATH: process.env['PATH'] },
    home: state.path,
    tools: [add],
  });
  try {
    let text = '';
    const results: unknown[] = [];
    for await (const event of openAgent(lathe, { model }).prompt('1 + 2?', AbortSignal.timeout(20_000))) {
      if (event.type === 'text-delta') text += event.text;
      if (event.type === 'call-end') results.push(event.outcome.llmContent);
    }
    assert.deepEqual([results, text], [['3'], 'It is 3.']);
  } finally {
    await lathe.close();
    project.remove();
    state.remove();
  }
});
