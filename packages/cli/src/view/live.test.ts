import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import axe from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { agentServer } from '../../../../testing/agent-server.js';
import { buildProgram, runProgram } from '../../../../testing/lathe-program.js';
import { hasProgram } from '../../../../testing/programs.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';

const hasBrowser = hasProgram('chromium');
const profile = mkdtempSync(join(tmpdir(), 'lathe-browser-'));
let context: BrowserContext | undefined;

beforeAll(async () => {
  buildProgram();
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
}, 300_000);

afterAll(async () => {
  await context?.close();
  rmSync(profile, { recursive: true, force: true });
});

const shell = (command: string) => ({ name: 'run_shell_command', args: { command } });

/** Opens the page. `problems` collects errors, and requests to anywhere but the server. */
async function openPage(url: URL | string): Promise<{ page: Page; problems: string[] }> {
  if (!context) throw new Error('no browser');
  const page = await context.newPage();
  onTestFinished(() => page.close());
  const problems: string[] = [];
  page.on('request', (asked) => {
    if (new URL(asked.url()).origin !== new URL(url).origin) problems.push(asked.url());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => problems.push(message.text()));
  await page.goto(String(url));
  return { page, problems };
}

async function send(page: Page, text: string): Promise<void> {
  await page.locator('#prompt').fill(text);
  await page.locator('#prompt').press('Enter');
}

const status = (page: Page, text: string) => page.locator('#status', { hasText: text }).waitFor();
const row = (page: Page, text: string) => page.locator('.row', { hasText: text }).waitFor();
const titles = (page: Page) => page.locator('.row .name').allTextContents();

/** Pictures of docs/ are made with LATHE_PICTURES=1. */
async function picture(page: Page, name: string): Promise<void> {
  const path = join(import.meta.dirname, `../../../../docs/pictures/${name}.png`);
  if (process.env['LATHE_PICTURES']) await page.screenshot({ path });
}

async function violations(page: Page): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    // The debugger evaluates it, and the page's policy does not apply to the debugger.
    found.push(
      await page.evaluate(
        `${axe.source}; axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))`,
      ),
    );
  }
  return found.flat();
}

const hostile = '<img src=x onerror="document.title=1"> \u202egnp.exe 👩🏽\u200d💻';

test.skipIf(!hasBrowser)(
  'a task is started, watched, asked about and answered, with the keyboard',
  async () => {
    const cwd = tempDirectory({ 'a.txt': 'alpha\n' });
    const write = { name: 'write_file', args: { file_path: join(cwd, 'b.txt'), content: 'bee\n' } };
    const script = [
      { text: 'I write it.', calls: [write], usage: { input: 1200, output: 40 } },
      { text: `It is done. ${hostile}`, usage: { input: 1300, output: 30, cached: 1000 } },
    ];
    const { url } = await agentServer(script, { cwd });
    const { page, problems } = await openPage(url);
    await page.keyboard.type('write b.txt');
    await page.keyboard.press('Enter');
    await status(page, 'A question needs your answer.');
    expect(await page.locator('#question-title').textContent()).toBe('Allow write_file?');
    expect(await page.locator('#question .added').allTextContents()).toContain('+bee');
    expect(await violations(page)).toEqual([]);
    expect(existsSync(join(cwd, 'b.txt'))).toBe(false);
    await page.keyboard.press('Escape');
    await page.keyboard.press('q');
    await page.keyboard.press('Tab');
    await page.locator('#options button:focus:enabled').waitFor();
    await page.keyboard.press('Enter');
    await status(page, 'Ready.');
    await row(page, 'It is done.');
    expect(existsSync(join(cwd, 'b.txt'))).toBe(true);
    expect(await titles(page)).toEqual([
      'write b.txt',
      'I write it.',
      expect.stringContaining('write_file'),
      'It is done. <img src=x onerror="document.title=1"> \\u{202e}gnp.exe 👩🏽\u200d💻',
    ]);
    expect(await page.locator('#details pre').textContent()).toContain('<img src=x');
    await page.keyboard.press('Escape');
    await page.keyboard.press('k');
    expect(await page.locator('#details .added').allTextContents()).toContain('+bee');
    expect(await page.locator('#details .facts').innerText()).toMatch(/Decision\s+approved/);
    await page.keyboard.press('c');
    expect(await page.locator('#dialog figcaption').allTextContents()).toEqual([
      'Tokens per turn',
      'Context',
      'Time by tool',
    ]);
    expect(await page.locator('#dialog').innerText()).toContain('2,500 in, 1,000 of them from the cache, 70 out');
    expect(await violations(page)).toEqual([]);
    expect(await page.locator('#sessions [aria-current]').innerText()).toContain('write b.txt');
    expect(problems).toEqual([]);
  },
  60_000,
);

