import { expect, test } from 'vitest';
import { describeRule } from './describe-rule.js';

test.each([
  ['run_shell_command(npm test *)', 'npm test …'],
  ['Bash(git log:*)', 'git log …'],
  ['run_shell_command', 'every use of run_shell_command'],
  ['run_shell_command(*)', 'every command'],
  ['run_shell_command(=node x.js > log)', 'exactly node x.js > log'],
  ['run_shell_command(=&[packages/a] npm run dev)', 'exactly npm run dev in packages/a in the background'],
  ['run_shell_command(=[.] [ -f x ] && make)', 'exactly [ -f x ] && make'],
  ['edit(/**)', 'edits in this folder'],
  ['edit(/src/**)', 'edits in src'],
  ['write_file(*.md)', 'edits of *.md'],
  ['read_file(//etc/hosts)', 'reading of /etc/hosts'],
  ['read_file(~/notes/**)', 'reading in ~/notes'],
  ['web_fetch(example.com)', 'pages from example.com'],
  ['github__search', 'every use of github__search'],
  ['not a rule(', 'not a rule('],
])('%s reads as: %s', (rule, text) => {
  expect(describeRule(rule)).toBe(text);
});
