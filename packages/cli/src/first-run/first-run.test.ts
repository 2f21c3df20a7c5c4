import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildProgram } from '../../../../testing/lathe-program.js';
import { modelServer } from '../../../../testing/model-server.js';
import { hasProgram } from '../../../../testing/programs.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { isRestored, terminal } from '../../../../testing/terminal.js';

/** The question about the mode is asked only where commands have one. */
const hasSandbox = hasProgram('bwrap');

beforeAll(buildProgram, 300_000);

const sizes = [
  [120, 40],
  [80, 24],
  [60, 18],
] as const;

function open(columns: number, rows: number, env: Record<string, string>) {
  const at = terminal([], { cwd: tempDirectory(), env, columns, rows });
  const sees = async (...wanted: string[]) => {
    for (const text of wanted)
      await expect.poll(() => words(at.visible()), { timeout: 25_000, interval: 30 }).toContain(text);
  };
  /** Types the number of a choice on the screen. */
  const choose = (label: string) => at.type(new RegExp(`(\\d) {2}${label}`).exec(at.visible())?.[1] ?? 'missing');
  /** Chooses how much may run, where there is a sandbox. Both modes are explained in full. */
  const chooseMode = async (label: string) => {
    if (!hasSandbox) return;
    await sees(
      'How much may run without a question?',
      '1 default',
      'edits and sandboxed commands run',
      'Esc to decide later',
    );
    choose(label);
  };
  return { ...at, sees, choose, chooseMode };
}

/** A narrow window breaks lines anywhere. */
const words = (screen: string) => screen.replaceAll(/\s+/g, ' ');

test('without a configured model a menu appears, and the console works', async () => {
  const cwd = tempDirectory({ 'a.txt': 'one\n' });
  const { type, shows, text, exited, raw } = terminal([], { cwd });
  await shows('call the tools yourself, without a model');
  type(/(\d) {2}Console/.exec(text())?.[1] ?? '');
  await shows('This is the console');
  type(`read_file absolute_path=${join(cwd, 'a.txt')}\r`);
  await shows('one');
  type('\u0004');
  expect(await exited()).toBe(0);
  expect(isRestored(raw())).toBe(true);
}, 60_000);

test('the choice between several keys is saved and other settings are kept', async () => {
  const home = tempDirectory({ '.lathe/settings.json': '{\n  // mine\n  "tools": { "approvalMode": "plan" }\n}\n' });
  const env = { HOME: home, OPENAI_API_KEY: 'key-one', ANTHROPIC_API_KEY: 'key-two', ANTHROPIC_MODEL: 'claude-x' };
  const first = terminal([], { cwd: tempDirectory(), env });
  await first.shows('ANTHROPIC_API_KEY is set');
  expect(first.text()).toContain('OPENAI_API_KEY is set');
  first.type('\u001b[B\r');
  await first.shows('claude-x · plan mode');
  const saved = readFileSync(join(home, '.lathe', 'settings.json'), 'utf8');
  expect(saved).toContain('// mine');
  expect(saved).toContain('"name": "anthropic/claude-x"');
  expect(saved).not.toContain('key-');
  first.type('\u0004');
  expect(await first.exited()).toBe(0);

  const second = terminal([], { cwd: tempDirectory(), env });
  await second.shows('claude-x · plan mode');
  second.type('/quit\r');
  expect(await second.exited()).toBe(0);
}, 60_000);

test('an entered key is hidden and saved in a private file; Esc saves nothing', async () => {
  const home = tempDirectory();
  const env = { HOME: home };
  const left = terminal([], { cwd: tempDirectory(), env });
  await left.shows('Enter a key');
  left.type('\u001b');
  expect(await left.exited()).toBe(0);
  expect(isRestored(left.raw())).toBe(true);

  const { type, shows, text, raw, exited } = terminal([], { cwd: tempDirectory(), env });
  await shows('Enter a key');
  type(/(\d) {2}Enter a key/.exec(text())?.[1] ?? '');
  await shows('Which provider?');
  type('1');
  await shows('Enter to continue');
  type('\u001b[200~sk-secret-of-mine\n\u001b[201~');
  await shows('•••');
  type('\r');
  if (hasSandbox) {
    await shows('edits and sandboxed commands run');
    type('2');
  }
  await shows(`gpt-5 · ${hasSandbox ? 'auto' : 'default'} mode`);
  const path = join(home, '.lathe', 'settings.json');
  expect(readFileSync(path, 'utf8')).toContain('"apiKey": "sk-secret-of-mine"');
  expect(JSON.parse(readFileSync(path, 'utf8')).tools).toEqual(hasSandbox ? { approvalMode: 'auto-edit' } : undefined);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(raw()).not.toContain('sk-secret');
  type('\u0004');
  expect(await exited()).toBe(0);
}, 60_000);

