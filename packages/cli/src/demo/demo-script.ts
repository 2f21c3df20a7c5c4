import { join } from 'node:path';
import type { ScriptedTurn } from '@lathe/agent/models';

export const demoPrompt = 'The test for average fails. Find out why, fix it and show me that it passes.';

/** The turns of the scripted model. Its tool calls are real. */
export function demoScript(root: string, paceMs: number): ScriptedTurn[] {
  const source = join(root, 'src', 'average.js');
  const turns: ScriptedTurn[] = [
    {
      text: '*This is a script, not a model: my answers were written in advance. The tools, their checks and your approval are real.*\n\nFirst I look around.',
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
      text: 'The loop starts at 1 and skips the first number. I change only that. You see the exact change before it is made.',
      calls: [{ name: 'edit', args: { file_path: source, old_string: 'let i = 1;', new_string: 'let i = 0;' } }],
    },
    {
      text: 'Now I run the test. Running a program also needs your approval.',
      calls: [
        { name: 'run_shell_command', args: { command: 'node --test', directory: root, description: 'Run the test' } },
      ],
    },
    {
      text: '## Done\n\n- **Cause:** the loop started at the second number.\n- **Change:** one character in `src/average.js`. Everything else is unchanged.\n\nYou can undo every change: with `/undo` in a session, with `lathe undo` in the shell.',
    },
  ];
  return turns.map((turn) => ({ delayMs: paceMs, ...turn }));
}
