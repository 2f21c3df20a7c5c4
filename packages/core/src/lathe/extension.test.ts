import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { createLathe } from './create-lathe.js';
import type { LatheOptions } from './lathe.js';

async function open(extend?: NonNullable<LatheOptions['extend']>) {
  const cwd = tempDirectory();
  const lathe = await createLathe({
    cwd,
    env: {},
    home: cwd,
    latheHome: join(cwd, '.state'),
    ...(extend && { extend }),
  });
  onTestFinished(() => lathe.close());
  return lathe;
}

const namesOf = ({ tools }: Awaited<ReturnType<typeof open>>) => tools.getAllTools().map(({ name }) => name);

test('without somebody who runs tasks there is no task tool; with one it stands in its place', async () => {
  const tasks = {
    list: () => [{ name: 'general-purpose', description: 'Works.' }],
    run: async () => Promise.reject(new Error('not called')),
  };
  const [plain, extended] = [namesOf(await open()), namesOf(await open(async () => ({ tasks })))];
  expect(plain).not.toContain('task');
  expect(extended.slice(extended.indexOf('task') - 1)).toEqual([
    'save_memory',
    'task',
    'todo_write',
    'ask_user_question',
    'exit_plan_mode',
  ]);
  expect(extended.filter((name) => name !== 'task')).toEqual(plain);
});

test('an extension is given what is open, and its problems are reported', async () => {
  const lathe = await open(async ({ workspace, loaded, home }) => ({
    problems: [`${workspace.roots.length} ${loaded.isTrusted} ${home.path.endsWith('.state')}`],
  }));
  expect(lathe.problems).toEqual(['1 false true']);
});