test.skipIf(!hasBrowser)(
  'work is cancelled, and the session is resumed later with what was said',
  async () => {
    const script = [{ calls: [shell('touch a')] }, { text: 'first answer' }, { text: 'second answer' }];
    const { url, client, cwd, stop } = await agentServer(script);
    const { page, problems } = await openPage(url);
    await send(page, 'begin');
    await page.locator('#question').waitFor();
    await page.locator('#cancel').click();
    await status(page, 'Ready.');
    await page.locator('#question').waitFor({ state: 'hidden' });
    expect(existsSync(join(cwd, 'a'))).toBe(false);
    await send(page, 'go on');
    await row(page, 'first answer');
    const [session] = await client.sessions();
    await client.closeSession(session?.id ?? '');
    await status(page, 'Closed.');
    // A page without the session in its address finds it in the list.
    const { page: later } = await openPage(url);
    await later.locator('#sessions button.stored', { hasText: 'begin' }).click();
    await row(later, 'first answer');
    const before = await titles(later);
    expect(before).toEqual(expect.arrayContaining(['begin', 'go on', 'first answer']));
    await send(later, 'and now?');
    await row(later, 'second answer');
    expect(await titles(later)).toEqual([...before, 'and now?', 'second answer']);
    await later.reload();
    await row(later, 'second answer');
    expect(await titles(later)).toEqual([...before, 'and now?', 'second answer']);
    // The first page follows again as soon as it sends something.
    await send(page, 'still there?');
    await row(page, 'still there?');
    expect(problems).toEqual([]);
    await stop();
    await status(page, 'The server does not answer. Is it still running?');
  },
  60_000,
);

test.skipIf(!hasBrowser)(
  'mode and effort change only when a person says so, and a reason goes with a no',
  async () => {
    const { url, client, model } = await agentServer([{ calls: [shell('touch a')] }, { text: 'I see.' }]);
    const { page } = await openPage(url);
    await send(page, 'begin');
    await page.locator('#question').waitFor();
    const id = (await client.sessions())[0]?.id ?? '';
    await page.locator('#settings-now').click();
    await page.locator('#mode').selectOption('plan');
    await page.locator('#effort').selectOption('high');
    expect(await client.session(id)).toMatchObject({ mode: 'default' });
    await page.locator('#settings button').click();
    await page.locator('#settings-now', { hasText: 'plan' }).waitFor();
    expect(await client.session(id)).toMatchObject({ mode: 'plan', effort: 'high' });
    await page.locator('#options button', { hasText: /^No$/ }).click();
    await page.locator('#options textarea').fill('not that file');
    await page.locator('#options button', { hasText: /^No$/ }).click();
    await row(page, 'I see.');
    expect(JSON.stringify(model.requests[1]?.body)).toContain('not that file');
  },
  60_000,
);

test.skipIf(!hasBrowser)(
  'a session that cannot be opened leaves the page at the one it shows',
  async () => {
    const { url, client } = await agentServer([{ text: 'one' }, { text: 'two' }]);
    const { page } = await openPage(url);
    const { id: other } = await client.createSession();
    await send(page, 'begin');
    await row(page, 'one');
    await page.locator(`[data-id="${other}"]`).waitFor();
    await page.route(`**/${other}/open`, async (route) => {
      await client.deleteSession(other);
      await route.continue();
    });
    await page.locator(`[data-id="${other}"]`).click();
    await status(page, 'There is no session');
    await send(page, 'go on');
    await row(page, 'two');
    expect(await titles(page)).toEqual(['begin', 'one', 'go on', 'two']);
  },
  60_000,
);

