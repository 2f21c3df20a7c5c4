import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SessionStore } from '@lathe/agent';
import type { Message } from '@lathe/agent/models';
import { LatheHome } from '@lathe/core/tools';
import axe from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildProgram, modelVariables, runProgram } from '../../../../testing/lathe-program.js';
import { modelServer } from '../../../../testing/model-server.js';
import { hasProgram } from '../../../../testing/programs.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import type { PageData } from './page-data.js';

const hostile = '</script><script>document.title="owned"</script><img src=x onerror=alert(1)> \u202egnp.exe\u0000';
const diff = '--- a.ts\n+++ a.ts\n@@ -1 +1 @@\n-const a = 1;\n+const a = 2;\n';

/** Writes a session of this many turns, each with a prompt, an answer and one call. Returns its home directory. */
async function sessionWith(turns: number): Promise<{ home: string; id: string }> {
  const home = tempDirectory();
  const store = await SessionStore.open(new LatheHome(join(home, '.lathe')), home);
  const { id, transcript } = store.create({ model: 'some-model', secrets: [], onProblem: () => {} });
  const begin = Date.parse('2026-01-02T03:04:05Z');
  const at = (ms: number) => new Date(begin + ms).toISOString();
  for (let turn = 0; turn < turns; turn++) {
    const callId = `call-${turn}`;
    const isRefused = turn % 7 === 3;
    const name = ['read_file', 'edit', 'run_shell_command'][turn % 3] ?? '';
    if (turn % 10 === 0)
      transcript.append({ type: 'message', message: { role: 'user', parts: [{ text: `Make part ${turn} faster` }] } });
    const text = turn === 1 ? hostile : `I look at part ${turn}.`;
    const functionCall = { id: callId, name, args: { path: `src/part-${turn}.ts` } };
    transcript.append({ type: 'message', message: { role: 'model', parts: [{ text }, { functionCall }] } });
    const spent = { inputTokens: 1200 + turn, outputTokens: 80 };
    transcript.append({ type: 'turn', time: at(turn * 1500), durationMs: 900, ...spent });
    transcript.append({
      type: 'call',
      callId,
      time: at(turn * 1500 + 900),
      durationMs: 100 + ((turn * 37) % 500),
      status: isRefused ? 'cancelled' : 'success',
      description: `src/part-${turn}.ts`,
      decision: isRefused ? 'refused' : 'approved',
      diff: name === 'edit' ? diff : '',
    });
    const response = isRefused ? { error: 'The user said no.' } : { output: `needle-${turn}` };
    const functionResponse = { id: callId, name, response };
    transcript.append({ type: 'message', message: { role: 'tool', parts: [{ functionResponse }] } });
  }
  await transcript.close();
  return { home, id };
}

async function view(home: string, ...args: string[]): Promise<string> {
  const { stdout, stderr, code } = await runProgram(['view', ...args], { home, cwd: home });
  expect([code, stderr]).toEqual([0, '']);
  return fileURLToPath(stdout.trim());
}

beforeAll(() => buildProgram(), 120_000);

test('the latest session becomes one self-contained page that only this user can read', async () => {
  const { home, id } = await sessionWith(20);
  const path = await view(home);
  expect(path).toBe(join(home, '.lathe', 'views', `${id}.html`));
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const html = readFileSync(path, 'utf8');
  expect(html).toContain("default-src 'none'");
  expect(html.match(/<script/g)).toHaveLength(2);
  expect(['http:', 'https:', '\u202e', '\u0000'].filter((each) => html.includes(each))).toEqual([]);
  expect(await view(home, id.slice(0, 8), '--out', 'page.html')).toBe(join(home, 'page.html'));
});

