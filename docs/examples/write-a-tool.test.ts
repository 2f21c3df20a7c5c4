import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLathe } from '@lathe/core';
import { runCalls } from '@lathe/core/testing';
import { transformSync } from 'rolldown/utils';
import { expect, onTestFinished, test } from 'vitest';
import { tempDirectory } from '../../testing/temp-directory.js';
import hello from './hello.js';

const guide = readFileSync(join(import.meta.dirname, '..', 'write-a-tool.md'), 'utf8');
const source = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');

test.each(['hello.ts', 'word-count.ts', 'deploy-tool.ts', 'deploy-tool.test.ts'])(
  'the guide shows exactly %s',
  (name) => {
    expect(guide).toContain(`\`\`\`ts\n${source(name)}\`\`\``);
  },
);

test('the first tool of the guide is five lines in a call', async () => {
  const { outcomes } = await runCalls({ tools: [hello], calls: [{ name: 'hello', args: { name: 'Ada' } }] });
  expect(outcomes[0]?.llmContent).toBe('Hello, Ada!');
  expect(source('hello.ts').split('\n').slice(2, -1)).toHaveLength(6);
});

/** The block of the guide that begins with this text. */
const block = (start: string) => {
  const from = guide.indexOf(start);
  return guide.slice(from, guide.indexOf('```', from));
};

test('the package of the guide works in a tool file of a project', async () => {
  const cwd = tempDirectory();
  const modules = join(cwd, '.lathe/node_modules');
  mkdirSync(join(modules, 'deploy-tool'), { recursive: true });
  mkdirSync(join(modules, '@lathe'));
  symlinkSync(join(import.meta.dirname, '../../packages/core'), join(modules, '@lathe/core'));
  writeFileSync(join(modules, 'deploy-tool/package.json'), block('{\n  "name": "deploy-tool"'));
  const { code } = transformSync('deploy-tool.ts', source('deploy-tool.ts'));
  writeFileSync(join(modules, 'deploy-tool/deploy-tool.js'), code);
  mkdirSync(join(cwd, '.lathe/tools'));
  writeFileSync(join(cwd, '.lathe/tools/deploy.ts'), block('// .lathe/tools/deploy.ts'));
  writeFileSync(join(cwd, 'package.json'), '{ "version": "3.0.0" }');
  writeFileSync(join(cwd, 'deployments.md'), '');
  const [home, latheHome] = [tempDirectory(), tempDirectory()];
  const flags = { 'tools.approvalMode': 'yolo' } as const;
  const lathe = await createLathe({ cwd, env: {}, home, latheHome, isTrusted: true, flags });
  onTestFinished(() => lathe.close());
  expect(await lathe.discover(new AbortController().signal)).toEqual(new Map());
  expect(lathe.tools.rejections()).toEqual([]);
  const deploy = async () =>
    (await lathe.run([{ name: 'deploy', args: { environment: 'staging' } }], new AbortController().signal))[0]?.error;
  // The script of the project is missing, and that is as far as the tool got.
  expect((await deploy())?.message).toContain('deploy.sh ENOENT');
  // The package has its own copy of the class ToolError.
  writeFileSync(join(cwd, 'package.json'), '{}');
  expect(await deploy()).toEqual({ type: 'execution_failed', message: 'package.json has no version; add one.' });
});
