import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildProgram, modelVariables } from '../../../../testing/lathe-program.js';
import { modelServer, type ServerScript } from '../../../../testing/model-server.js';
import { processesWith, uniqueSleep } from '../../../../testing/processes.js';
import { canSeeProcesses } from '../../../../testing/running.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { isCooked, isRestored, type TerminalOptions, terminal, think } from '../../../../testing/terminal.js';

beforeAll(buildProgram, 300_000);

const idle = 'Ask for anything.';
const crash = join(import.meta.dirname, '../../../../testing/children/crash-program.mjs');
const shell = (command: string) => ({ name: 'run_shell_command', args: { command } });

/** Starts the program with a model that plays these turns. */
async function withModel(script: ServerScript, args: string[], options: Partial<TerminalOptions> = {}) {
  const server = await modelServer(script);
  const env = { HOME: tempDirectory(), ...modelVariables('openai', server.url), ...options.env };
  const place = { cwd: tempDirectory({}), ...options, env };
  return { server, place, ...terminal(args, place) };
}

describe('exit and suspend', () => {
  test.each(['SIGTERM', 'SIGHUP'] as const)(
    'RA03 %s restores the terminal and sets the exit code',
    async (name) => {
      const at = await withModel([{ text: 'Hello.' }], [], { isStartedByShell: true });
      await at.shows(idle);
      process.kill(at.pid(), name);
      expect(await at.exited()).toBe(130);
      expect(isRestored(at.raw())).toBe(true);
      await expect.poll(() => isCooked(at.text())).toBe(true);
    },
    60_000,
  );

  test.each(['component', 'exception', 'rejection'])(
    'RA08 RA09 a bug (%s) restores the terminal and is reported',
    async (kind) => {
      const env = { NODE_OPTIONS: `--import=${crash}`, LATHE_TEST_CRASH: kind };
      const at = await withModel([{ text: 'Hello.' }], [], { isStartedByShell: true, env });
      if (kind !== 'component') {
        await at.shows(idle);
        process.kill(at.pid(), 'SIGUSR2');
      }
      expect(await at.exited()).toBeGreaterThan(0);
      expect(isRestored(at.raw())).toBe(true);
      await expect.poll(() => isCooked(at.text())).toBe(true);
      expect(at.text()).toContain('boom');
    },
    60_000,
  );

  test.each(['SIGTSTP', 'Ctrl+Z'])(
    'RA04 %s: the terminal is restored while the program is suspended, and the screen returns when it continues',
    async (way) => {
      const at = await withModel([{ text: 'Hello you.' }], [], { isStartedByShell: true });
      await at.shows(idle);
      if (way === 'Ctrl+Z') at.type('\u001a');
      else process.kill(at.pid(), 'SIGTSTP');
      await expect.poll(() => isRestored(at.raw())).toBe(true);
      process.kill(at.pid(), 'SIGCONT');
      await expect.poll(() => isRestored(at.raw())).toBe(false);
      at.type('hi\r');
      await at.shows('Hello you.');
      await at.shows(idle);
      at.type('/quit\r');
      expect(await at.exited()).toBe(0);
      await expect.poll(() => isCooked(at.text())).toBe(true);
    },
    60_000,
  );
});

test.skipIf(!canSeeProcesses)(
  'RA03 closing the terminal kills running commands and keeps the conversation',
  async () => {
    const seconds = uniqueSleep();
    const script = [{ text: 'I wait.', calls: [shell(`sleep ${seconds}`)] }, { text: 'Back again.' }];
    const at = await withModel(script, ['--approval-mode', 'yolo', 'wait a while']);
    await at.shows('I wait.');
    await expect.poll(() => processesWith(seconds).length, { timeout: 20_000 }).toBeGreaterThan(0);
    at.hangUp();
    await at.exited();
    await expect.poll(() => processesWith(seconds), { timeout: 20_000 }).toEqual([]);
    const later = terminal(['--continue', 'go on'], at.place);
    await later.shows('Back again.');
    expect(JSON.stringify(at.server.requests.at(-1)?.body)).toContain('wait a while');
  },
  90_000,
);