test('the page contains calls, changes and decisions', async () => {
  const cwd = tempDirectory({ 'a.txt': 'alpha\n' });
  const file_path = join(cwd, 'a.txt');
  const server = await modelServer([
    { reasoning: 'hm', calls: [{ name: 'edit', args: { file_path, old_string: 'alpha', new_string: 'beta' } }] },
    { text: 'Done.' },
  ]);
  const env = modelVariables('openai', server.url);
  const run = await runProgram(['-p', 'change it', '--approval-mode', 'auto-edit'], { cwd, home: cwd, env });
  await server.close();
  expect(run).toEqual({ code: 0, stdout: 'Done.\n', stderr: '' });
  const { stdout } = await runProgram(['view'], { cwd, home: cwd });
  const html = readFileSync(fileURLToPath(stdout.trim()), 'utf8');
  const { rows } = JSON.parse(/id="data">(.*?)<\/script>/s.exec(html)?.[1] ?? '') as PageData;
  expect(rows.map(({ kind, title, status }) => [kind, title, status])).toEqual([
    ['prompt', 'change it', ''],
    ['answer', 'requests 1 call', ''],
    ['change', 'edit a.txt: alpha => beta', 'success'],
    ['answer', 'Done.', ''],
  ]);
  expect(rows[1]?.sections).toEqual([{ label: 'Thoughts', type: 'text', text: 'hm' }]);
  expect(rows[2]?.facts).toContainEqual(['Decision', 'allowed']);
  expect(rows[2]?.sections[0]).toMatchObject({ type: 'diff', text: expect.stringContaining('-alpha\n+beta') });
  expect(rows.slice(1).every(({ time }) => time !== '')).toBe(true);
});

test('the page contains the messages, outputs and times from before a compaction', async () => {
  const home = tempDirectory();
  const store = await SessionStore.open(new LatheHome(join(home, '.lathe')), home);
  const { transcript } = store.create({ model: 'some-model', secrets: [], onProblem: () => {} });
  const asked: Message = { role: 'model', parts: [{ functionCall: { id: 'a', name: 'read_file', args: {} } }] };
  const result = (output: string): Message => ({
    role: 'tool',
    parts: [{ functionResponse: { id: 'a', name: 'read_file', response: { output } } }],
  });
  const prompt: Message = { role: 'user', parts: [{ text: 'Look' }] };
  const time = '2026-01-02T03:04:05.000Z';
  transcript.append({ type: 'message', message: prompt });
  transcript.append({ type: 'message', message: asked });
  transcript.append({ type: 'turn', time, durationMs: 900, inputTokens: 7, outputTokens: 3 });
  transcript.append({ type: 'message', message: result('all of it') });
  transcript.append({ type: 'history', messages: [prompt, asked, result('[left out]')] });
  transcript.append({ type: 'history', messages: [{ role: 'model', parts: [{ text: 'A summary' }] }] });
  transcript.append({ type: 'message', message: { role: 'user', parts: [{ text: 'Go on' }] } });
  await transcript.close();
  const html = readFileSync(await view(home), 'utf8');
  const { rows } = JSON.parse(/id="data">(.*?)<\/script>/s.exec(html)?.[1] ?? '') as PageData;
  expect(rows.map(({ title }) => title)).toEqual(['Look', 'requests 1 call', 'read_file', 'A summary', 'Go on']);
  expect(rows[1]).toMatchObject({ time, spent: { inputTokens: 7, outputTokens: 3 } });
  expect(rows[2]?.sections).toContainEqual({ label: 'Output', type: 'text', text: 'all of it' });
});

test('a page replaces only another page, and only this user can read it', async () => {
  const { home } = await sessionWith(1);
  const page = await view(home, '--out', 'page.html');
  chmodSync(page, 0o644);
  await view(home, '--out', 'page.html');
  expect(statSync(page).mode & 0o777).toBe(0o600);
  writeFileSync(join(home, 'main.ts'), 'code');
  for (const [path, message] of Object.entries({
    'main.ts': 'is not a page',
    '.': 'EISDIR',
    'missing/page.html': 'ENOENT',
  }))
    expect(await runProgram(['view', '--out', path], { home, cwd: home })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(message),
    });
  expect(readFileSync(join(home, 'main.ts'), 'utf8')).toBe('code');
});

test('an unknown session is reported', async () => {
  const home = tempDirectory();
  expect(await runProgram(['view'], { home, cwd: home })).toMatchObject({ code: 1 });
  expect(await runProgram(['view', 'abcdef12'], { home, cwd: home })).toMatchObject({ code: 1 });
});