test.skipIf(!hasBrowser)(
  'a prompt is sent once however often Enter is pressed, and what is written meanwhile stays',
  async () => {
    const { url, client } = await agentServer([{ text: 'one' }, { text: 'two' }]);
    const { page } = await openPage(url);
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/v1/sessions', async (route) => {
      if (route.request().method() === 'POST') await held;
      await route.continue();
    });
    await send(page, 'begin');
    await page.locator('#prompt').press('Enter');
    await page.locator('#prompt').pressSequentially('next');
    release();
    await row(page, 'one');
    await status(page, 'Ready.');
    expect(await client.sessions()).toHaveLength(1);
    expect(await page.locator('#prompt').inputValue()).toBe('next');
    await page.route('**/prompt', (route) => route.abort());
    await page.locator('#prompt').press('Enter');
    await status(page, 'The server does not answer.');
    expect(await page.locator('#prompt').inputValue()).toBe('next');
  },
  60_000,
);

/** A way to the server that can be cut. `resumed` says after which events a reader wanted to continue. */
async function relay(target: URL): Promise<{ url: string; cut: () => void; resumed: number[] }> {
  const resumed: number[] = [];
  const server = createServer((incoming, outgoing) => {
    const { url = '/', method, headers } = incoming;
    if (headers['last-event-id'] !== undefined) resumed.push(Number(headers['last-event-id']));
    const own = { ...headers, host: target.host, ...(headers.origin && { origin: target.origin }) };
    const onward = request(new URL(url, target), { method, headers: own }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    outgoing.on('close', () => onward.destroy());
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/${target.hash}`, cut: () => server.closeAllConnections(), resumed };
}

test.skipIf(!hasBrowser)(
  'after a cut the page continues where it was, and shows nothing twice',
  async () => {
    const { url, client } = await agentServer([{ calls: [shell('touch a')] }, { text: 'the answer' }]);
    const { url: way, cut, resumed } = await relay(url);
    const { page } = await openPage(way);
    await send(page, 'begin');
    await page.locator('#question').waitFor();
    cut();
    await status(page, 'Connected again.');
    expect(resumed).toEqual([0, expect.any(Number)]);
    expect(resumed[1]).toBe((await client.sessions())[0]?.lastEventId);
    await page.locator('#options button').first().click();
    await row(page, 'the answer');
    expect(await titles(page)).toEqual(['begin', 'requests 1 call', expect.stringContaining('touch a'), 'the answer']);
  },
  60_000,
);

test.skipIf(!hasBrowser)(
  'five thousand events are shown while they come, and again after a reload',
  async () => {
    const cwd = tempDirectory({ 'a.txt': 'alpha\n' });
    const read = { name: 'read_file', args: { file_path: join(cwd, 'a.txt') } };
    const words = Array.from({ length: 3000 }, (_, index) => `word-${index}`).join(' ');
    const { url, client } = await agentServer([{ calls: Array.from({ length: 600 }, () => read) }, { text: words }], {
      cwd,
    });
    const { page, problems } = await openPage(url);
    await send(page, 'read it again and again');
    await row(page, 'word-0');
    await page.locator('#details pre', { hasText: 'word-2999' }).waitFor();
    await status(page, 'Ready.');
    const [session] = await client.sessions();
    for await (const first of client.events(session?.id ?? '')) {
      expect((session?.lastEventId ?? 0) - first.id).toBeGreaterThan(5000);
      break;
    }
    const size = () => page.locator('.row').first().getAttribute('aria-setsize');
    expect(await size()).toBe('603');
    expect(await page.locator('.row').count()).toBeLessThan(100);
    await page.reload();
    await row(page, 'word-0');
    expect(await size()).toBe('603');
    expect(problems).toEqual([]);
  },
  60_000,
);

test.skipIf(!hasBrowser)(
  'a question is shown to its end, however long it is, with its warnings and its short answers in sight',
  async () => {
    const lines = Array.from({ length: 9000 }, (_, index) => `line-${index}-end`);
    const cwd = tempDirectory({ '.git/HEAD': '' });
    const paths = ['.git/hooks/pre-commit', 'b.txt'].map((name) => join(cwd, name));
    const calls = paths.map((file_path) => ({ name: 'write_file', args: { file_path, content: lines.join('\n') } }));
    const { url } = await agentServer([{ calls }, { text: 'done' }], { cwd });
    const { page } = await openPage(url);
    await send(page, 'begin');
    await page.locator('#question').waitFor();
    expect(await page.locator('#question .added').count()).toBe(9000);
    expect(await page.locator('#question .added').last().textContent()).toContain('line-8999-end');
    const notes = page.locator('#question-notes li');
    expect(await notes.allTextContents()).toEqual([
      expect.stringMatching(/^! .*git/),
      expect.stringMatching(/^\(asked because /),
    ]);
    expect((await notes.first().boundingBox())?.y).toBeLessThan(800);
    const labels = () => page.locator('#options button').allTextContents();
    expect(await labels()).toEqual(['Yes, once', 'Yes, with this text instead', 'No']);
    await page.locator('#options button', { hasText: 'with this text' }).click();
    expect(await page.locator('#options textarea').inputValue()).toBe(lines.join('\n'));
    await page.locator('#options button', { hasText: 'Back' }).click();
    await page.locator('#options button', { hasText: /^No$/ }).click();
    await page.locator('#options button', { hasText: /^No$/ }).click();
    await page.locator('#question', { hasText: 'b.txt' }).waitFor();
    expect(await notes.allTextContents()).toEqual(['(asked because no rule allows it)']);
    expect((await labels()).slice(0, 4)).toEqual([
      'Yes, once',
      'Yes, with this text instead',
      'No',
      expect.stringContaining('Always in this session'),
    ]);
  },
  60_000,
);

test.skipIf(!hasBrowser)(
  'without the right token the page shows nothing and asks for it, and all fits a phone',
  async () => {
    const { url, token } = await agentServer([{ calls: [shell('touch a')] }, { text: 'done' }]);
    const { page } = await openPage(`${url.origin}/#token=wrong`);
    await page.setViewportSize({ width: 360, height: 640 });
    await page.reload();
    // The whole line that the server printed is fine too.
    await page.locator('#token').fill(`${url.origin}/#token=${token} `);
    await page.keyboard.press('Enter');
    await send(page, 'begin');
    await page.locator('#question').waitFor();
    expect(await violations(page)).toEqual([]);
    await picture(page, 'live-phone');
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    const yes = await page.locator('#options button').first().boundingBox();
    expect((yes?.y ?? 700) + (yes?.height ?? 0)).toBeLessThan(640);
    await page.locator('#options button').first().click();
    await row(page, 'done');
  },
  60_000,
);

/** What would run if any of it were taken for HTML, and what would move a terminal. */
const trap = (name: string) =>
  `<img src=x onerror="window.owned='${name}'"><script>window.owned=1</script>\u001b[2J${name}`;

test.skipIf(!hasBrowser)(
  'text of the model, of tools and of files stays text wherever the page shows it',
  async () => {
    const cwd = tempDirectory({ '<img src=x onerror=owned=1>.txt': trap('content') });
    const todos = [{ id: '1', content: trap('todo'), status: 'pending' }];
    const questions = [{ question: trap('question'), options: [trap('option'), 'other'] }];
    const calls = [
      { name: trap('tool'), args: { [trap('key')]: trap('value') } },
      { name: 'read_file', args: { file_path: join(cwd, '<img src=x onerror=owned=1>.txt') } },
      { name: 'todo_write', args: { todos } },
      { name: 'run_shell_command', args: { command: `echo '${trap('output').replaceAll("'", '')}'` } },
      { name: 'write_file', args: { file_path: join(cwd, '<b onclick=owned=1>.txt'), content: trap('written') } },
      { name: 'ask_user_question', args: { questions } },
    ];
    const script = [{ reasoning: trap('thought'), text: trap('answer'), calls }, { text: trap('end') }];
    const { url, client } = await agentServer(script, { cwd, flags: ['--yolo'] });
    const { page, problems } = await openPage(url);
    await send(page, trap('prompt'));
    await page.locator('#question').waitFor();
    expect(await page.locator('#question').innerText()).toContain('\\x1b[2Jquestion');
    await page.locator('#options button').first().click();
    await row(page, 'end');
    const count = Number(await page.locator('.row').first().getAttribute('aria-setsize'));
    await page.locator('#rows').focus();
    await page.keyboard.press('Home');
    const seen: string[] = [];
    for (let step = 0; step < count; step++) {
      seen.push(await page.locator('#details').innerText());
      await page.keyboard.press('j');
    }
    const names = ['prompt', 'thought', 'answer', 'tool', 'key', 'value', 'content', 'output', 'written', 'end'];
    expect(names.filter((name) => !seen.some((text) => text.includes(`\\x1b[2J${name}`)))).toEqual([]);
    await page.keyboard.press('c');
    await client.updateSession((await client.sessions())[0]?.id ?? '', { model: trap('model').slice(0, 90) });
    await page.locator('#settings-now', { hasText: '<img' }).waitFor();
    expect(await page.evaluate(() => [Reflect.get(window, 'owned'), document.querySelectorAll('img').length])).toEqual([
      undefined,
      0,
    ]);
    expect(await page.evaluate(() => document.body.innerText.includes('\u001b'))).toBe(false);
    expect(problems).toEqual([]);
  },
  60_000,
);

test.skipIf(!hasBrowser)(
  'two pages and a program watch one session; a page that is closed with a question open leaves it to the others',
  async () => {
    const { url, client } = await agentServer([{ calls: [shell('touch seen')] }, { text: 'the answer' }]);
    const { page: first } = await openPage(url);
    await send(first, 'begin');
    await first.locator('#question').waitFor();
    const { page: second } = await openPage(url);
    await second.locator('#question').waitFor();
    const id = (await client.sessions())[0]?.id ?? '';
    const types = (async () => {
      const found: string[] = [];
      for await (const { type } of client.events(id, { signal: AbortSignal.timeout(25_000) })) {
        found.push(type);
        if (type === 'prompt-end') return found;
      }
      return found;
    })();
    await first.close();
    expect(await client.session(id)).toMatchObject({ status: 'waiting' });
    await second.locator('#options button').first().click();
    await row(second, 'the answer');
    expect(await types).toEqual(expect.arrayContaining(['question-add', 'question-end', 'call-end', 'prompt-end']));
  },
  60_000,
);

test.skipIf(!hasBrowser || !process.env['LATHE_PICTURES'])(
  'the pictures of docs/server.md and docs/viewer.md',
  async () => {
    const total =
      'export function total(items) {\n  let sum = 0;\n  for (const item of items) sum += item.price;\n  return sum;\n}\n';
    const cwd = mkdtempSync('/tmp/shop-');
    onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
    mkdirSync(join(cwd, 'src'));
    writeFileSync(join(cwd, 'src/total.js'), total);
    const file_path = join(cwd, 'src/total.js');
    const change = { file_path, old_string: 'sum += item.price;', new_string: 'sum += item.price * item.count;' };
    const usage = (input: number, cached: number, output: number) => ({ input, cached, output });
    const script = [
      {
        text: 'I look at how the total is computed.',
        calls: [
          { name: 'read_file', args: { file_path } },
          { name: 'grep_search', args: { pattern: 'total' } },
        ],
        usage: usage(9200, 3000, 120),
      },
      {
        text: 'It ignores the count. I run the tests to see it.',
        calls: [
          { name: 'run_shell_command', args: { command: 'sleep 1; ls src/missing', description: 'run the tests' } },
        ],
        usage: usage(10_400, 9000, 90),
      },
      {
        text: 'The loop must multiply by the count.',
        calls: [{ name: 'edit', args: change }],
        usage: usage(11_200, 10_000, 140),
      },
      { text: 'The total now uses the count of each item.', usage: usage(12_100, 11_000, 60) },
    ];
    const { url, home } = await agentServer(script, { cwd, flags: ['-m', 'openai/gpt-5.4'] });
    const { page } = await openPage(url);
    await page.emulateMedia({ colorScheme: 'light' });
    await send(page, 'The total of an order ignores the count. Find out why and correct it.');
    await page.locator('#question .added').first().waitFor();
    await page.locator('#options button:enabled').first().waitFor();
    await picture(page, 'live');
    await page.locator('#options button').first().click();
    await status(page, 'Ready.');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.keyboard.press('Escape');
    await page.keyboard.press('c');
    await picture(page, 'live-charts');
    const { stdout } = await runProgram(['view'], { cwd, home });
    const { page: stored } = await openPage(stdout.trim());
    await stored.emulateMedia({ colorScheme: 'light' });
    await stored.keyboard.press('End');
    await stored.keyboard.press('k');
    expect(await stored.locator('#details .added').count()).toBe(1);
    await picture(stored, 'viewer');
  },
  60_000,
);
