import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import type { Approver } from '../contract/call.js';
import { LatheHome } from '../files/lathe-home.js';
import { FolderTrust } from '../policy/folder-trust.js';
import { createLathe } from './create-lathe.js';
import type { LatheOptions } from './lathe.js';

const never = new AbortController().signal;

const settings = (hooks: object) => JSON.stringify({ hooks });
const hook = (command: string) => [{ hooks: [{ type: 'command', command }] }];

async function latheIn(cwd: string, home: string, options: Partial<LatheOptions> = {}) {
  const lathe = await createLathe({
    cwd,
    home,
    latheHome: join(home, '.lathe'),
    env: { PATH: process.env['PATH'], HOME: home },
    ...options,
  });
  onTestFinished(() => lathe.close());
  return lathe;
}

const listDirectory = (path: string) => [{ name: 'list_directory', args: { path } }];

test("the user's own hooks run for every caller without asking", async () => {
  const home = tempDirectory({ '.lathe/settings.json': settings({ PreToolUse: hook('echo no >&2; exit 2') }) });
  const cwd = tempDirectory();
  const lathe = await latheIn(cwd, home, { flags: { 'tools.approvalMode': 'yolo' } });
  const direct = await lathe.run(listDirectory(cwd), never);
  const other = await lathe.host.openScheduler().run(listDirectory(cwd), never);
  expect([direct, other].map(([outcome]) => outcome?.error?.type)).toEqual(['execution_denied', 'execution_denied']);
});

// SE10
test('hooks of a folder run only when it is trusted and the user approved exactly these hooks', async () => {
  const cwd = tempDirectory({ '.lathe/settings.json': settings({ PreToolUse: hook('touch ran') }) });
  const home = tempDirectory();
  const questions: string[] = [];
  const approver: Approver = {
    decide: async ({ confirmation }) => {
      questions.push(confirmation.type === 'exec' ? confirmation.command : confirmation.type);
      return { outcome: 'once' };
    },
  };
  const ran = async (options: Partial<LatheOptions> = {}) => {
    const lathe = await latheIn(cwd, home, options);
    await lathe.run(listDirectory(cwd), never);
    return { ran: existsSync(join(cwd, 'ran')), problems: lathe.problems };
  };

  expect((await ran({ approver })).ran).toBe(false);
  await new FolderTrust(new LatheHome(join(home, '.lathe'))).trust(cwd);
  expect(await ran()).toEqual({ ran: false, problems: [expect.stringContaining('PreToolUse hooks of')] });
  expect(questions).toEqual([]);
  expect((await ran({ approver })).ran).toBe(true);
  expect((await ran({ approver })).problems).toEqual([]);
  expect(questions).toEqual(['touch ran']);

  writeFileSync(join(cwd, '.lathe/settings.json'), settings({ PreToolUse: hook('touch ran; touch more') }));
  expect((await ran()).problems).toHaveLength(1);
  expect(existsSync(join(cwd, 'more'))).toBe(false);
  await ran({ approver });
  expect(questions).toEqual(['touch ran', 'touch ran; touch more']);
});

test('--trust approves hooks for one run', async () => {
  const cwd = tempDirectory({ '.lathe/settings.json': settings({ PreToolUse: hook('touch ran') }) });
  const lathe = await latheIn(cwd, tempDirectory(), { isTrusted: true });
  await lathe.run(listDirectory(cwd), never);
  expect([existsSync(join(cwd, 'ran')), lathe.problems]).toEqual([true, []]);
});

test('an unknown event is reported', async () => {
  const home = tempDirectory({ '.lathe/settings.json': settings({ PreTool: hook('true') }) });
  expect((await latheIn(tempDirectory(), home)).problems).toEqual([expect.stringContaining('"PreTool"')]);
});
