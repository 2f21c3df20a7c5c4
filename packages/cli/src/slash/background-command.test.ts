import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { buildProgram, modelVariables } from '../../../../testing/lathe-program.js';
import { modelServer } from '../../../../testing/model-server.js';
import { processesWith, uniqueSleep } from '../../../../testing/processes.js';
import { canSeeProcesses } from '../../../../testing/running.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { terminal, think } from '../../../../testing/terminal.js';

beforeAll(buildProgram, 300_000);

const shell = (command: string, keep: boolean) => ({
  name: 'run_shell_command',
  args: { command, is_background: true, ...(keep && { keep }) },
});

// RS09 RS10
test.skipIf(!canSeeProcesses)(
  'yolo mode asks before it keeps a command; the summary says what stopped and what still runs; a later session stops it',
  async () => {
    const [kept, other] = [uniqueSleep(), uniqueSleep()];
    onTestFinished(() => {
      for (const pid of processesWith(`sleep\0${kept}`)) process.kill(pid);
    });
    const server = await modelServer([
      { calls: [shell(`sleep ${other}`, false), shell(`sleep ${kept}`, true)] },
      { text: 'Both are running.' },
    ]);
    const place = { cwd: tempDirectory({}), env: { HOME: tempDirectory(), ...modelVariables('openai', server.url) } };
    const at = terminal(['--approval-mode', 'yolo', 'serve it'], place);
    await at.shows('keeps running after Lathe has ended');
    expect(processesWith(`sleep\0${kept}`)).toEqual([]);
    await think();
    at.type('y');
    await at.shows('Both are running.');
    at.type('/background\r');
    await at.shows('bg_1 running');
    at.type('/quit\r');
    expect(await at.exited()).toBe(0);
    expect(at.text()).toMatch(/bg_1 stopped \(pid \d+\): sleep/);
    expect(at.text()).toMatch(/kept_\d+ still running \(pid \d+\): sleep/);
    expect(at.text()).toContain(join(place.env.HOME, '.lathe', 'spill'));
    expect(processesWith(`sleep\0${other}`)).toEqual([]);
    expect(processesWith(`sleep\0${kept}`)).toHaveLength(1);

    const later = terminal(['console'], place);
    await later.shows('This is the console');
    later.type('/background\r');
    await later.shows(`: sleep ${kept}`);
    later.type(`/tasks stop ${/kept_\d+/.exec(later.text())?.[0]}\r`);
    await later.shows('Stopped kept_');
    expect(processesWith(`sleep\0${kept}`)).toEqual([]);
    later.type('/quit\r');
    expect(await later.exited()).toBe(0);
  },
  120_000,
);

// RS10
test.skipIf(!canSeeProcesses)(
  'the end of a session waits for the last output of a command, even if another process holds it open',
  async () => {
    const seconds = uniqueSleep();
    const server = await modelServer([{ calls: [shell(`sleep ${seconds}`, false)] }, { text: 'It is running.' }]);
    const place = { cwd: tempDirectory({}), env: { HOME: tempDirectory(), ...modelVariables('openai', server.url) } };
    const at = terminal(['--approval-mode', 'yolo', 'serve it'], place);
    await at.shows('It is running.');
    await expect.poll(() => processesWith(`sleep\0${seconds}`)).toHaveLength(1);
    const [pid] = processesWith(`sleep\0${seconds}`);
    const held = openSync(`/proc/${pid}/fd/1`, constants.O_WRONLY);
    onTestFinished(() => closeSync(held));
    at.type('/quit\r');
    expect(await at.exited()).toBe(0);
    expect(at.text()).toMatch(/bg_1 stopped \(pid \d+\): sleep/);
  },
  120_000,
);
