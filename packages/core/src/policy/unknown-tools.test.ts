import { expect, test } from 'vitest';
import { unknownTools } from './unknown-tools.js';

const known = { tools: ['read_file', 'edit', 'run_shell_command', 'github__search', 'deploy'], servers: ['jira'] };

test.each([
  'read_file',
  'run_shell_command(rm *)',
  'Bash(rm *)',
  'MultiEdit',
  'web_search',
  'deploy',
  'Deploy',
  'run_*',
  'github',
  'jira',
  'mcp__github',
  'mcp__elsewhere__search',
  'elsewhere__search',
  'elsewhere__*',
])('%s matches a tool', (rule) => {
  expect(unknownTools([rule], known)).toEqual([]);
});

test.each([
  ['run_shell_comand(rm *)', 'run_shell_command'],
  ['ReadFiles(.env)', 'read_file'],
  ['jirra', 'jira'],
  ['deply(prod)', 'deploy'],
])('%s probably means %s', (rule, meant) => {
  expect(unknownTools([rule], known)).toEqual([{ rule, meant }]);
});

test.each(['nosuch_tool(x)', 'rnu_*'])('%s matches no tool and resembles none', (rule) => {
  expect(unknownTools([rule], known)).toEqual([{ rule }]);
});