const hasBrowser = hasProgram('chromium');
let context: BrowserContext | undefined;
const profile = mkdtempSync(join(tmpdir(), 'lathe-browser-'));

beforeAll(async () => {
  if (!hasBrowser) return;
  const { chromium } = await import('playwright-core');
  context = await chromium.launchPersistentContext(profile, {
    executablePath: '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
    viewport: { width: 1360, height: 800 },
  });
}, 120_000);

afterAll(async () => {
  await context?.close();
  rmSync(profile, { recursive: true, force: true });
});

async function openPage(turns: number): Promise<{ page: Page; asked: string[] }> {
  if (!context) throw new Error('no browser');
  const { home } = await sessionWith(turns);
  const path = await view(home);
  const page = await context.newPage();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  page.on('pageerror', (error) => asked.push(error.message));
  page.on('console', (message) => asked.push(message.text()));
  await page.goto(`file://${path}`);
  return { page, asked: asked.filter((each) => !each.startsWith('file://') || !each.endsWith('.html')) };
}

const chosen = (page: Page) => page.locator('[aria-selected=true] .name').textContent();

test.skipIf(!hasBrowser)(
  'keys move through the timeline, and hostile text stays text',
  async () => {
    const { page, asked } = await openPage(20);
    expect(await chosen(page)).toBe('Make part 0 faster');
    await page.keyboard.press('j');
    await page.keyboard.press('ArrowDown');
    expect(await chosen(page)).toBe('read_file src/part-0.ts');
    await page.keyboard.press('k');
    expect(await chosen(page)).toBe('I look at part 0.');
    for (const key of ['j', 'j']) await page.keyboard.press(key);
    expect(await page.locator('#details pre').textContent()).toBe(
      '</script><script>document.title="owned"</script><img src=x onerror=alert(1)> \\u{202e}gnp.exe\\x00',
    );
    await page.keyboard.press('j');
    expect(await page.locator('#details .added').textContent()).toBe('+const a = 2;');
    expect(await page.locator('#details .facts').innerText()).toMatch(/Decision\s+approved/);
    await page.keyboard.press('e');
    expect(await chosen(page)).toBe('refused read_file src/part-3.ts');
    await page.keyboard.press('n');
    expect(await chosen(page)).toBe('Make part 10 faster');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('details');
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    expect(await page.locator('#dialog').isVisible()).toBe(true);
    await page.keyboard.press('Escape');
    expect(await page.title()).toBe('Make part 0 faster · Lathe');
    expect(asked).toEqual([]);
  },
  60_000,
);

test.skipIf(!hasBrowser)(
  'five thousand calls can be searched and browsed',
  async () => {
    const { page, asked } = await openPage(5000);
    expect(await page.locator('[aria-setsize="10500"]').count()).toBeLessThan(100);
    await page.keyboard.press('/');
    await page.keyboard.type('needle-4321');
    await page.locator('#found', { hasText: '1 of 10500' }).waitFor();
    expect(await chosen(page)).toBe('edit src/part-4321.ts');
    expect(await page.evaluate(() => CSS.highlights.get('found')?.size)).toBe(1);
    await page.keyboard.press('Escape');
    await page.locator('#search').fill('');
    await page.keyboard.press('Escape');
    await page.keyboard.press('End');
    expect(await chosen(page)).toMatch(/part-4999/);
    for (let press = 0; press < 50; press++) await page.keyboard.press('k');
    expect(await page.locator('[aria-selected=true]').isVisible()).toBe(true);
    expect(asked).toEqual([]);
  },
  60_000,
);

test.skipIf(!hasBrowser)(
  'the accessibility checker finds no problems in light and dark mode',
  async () => {
    const { page } = await openPage(30);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      // The debugger evaluates it, and the page's policy does not apply to the debugger.
      const violations = await page.evaluate(
        `${axe.source}; axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))`,
      );
      expect(violations).toEqual([]);
    }
  },
  60_000,
);
