import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildProgram, modelVariables } from '../../../../testing/lathe-program.js';
import { modelServer } from '../../../../testing/model-server.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { isRestored, type TerminalOptions, terminal, think } from '../../../../testing/terminal.js';
import { foreignControls } from '../../../../testing/terminal-sequences.js';

beforeAll(buildProgram, 300_000);

const shell = (command: string) => ({ name: 'run_shell_command', args: { command, description: 'a command' } });
const idle = 'Ask for anything.';
// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const wipes = /\u001b\[[23]J|\u001bc|\u001b\[\?1049h/;

type Turns = Parameters<typeof modelServer>[0];

/** Starts the program with a model that plays these turns. */
async function withModel(
  turns: Turns | ((cwd: string) => Turns),
  args: string[],
  options: Partial<TerminalOptions> = {},
) {
  const cwd = tempDirectory({});
  const server = await modelServer(typeof turns === 'function' ? turns(cwd) : turns);
  return {
    cwd,
    server,
    ...terminal(args, { ...options, cwd, env: { ...modelVariables('openai', server.url), ...options.env } }),
  };
}

async function leave({ type, exited, raw }: ReturnType<typeof terminal>): Promise<void> {
  type('\u0003\u0003');
  expect(await exited()).toBe(0);
  expect(isRestored(raw())).toBe(true);
}

test('a long task on a small screen stays in the scrollback, and only our own sequences are sent', async () => {
  const paragraphs = Array.from({ length: 30 }, (_, index) => `Paragraph ${index} of **the answer**.`).join('\n\n');
  const list = 'for i in $(seq 300); do echo "row $i"; done';
  const at = await withModel(
    [
      {
        text: `${paragraphs}\n\n\`\`\`js\n${'let x = 1;\n'.repeat(60)}\`\`\`\n`,
        calls: [shell(list), shell('echo two')],
      },
      { text: 'The **end**.' },
    ],
    ['--approval-mode', 'yolo', 'go'],
    { columns: 40, rows: 12, env: { NO_COLOR: '' } },
  );
  await at.shows('The end.');
  await at.shows('Ask for');
  for (let index = 0; index < 30; index++) expect(at.text()).toContain(`Paragraph ${index} of the answer.`);
  expect(at.text()).toContain('row 300');
  expect(at.text()).not.toContain('row 100\n');
  // Two results were truncated; the first one contains all rows.
  const open = () => {
    at.type('\u000f');
    return at.text();
  };
  await expect.poll(open, { timeout: 25_000, interval: 500 }).toContain('row 100\n');
  at.resize(20, 10);
  at.resize(100, 40);
  expect(wipes.test(at.raw())).toBe(false);
  expect(foreignControls(at.raw(), { mayDraw: true })).toEqual([]);
  await leave(at);
}, 90_000);

test('SF07: a command question shows its exact rule; questions are queued; the reason for a no reaches the model', async () => {
  const at = await withModel(
    [{ calls: [shell('touch one'), shell('touch two'), shell('touch three')] }, { text: 'Understood.' }],
    ['go'],
  );
  await at.shows('$ touch one');
  expect(at.text()).toContain('Always in this session: touch …');
  expect(at.text()).toContain('❯ 1  Yes, once (y)');
  await think();
  at.type('y');
  await at.shows('$ touch two');
  await think();
  at.type('m');
  await at.shows('No, because:');
  at.type('two is taken\r');
  await at.shows('$ touch three');
  await think();
  at.type('\r');
  await at.shows('Understood.');
  expect(JSON.stringify(at.server.requests[1]?.body)).toContain('two is taken');
  await at.shows(idle);
  await leave(at);
}, 90_000);

test('"always in this session" prevents further questions', async () => {
  const at = await withModel(
    [{ calls: [shell('touch one')] }, { calls: [shell('touch one')] }, { text: 'Twice.' }],
    ['go'],
  );
  await at.shows('$ touch one');
  await think();
  at.type('s');
  await at.shows('Twice.');
  expect(at.text().match(/✓ Shell touch one/g)).toHaveLength(2);
  await at.shows(idle);
  await leave(at);
}, 90_000);

