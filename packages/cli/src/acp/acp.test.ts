import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { editor } from '../../../../testing/acp-editor.js';
import { buildProgram } from '../../../../testing/lathe-program.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';

beforeAll(buildProgram, 300_000);

test('a whole task: a question, a diff, an answer', async () => {
  const cwd = tempDirectory({ 'a.txt': 'one\ntwo\n' });
  const edit = { name: 'edit', args: { file_path: join(cwd, 'a.txt'), old_string: 'two', new_string: '2' } };
  const at = await editor({ cwd, script: [{ text: 'I edit.', calls: [{ id: 'c1', ...edit }] }, { text: 'Done.' }] });
  const { sessionId } = await at.open();
  expect(await at.prompt(sessionId, 'edit it')).toEqual({ stopReason: 'end_turn' });
  expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('one\n2\n');
  console.log(JSON.stringify(at.updates, null, 1), JSON.stringify(at.questions, null, 1), at.output.stderr);
  at.assertConformance();
  expect(await at.leave()).toBe(0);
});