test.each(sizes)(
  'a key is checked before it is saved at %d × %d, and auto mode is offered',
  async (columns, rows) => {
    const { url } = await modelServer([{ fault: { kind: 'status', status: 401 } }, { text: 'ok' }]);
    const home = tempDirectory();
    const settings = join(home, '.lathe', 'settings.json');
    const at = open(columns, rows, { HOME: home, ANTHROPIC_BASE_URL: url });
    await at.sees('Enter a key', 'Other server', 'Demo', 'Console');
    at.choose('Enter a key');
    await at.sees('Which provider?', 'anthropic');
    at.choose('anthropic');
    await at.sees('Enter the key for anthropic', 'which only you can read.', 'Esc to go back');
    at.type('wrong-key\r');
    await at.sees('rejected the key', 'Enter the key for anthropic');
    expect(existsSync(settings)).toBe(false);
    at.type('good-key\r');
    await at.chooseMode('auto');
    await at.sees(`${hasSandbox ? 'auto' : 'default'} mode`, 'Ask for an');
    const tools = hasSandbox ? { tools: { approvalMode: 'auto-edit' } } : {};
    const model = { provider: 'anthropic', apiKey: 'good-key', name: expect.stringMatching('^anthropic/') };
    expect(JSON.parse(readFileSync(settings, 'utf8'))).toEqual({ model, ...tools });
    expect(at.raw()).not.toContain('good-key');
  },
  60_000,
);

test.each(sizes)(
  'a server of your own at %d × %d: its address, a wrong key that is asked for again, and its models',
  async (columns, rows) => {
    const script = [{ fault: { kind: 'status' as const, status: 401 } }, { text: 'ok' }];
    const { url } = await modelServer(script, { models: ['house-large', 'house-small'] });
    const home = tempDirectory();
    const at = open(columns, rows, { HOME: home });
    await at.sees('❯ 1 Enter a key');
    at.choose('Other server');
    await at.sees('Address of the server');
    at.type('\u001b');
    await at.sees('❯ 1 Enter a key');
    at.choose('Other server');
    await at.sees('Address of the server');
    at.type(`${url}/v1\r`);
    for (const key of ['wrong', 'right']) {
      await at.sees('Key for the server');
      at.type(`${key}\r`);
      await at.sees('❯ 1 house-large');
      at.choose('house-small');
    }
    await at.chooseMode('default');
    await at.sees('house-small', 'default mode', 'Ask for an');
    at.type('/model\r');
    await at.sees('house-large');
    const saved = JSON.parse(readFileSync(join(home, '.lathe', 'settings.json'), 'utf8'));
    expect(saved.model).toEqual({ baseUrl: `${url}/v1`, apiKey: 'right', name: 'house-small' });
  },
  60_000,
);

test('any compatible server can be used by its address', async () => {
  const { url } = await modelServer([{ text: 'ok' }]);
  const home = tempDirectory();
  const { type, shows, text } = terminal([], { cwd: tempDirectory(), env: { HOME: home } });
  await shows('Other server');
  type(/(\d) {2}Other server/.exec(text())?.[1] ?? '');
  await shows('Address of the server');
  type(`${url}/v1\r`);
  await shows('Key for the server');
  type('\r');
  await shows('Name of the model');
  type('house-model\r');
  if (hasSandbox) {
    await shows('How much may run without a question?');
    type('\u001b');
  }
  await shows('house-model · default mode');
  const saved = JSON.parse(readFileSync(join(home, '.lathe', 'settings.json'), 'utf8'));
  expect(saved.model).toEqual({ baseUrl: `${url}/v1`, name: 'house-model' });
}, 60_000);