test('a plan is shown as a plan, and approving it ends plan mode', async () => {
  const plan = '## Plan\n\n1. Read **all** of it\n2. Change it';
  const at = await withModel(
    [{ calls: [{ name: 'exit_plan_mode', args: { plan } }] }, { text: 'I begin.' }],
    ['--approval-mode', 'plan', 'go'],
  );
  await at.shows('1. Read all of it');
  expect(at.text()).toContain('plan mode');
  await think();
  at.type('y');
  await at.shows('I begin.');
  await at.shows(idle);
  expect(at.text().slice(at.text().lastIndexOf('I begin.'))).not.toContain('plan mode');
  await leave(at);
}, 90_000);

test('a web request shows its address; todo lists and subagents have their own display', async () => {
  const todos = [
    { id: '1', content: 'Look', status: 'completed' },
    { id: '2', content: 'Fix', status: 'in_progress' },
  ];
  const task = { description: 'look', prompt: 'look', subagent_type: 'general-purpose' };
  const at = await withModel(
    [
      { calls: [{ name: 'todo_write', args: { todos } }] },
      { calls: [{ name: 'task', args: task }] },
      { text: 'I looked.' },
      { calls: [{ name: 'web_fetch', args: { url: 'https://example.invalid/page', prompt: 'what is it' } }] },
    ],
    ['go'],
  );
  await at.shows('https://example.invalid/page');
  expect(at.text()).toMatch(/☑ Look\n +▶ Fix/);
  await at.shows('general-purpose completed, 0 calls');
  await think();
  at.type('n');
  await at.shows('You said no');
  await at.shows(idle);
  await leave(at);
}, 90_000);

test('SF08, SF09: in twenty columns an edit can be scrolled, and "always" counts only after its end was shown', async () => {
  const content = `${Array.from({ length: 40 }, (_, index) => `line ${index}`).join('\n')}\tend  \n`;
  const at = await withModel(
    (cwd) => [{ calls: [{ name: 'write_file', args: { file_path: join(cwd, 'x.txt'), content } }] }, { text: 'Fine.' }],
    ['go'],
    { columns: 20, rows: 24 },
  );
  await at.shows('new file');
  await think();
  at.type('\u001b[6~');
  await at.shows('line 3');
  expect(at.text()).not.toContain('end··');
  at.type('s');
  await at.shows('end··');
  expect(at.text()).toContain('line 39→');
  // The frame was never taller than the screen, so redrawing leaves nothing behind.
  expect(at.text().match(/Confirm/g)).toHaveLength(1);
  expect(at.text().match(/\+-{10,}\+/g)).toHaveLength(2);
  expect(wipes.test(at.raw())).toBe(false);
  expect(existsSync(join(at.cwd, 'x.txt'))).toBe(false);
  at.type('s');
  await at.shows('Fine.');
  expect(readFileSync(join(at.cwd, 'x.txt'), 'utf8')).toBe(content);
  await leave(at);
}, 90_000);

test('screen reader mode has plain lines, no frames, no spinner and no symbols', async () => {
  const at = await withModel(
    [{ text: 'I look.', calls: [shell('touch hello')] }, { text: 'All **done**.' }],
    ['--screen-reader', 'go'],
  );
  await at.shows('$ touch hello');
  await think();
  at.type('y');
  await at.shows('All done.');
  expect(at.text()).toContain('done: Shell');
  expect(at.text()).not.toMatch(/[╭│╰⠋✓●]|\+--/);
  at.type('typed');
  await at.shows('typed');
  await leave(at);
}, 90_000);

test('in the console the time of the spinner starts at zero, and no message is asked for', async () => {
  const at = terminal(['console'], { cwd: tempDirectory({ 'a.md': '' }) });
  await at.shows('This is the console');
  at.type('glob pattern=*.md');
  await at.shows('pattern=*.md');
  at.type('\r');
  await at.shows('Found 1 file');
  expect(at.raw().match(/working · \S+/g)?.[0]).toBe('working · 0');
  expect(at.raw()).not.toContain('for the next step');
  await leave(at);
}, 90_000);
