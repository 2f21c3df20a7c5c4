import { join } from 'node:path';
import type { ScriptedTurn } from '@lathe/agent/models';

export const demoPrompt = 'The test of average fails. Find out why, fix it and show me that it passes.';

/** What the scripted model says and does. The tools it calls are real, and so is what they do. */
export function demoScript(root: string, paceMs: number): ScriptedTurn[] {
  const source = join(root, 'src', 'average.js');
  const turns: ScriptedTurn[] = [
    {
      text: '*This is a script, not a model: what I say was written beforehand. The tools, their checks and your approval are real.*\n\nFirst I look around.',
      calls: [
        { name: 'list_directory', args: { path: root } },
        { name: 'grep_search', args: { pattern: 'average', path: root } },
        {
          name: 'todo_write',
          args: {
            todos: [
              { id: '1', content: 'Find the bug', status: 'in_progress' },
              { id: '2', content: 'Fix it', status: 'pending' },
              { id: '3', content: 'Run the test', status: 'pending' },
            ],
          },
        },
      ],
    },
    { text: 'The function is in `src/average.js`.', calls: [{ name: 'read_file', args: { absolute_path: source } }] },
    {
      text: 'The loop starts at 1 and leaves out the first number. I change that one place; you see the exact change before it is made.',
      calls: [{ name: 'edit', args: { file_path: source, old_string: 'let i = 1;', new_string: 'let i = 0;' } }],
    },
    {
      text: 'Now the test. Running a program needs your approval as well.',
      calls: [
        { name: 'run_shell_command', args: { command: 'node --test', directory: root, description: 'Run the test' } },
      ],
    },
    {
      text: '## Done\n\n- **Cause:** the loop began at the second number.\n- **Change:** one character in `src/average.js`; every other byte is as it was.\n\nEach change can be taken back: `/undo` here, `lathe undo` in a project of yours.',
    },
  ];
  return turns.map((turn) => ({ delayMs: paceMs, ...turn }));
}
