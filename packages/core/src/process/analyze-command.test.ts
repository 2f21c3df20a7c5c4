import { expect, test } from 'vitest';
import { analyzeCommand } from './analyze-command.js';

test('a proven command needs no answer', async () => {
  const analysis = await analyzeCommand('git log --oneline -5 | head', {
    cwd: '/',
    workspaceRoots: ['/'],
    home: '/root',
    path: '/nowhere',
  });
  expect(analysis).toMatchObject({ isReadOnly: true, rules: [], rootCommand: '' });
});
