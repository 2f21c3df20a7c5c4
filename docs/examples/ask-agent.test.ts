import { join } from 'node:path';
import { ScriptedModel } from '@lathe/agent/models';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../testing/temp-directory.js';
import { askAgent } from './ask-agent.js';

test('the example asks, shows what happens and returns the answer', async () => {
  const cwd = tempDirectory({ 'a.txt': 'alpha\n' });
  const calls = [{ name: 'read_file', args: { absolute_path: join(cwd, 'a.txt') } }];
  const model = new ScriptedModel([{ calls }, { text: 'It says alpha.' }]);
  const lines: string[] = [];
  expect(await askAgent('What is in a.txt?', model, cwd, (line: string) => lines.push(line))).toBe('It says alpha.');
  expect(lines).toEqual([expect.stringContaining('a.txt'), 'success: read_file']);
});
