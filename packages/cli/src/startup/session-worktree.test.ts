import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { parseInvocation } from '../command-line/args.js';
import type { Io } from '../command-line/io.js';
import { inWorktree } from './session-worktree.js';

test('an interruption after the changes were applied does not say that the worktree is kept', async () => {
  const cwd = tempDirectory({ 'a.txt': 'one\n' });
  execFileSync('git', ['init', '-q'], { cwd });
  const interruption = new AbortController();
  const said: string[] = [];
  const err = (text: string) => {
    said.push(text);
    if (text.includes('applied to')) interruption.abort();
  };
  const io: Io = {
    args: [],
    version: '0',
    env: { PATH: process.env['PATH'] },
    cwd,
    home: tempDirectory(),
    stdin: process.stdin,
    terminal: process.stderr,
    isInteractive: false,
    out: () => undefined,
    err,
    flush: async () => undefined,
  };
  const { flags } = parseInvocation(['--approval-mode', 'yolo'], new Set());
  const code = await inWorktree('mine', { flags, io }, interruption.signal, async (inner) => {
    writeFileSync(join(inner.cwd, 'a.txt'), 'two\n');
    return 0;
  });
  expect(code).toBe(0);
  expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('two\n');
  expect(interruption.signal.aborted).toBe(true);
  expect(said.join('\n')).not.toContain('is kept');
});
