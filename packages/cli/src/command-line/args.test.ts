import { expect, test } from 'vitest';
import { parseInvocation, UsageError } from './args.js';

const commands = new Set(['call', 'tools', 'mcp', 'serve', 'clean']);
const parse = (...args: string[]) => parseInvocation(args, commands);

test.each<[string[], object]>([
  [[], { command: undefined, operands: [] }],
  [['fix', 'the', 'bug'], { command: undefined, operands: ['fix', 'the', 'bug'] }],
  [['call', 'ls', '{"a":1}', '--json'], { command: 'call', operands: ['ls', '{"a":1}'], flags: { json: true } }],
  [['--json', 'call', 'ls', '-'], { command: 'call', operands: ['ls', '-'], flags: { json: true } }],
  [['-p', 'hello', '-o', 'stream-json'], { flags: { prompt: 'hello', outputFormat: 'stream-json' } }],
  [['--yolo'], { flags: { approvalMode: 'yolo' } }],
  [['--approval-mode', 'auto_edit'], { flags: { approvalMode: 'auto-edit' } }],
  [['--approval-mode=plan', 'tools'], { command: 'tools', flags: { approvalMode: 'plan' } }],
  [
    ['--allowed-tools', 'a,run_shell_command(git log, x),b', '--allowed-tools', 'c'],
    { flags: { allowedTools: ['a', 'run_shell_command(git log, x)', 'b', 'c'] } },
  ],
  [
    ['--allowed-tools', 'run_shell_command(f (a, b)),c'],
    { flags: { allowedTools: ['run_shell_command(f (a, b))', 'c'] } },
  ],
  [['mcp', 'add', 'x', '--', 'node', '--flag'], { command: 'mcp', operands: ['add', 'x', '--', 'node', '--flag'] }],
  [['--cwd', '/x', 'serve', '--http'], { command: 'serve', operands: ['--http'], flags: { cwd: '/x' } }],
  [['mcp', '--help'], { command: 'mcp', flags: { help: true } }],
  [['mcp', 'add', '-h'], { command: 'mcp', flags: { help: true } }],
  [['serve', '-h'], { command: 'serve', flags: { help: true } }],
  [['mcp', 'add', 'x', 'node', '--help'], { command: 'mcp', flags: { help: false } }],
  [['--sandbox', 'required'], { flags: { sandbox: 'required' } }],
  [['--sandbox=false'], { flags: { sandbox: 'off' } }],
  [['-p', 'clean'], { command: undefined, flags: { prompt: 'clean' } }],
  [['clean', '--older-than', '7'], { command: 'clean', operands: ['--older-than', '7'] }],
  [['--resume'], { flags: { resume: '' } }],
  [['-r', '--yolo'], { flags: { resume: '', approvalMode: 'yolo' } }],
  [['--resume', '3f2a'], { flags: { resume: '3f2a' } }],
  [['explain', 'mcp'], { command: undefined, operands: ['explain', 'mcp'] }],
  [['clear', 'it'], { command: undefined, operands: ['clear', 'it'] }],
  [['review'], { command: undefined, operands: ['review'] }],
  [['help'], { command: undefined, operands: [], flags: { help: true } }],
  [['help', 'tools'], { command: 'tools', operands: [], flags: { help: true } }],
  [['help', 'me', 'with', 'undo'], { command: undefined, operands: ['help', 'me', 'with', 'undo'] }],
  [['-p', 'help'], { command: undefined, flags: { prompt: 'help', help: false } }],
  [['-p', 'cleen'], { command: undefined, flags: { prompt: 'cleen' } }],
])('%j', (args, expected) => {
  expect(parse(...args)).toMatchObject(expected);
});

test.each([
  [['--nonsense'], /nonsense'$/],
  [['--modell', 'x'], /'--modell'. Did you mean --model\?$/],
  [['--approval-mode', 'sometimes'], /plan, default, auto, yolo/],
  [['--yolo', '--approval-mode', 'plan'], /cannot be used together/],
  [['--sandbox', 'sometimes'], /required, auto, off/],
  [['--cwd'], /cwd/],
  [['tool'], /^there is no command tool; did you mean lathe tools\? To send it as a prompt: lathe -p tool$/],
  [['version'], /did you mean lathe --version\?/],
  [['claen', '--json'], /did you mean lathe clean\?/],
  [['-o', 'xml'], /text, json, stream-json/],
  [['--allowed-tools', 'run_shell_command(git log'], /not balanced/],
  [['--allowed-tools', 'a,b)'], /not balanced/],
  [['--worktree', 'x', 'clean'], /clean does not take --worktree/],
])('%j is a usage error', (args, message) => {
  expect(() => parse(...args)).toThrow(UsageError);
  expect(() => parse(...args)).toThrow(message);
});
