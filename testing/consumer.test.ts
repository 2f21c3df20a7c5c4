import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildProgram } from './lathe-program.js';
import { hasProgram } from './programs.js';

const project = realpathSync(mkdtempSync(join(tmpdir(), 'lathe-consumer-')));

beforeAll(() => {
  buildProgram();
  execFileSync(process.execPath, [join(import.meta.dirname, '../scripts/consumer.mjs'), project], { encoding: 'utf8' });
}, 300_000);

afterAll(() => rmSync(project, { recursive: true, force: true }));

test('the packed packages compile in a strict project and work there', { timeout: 120_000 }, () => {
  const args = ['--test-reporter=tap', 'dist/main.js'];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: project, encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^[#ℹ] pass [1-9]/m) });
});

test('a project can export a tool with its declaration', () => {
  expect(readFileSync(join(project, 'dist/own-tools.d.ts'), 'utf8')).toContain('DefinedTool');
});

test.runIf(hasProgram('strace'))('importing the library to define a tool opens at most 60 files', () => {
  const log = join(project, 'opened.txt');
  const script = "import { defineTool } from '@lathe/core'; defineTool";
  const program = [process.execPath, '--input-type=module', '-e', script];
  execFileSync('strace', ['-f', '-e', 'trace=open,openat', '-o', log, ...program], { cwd: project });
  const paths = [...readFileSync(log, 'utf8').matchAll(/\bopen(?:at)?\([^"]*"([^"]+)"/g)].map(([, path = '']) => path);
  const opened = [...new Set(paths)].filter((path) => existsSync(path));
  expect(opened).toContain(join(project, 'node_modules/@lathe/core/dist/bundle/index.js'));
  expect(opened.length).toBeLessThanOrEqual(60);
});