test.skipIf(!canSeeProcesses)(
  'RA01 RA02 repeated Esc cancels the work, and the next turn is valid',
  async () => {
    const seconds = uniqueSleep();
    const at = await withModel(
      [{ calls: [shell(`sleep ${seconds}`)] }, { text: 'All right.' }],
      ['--approval-mode', 'yolo', 'wait'],
    );
    await expect.poll(() => processesWith(seconds).length, { timeout: 25_000 }).toBeGreaterThan(0);
    at.type('\u001b');
    await expect.poll(() => processesWith(seconds), { timeout: 20_000 }).toEqual([]);
    await at.shows(idle);
    // One at a time, because two together mean Alt+Esc.
    for (let index = 0; index < 20; index++) {
      at.type('\u001b');
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    at.type('never mind\r');
    await at.shows('All right.');
    const { messages } = Object(at.server.requests.at(-1)?.body);
    expect(messages.filter(({ role }: { role: string }) => role === 'tool')).toHaveLength(1);
    await at.shows(idle);
    at.type('/quit\r');
    expect(await at.exited()).toBe(0);
  },
  90_000,
);

test('RA02 Esc and Ctrl+C deny a question, whatever is typed after them', async () => {
  const at = await withModel([{ calls: [shell('touch made')] }, { calls: [shell('touch made')] }], ['make it']);
  await at.shows('Yes, once');
  await think();
  at.type('\u001b');
  await at.shows('You said no, so the turn ended');
  await at.shows(idle);
  at.type('again\r');
  await expect.poll(() => at.text().split('Yes, once').length, { timeout: 20_000 }).toBe(2);
  await think();
  at.type('\u0003');
  at.type('\u0003');
  expect(await at.exited()).toBe(0);
  expect(isRestored(at.raw())).toBe(true);
}, 90_000);

test('a model server that dies during an answer is reported, and the prompt returns', async () => {
  const at = await withModel([{ text: 'Hello there. '.repeat(50), fault: { kind: 'stall', afterBytes: 400 } }], ['hi']);
  await expect.poll(() => at.server.requests.length, { timeout: 20_000 }).toBe(1);
  await at.server.close();
  await at.shows(idle);
  at.type('/quit\r');
  expect(await at.exited()).toBe(0);
  expect(isRestored(at.raw())).toBe(true);
}, 90_000);

test('Shift+Tab cycles through the modes without yolo', async () => {
  const at = terminal(['console'], { cwd: tempDirectory({}) });
  await at.shows('This is the console');
  const modes: string[] = [];
  for (const mode of ['auto', 'plan', 'default', 'auto']) {
    at.type('\u001b[Z');
    await expect.poll(() => statusOf(at.text()), { timeout: 20_000 }).toContain(mode);
    modes.push(statusOf(at.text()));
  }
  expect(modes.join('\n')).not.toContain('yolo');
  at.type('/quit\r');
  expect(await at.exited()).toBe(0);
}, 60_000);

test('RA05 a thousand resizes between one and five hundred columns end in the right layout', async () => {
  const at = terminal(['console'], { cwd: tempDirectory({}) });
  await at.shows('This is the console');
  at.type('half a line');
  await at.shows('half a line');
  for (let index = 0; index < 1000; index++) {
    at.resize(1 + ((index * 37) % 500), 1 + ((index * 13) % 60));
    if (index % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  at.resize(100, 40);
  at.type(' and the rest');
  await at.shows('❯ half a line and the rest');
  await expect.poll(() => statusOf(at.text()), { timeout: 20_000 }).toContain('console (no model)');
  expect(at.text().trimEnd().split('\n').at(-3)).toMatch(/^❯ half a line and the rest/);
  at.type('\u0003');
  at.type('\u0003');
  expect(await at.exited()).toBe(0);
}, 60_000);

const statusOf = (text: string) => text.trimEnd().split('\n').at(-1) ?? '';

test('hooks run at the end of a conversation', async () => {
  const ended = join(tempDirectory(), 'ended');
  const settings = { hooks: { SessionEnd: [{ hooks: [{ command: `cat > ${ended}` }] }] } };
  const HOME = tempDirectory({ '.lathe/settings.json': JSON.stringify(settings) });
  const at = await withModel([{ text: 'Hello.' }], ['hi'], { env: { HOME } });
  await at.shows('Hello.');
  at.type('/quit\r');
  expect(await at.exited()).toBe(0);
  expect(JSON.parse(readFileSync(ended, 'utf8'))).toMatchObject({ hook_event_name: 'SessionEnd', reason: 'other' });
}, 90_000);
