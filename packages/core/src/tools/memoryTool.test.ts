import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { policyOf, schedulerOf, yes } from '../../../../testing/scheduler-kit.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import type { ApprovalRequest, Approver } from '../contract/call.js';
import type { Decision } from '../contract/confirmation.js';
import { SeenFiles } from '../files/access/seen-files.js';
import { LatheHome } from '../files/lathe-home.js';
import { Journal } from '../files/undo/journal.js';
import { Workspace } from '../files/workspace.js';
import { FileChanges } from '../files/write/file-changes.js';
import { FileLocks } from '../files/write/file-lock.js';
import { denyAll } from '../scheduler/approve.js';
import { MemoryTool } from './memoryTool.js';

const never = new AbortController().signal;

async function setUp(
  files: Record<string, string | Uint8Array>,
  approver: Approver,
  mode: 'default' | 'auto-edit' | 'yolo' = 'default',
) {
  const root = tempDirectory(files);
  const home = new LatheHome(join(tempDirectory(), 'lathe'));
  const changes = new FileChanges({ locks: new FileLocks(home), journal: new Journal(home), seen: new SeenFiles() });
  const memory = { global: home.file('AGENTS.md'), project: join(root, 'AGENTS.md') };
  const workspace = await Workspace.open(root, [], { guarded: [home.path] });
  const tool = new MemoryTool(workspace, changes, {
    global: async () => memory.global,
    project: async () => memory.project,
  });
  const { scheduler } = schedulerOf([tool], { approver, policy: policyOf({ mode }) });
  const save = async (args: Record<string, unknown>) =>
    (await scheduler.run([{ name: 'save_memory', args }], never))[0];
  return { save, memory, changes };
}

function answering(answer: Decision | ((request: ApprovalRequest) => Decision)) {
  const asked: ApprovalRequest[] = [];
  const approver: Approver = {
    decide: async (request) => {
      asked.push(request);
      return typeof answer === 'function' ? answer(request) : answer;
    },
  };
  return { asked, approver };
}

// SK03
test('without a scope the person chooses, seeing both diffs', async () => {
  const { asked, approver } = answering({ outcome: 'once', choice: 'project' });
  const { save, memory } = await setUp({ 'AGENTS.md': '# Project\n' }, approver);
  const outcome = await save({ fact: 'Uses tabs.' });
  expect(outcome).toMatchObject({ status: 'success', llmContent: `Remembered in ${memory.project}: Uses tabs.` });
  expect(readFileSync(memory.project, 'utf8')).toBe('# Project\n\n## Lathe Added Memories\n\n- Uses tabs.\n');
  expect(asked).toHaveLength(1);
  expect(asked[0]?.confirmation).toMatchObject({
    type: 'edit',
    choices: [
      { id: 'global', label: `For all projects (${memory.global})` },
      { id: 'project', label: `For this project (${memory.project})` },
    ],
    fileDiff: expect.stringMatching(/\+- Uses tabs\.[\s\S]*\+- Uses tabs\./),
  });
  expect(asked[0]?.confirmation.rules).toBeUndefined();
});

test('with a scope a yes is enough, and the file is made', async () => {
  const { save, memory } = await setUp({}, yes);
  await save({ fact: 'Speaks French.', scope: 'global' });
  expect(readFileSync(memory.global, 'utf8')).toBe('## Lathe Added Memories\n\n- Speaks French.\n');
});

test('a yes without a choice writes nothing and says what is missing', async () => {
  const { save } = await setUp({}, yes);
  expect((await save({ fact: 'x' }))?.error?.type).toBe('memory_tool_execution_error');
});

// SK03
test('a fact that is already saved is not written again', async () => {
  const { save, memory } = await setUp({ 'AGENTS.md': '## Qwen Added Memories\n- uses TABS.\n' }, yes);
  const outcome = await save({ fact: 'Uses tabs.', scope: 'project' });
  expect(outcome?.llmContent).toContain('Already remembered');
  expect(readFileSync(memory.project, 'utf8')).toBe('## Qwen Added Memories\n- uses TABS.\n');
});

// SK03
test('a file that changed after the diff was shown is not written', async () => {
  let project = '';
  const { approver } = answering(() => {
    writeFileSync(project, 'changed meanwhile\n');
    return { outcome: 'once' };
  });
  const { save, memory } = await setUp({ 'AGENTS.md': '# Project\n' }, approver);
  project = memory.project;
  expect((await save({ fact: 'x', scope: 'project' }))?.error?.type).toBe('file_changed_since_read');
  expect(readFileSync(project, 'utf8')).toBe('changed meanwhile\n');
});

// SK03
test.each(['default', 'auto-edit'] as const)('in %s mode remembering asks', async (mode) => {
  const { save } = await setUp({}, denyAll, mode);
  expect((await save({ fact: 'x', scope: 'project' }))?.error?.type).toBe('execution_denied');
});

// SK03
test('even yolo does not write the memory of all projects unasked', async () => {
  const { save } = await setUp({}, denyAll, 'yolo');
  expect((await save({ fact: 'x', scope: 'global' }))?.error?.type).toBe('execution_denied');
});

test('line endings and other bytes of the file stay', async () => {
  const { save, memory } = await setUp(
    { 'AGENTS.md': Buffer.from('caf\xe9\r\n\r\n## Lathe Added Memories\r\n- a\r\n', 'latin1') },
    yes,
  );
  await save({ fact: 'b', scope: 'project' });
  expect(readFileSync(memory.project, 'latin1')).toBe('caf\xe9\r\n\r\n## Lathe Added Memories\r\n- a\r\n- b\r\n');
});

test('a memory can be undone', async () => {
  const { save, memory, changes } = await setUp({ 'AGENTS.md': '# Project\n' }, yes);
  await save({ fact: 'x', scope: 'project' });
  await changes.undo({ count: 1 }, never);
  expect(readFileSync(memory.project, 'utf8')).toBe('# Project\n');
});
