import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildProgram, modelVariables } from '../../../../testing/lathe-program.js';
import { modelServer, type ServerScript } from '../../../../testing/model-server.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { isRestored, terminal, think } from '../../../../testing/terminal.js';
import { themes } from '../render/theme.js';

beforeAll(buildProgram, 300_000);

const sizes = [
  [120, 40],
  [80, 24],
  [60, 18],
] as const;
const idle = 'Ask for anything.';
const control = (letter: string) => String.fromCharCode(letter.charCodeAt(0) - 96);
const [pageDown, shiftTab, up, enter] = ['\u001b[6~', '\u001b[Z', '\u001b[A', '\r'];
const shell = (command: string) => ({ name: 'run_shell_command', args: { command } });

async function open(columns: number, rows: number, script: (cwd: string) => ServerScript, args: string[] = []) {
  const cwd = tempDirectory({ 'long.txt': Array.from({ length: 60 }, (_, index) => `line ${index}\n`).join('') });
  const editor = join(tempDirectory(), 'editor.sh');
  writeFileSync(editor, '#!/bin/sh\nprintf "%s and more\\n" "$(cat "$1")" > "$1"\n');
  chmodSync(editor, 0o755);
  const server = await modelServer(script(cwd));
  const env = { HOME: tempDirectory(), VISUAL: editor, ...modelVariables('openai', server.url) };
  const place = { cwd, env, columns, rows };
  const at = terminal(args, place);
  return {
    ...at,
    cwd,
    place,
    server,
    sees: async (wanted: string) => {
      await expect.poll(at.visible, { timeout: 25_000, interval: 30 }).toContain(wanted);
    },
    lastRequest: () => JSON.stringify(server.requests.at(-1)?.body),
  };
}

test.each(sizes)(
  'questions at %d × %d: every answer stays, the diff scrolls, keys work, a no ends the turn',
  async (columns, rows) => {
    const long = Array.from({ length: 60 }, (_, index) => `changed ${index}\n`).join('');
    const at = await open(
      columns,
      rows,
      (cwd) => [
        { calls: [{ name: 'read_file', args: { absolute_path: join(cwd, 'long.txt') } }] },
        { calls: [{ name: 'write_file', args: { file_path: join(cwd, 'long.txt'), content: long } }] },
        { calls: [shell('seq 1 3000; exit 3')] },
        { calls: [shell('touch made')] },
        {
          calls: [{ name: 'edit', args: { file_path: join(cwd, '.git', 'config'), old_string: '', new_string: 'x' } }],
        },
      ],
      ['go'],
    );
    const answers = ['❯ 1  Yes, once (y)', '  3  Always in this project', '  5  Edit it first', '  7  No (n)'];
    await at.sees('7  No (n)');
    for (const wanted of ['Confirm Write', 'line 0', ...answers]) expect(at.visible()).toContain(wanted);
    expect(at.raw()).toContain('\u001b]9;');
    await think();
    at.type(pageDown);
    await expect.poll(at.visible).not.toContain('- line 0');
    for (const wanted of ['Confirm Write', 'line', ...answers]) expect(at.visible()).toContain(wanted);
    at.type(shiftTab);
    await at.sees('auto mode');
    at.type(shiftTab + shiftTab);
    await at.sees('default mode');
    at.resize(60, 18);
    for (const wanted of ['Confirm Write', 'line', ...answers]) await at.sees(wanted);
    at.resize(columns, rows);
    await at.sees('Confirm Write');
    at.type('1');
    await at.shows('exited with code 3');
    expect(readFileSync(join(at.cwd, 'long.txt'), 'utf8')).toBe(long);
    expect(at.text()).toMatch(/✗ Shell seq 1 3000; exit 3.*\n +… 2993 more lines \(Ctrl\+O\)\n/);
    expect(at.text()).not.toContain('Process Group');
    await at.sees('$ touch made');
    await think();
    at.type('n');
    await at.sees('You said no, so the turn ended.');
    await at.sees(idle.slice(0, 10));
    expect([at.server.requests.length, existsSync(join(at.cwd, 'made'))]).toEqual([4, false]);
    at.type('again\r');
    // A protected file: no rule could allow it, so Enter does not either.
    await at.sees('❯ 4  No (n)');
    await think();
    at.type(enter);
    await expect.poll(() => at.text().split('You said no').length, { timeout: 25_000 }).toBe(3);
    at.type('/quit\r');
    expect(await at.exited()).toBe(0);
  },
  120_000,
);

test.each(sizes)(
  'keys at %d × %d: nothing typed is lost, the editor opens, steering arrives, nothing is left after quitting',
  async (columns, rows) => {
    const at = await open(columns, rows, () => [
      { reasoning: 'I weigh both sides.', text: '# A heading\n\nText.' },
      { calls: [shell('sleep 1.5')] },
      { text: 'Steered.' },
      {
        calls: [
          { name: 'ask_user_question', args: { questions: [{ question: 'Which colour?', options: ['red', 'blue'] }] } },
        ],
      },
      { text: 'Painted.' },
    ]);
    await at.sees(idle.slice(0, 10));
    at.type('first');
    await at.sees('❯ first');
    at.type(control('c'));
    await at.sees('Press Ctrl+C again');
    at.type('second');
    await at.sees('❯ second');
    at.type(control('c'));
    await at.sees('Press Ctrl+C again');
    at.type(up);
    await at.sees('❯ second█');
    at.type(control('g'));
    await at.sees('❯ second and more█');
    at.type(enter);
    await at.shows('# A heading');
    expect(at.text()).toContain('✻ Thought for 1 s (Ctrl+O shows it)');
    expect(at.text()).not.toContain('both sides');
    await at.sees(idle.slice(0, 10));
    at.type(control('o'));
    await at.shows('I weigh both sides.');
    at.type('wait\r');
    await at.sees('● Shell sleep');
    at.type('also do this\r');
    await at.sees('⏎ also do this (next step)');
    await at.shows('Steered.');
    expect(at.text()).toMatch(/✓ Shell sleep[^❯]*❯ also do this[^❯]*Steered\./);
    expect(at.server.requests).toHaveLength(3);
    expect(at.lastRequest()).toContain('also do this');
    await at.sees(idle.slice(0, 10));
    at.type('!!echo shared-$((20+2))\r');
    await at.shows('The output goes to the model');
    at.type('paint\r');
    await at.sees('The model asks: Which colour?');
    await at.sees('or type an answer');
    expect(at.lastRequest()).toContain('shared-22');
    await think();
    at.type('2');
    await at.shows('Painted.');
    expect(at.lastRequest()).toContain('Answer: blue');
    await at.sees(idle.slice(0, 10));
    at.type('/quit\r');
    expect(await at.exited()).toBe(0);
    expect(isRestored(at.raw())).toBe(true);
    expect(at.raw()).toContain(' – lathe\u0007');
    expect(at.raw()).toContain('\u001b[23;0t');
    const left = at.text().trimEnd().split('\n').slice(-2);
    expect(left).toEqual([
      expect.stringMatching(/^❯ \/quit *$/),
      expect.stringMatching(/^Resume this conversation with: lathe --resume [0-9a-f]{8}$/),
    ]);
  },
  120_000,
);

test.each(sizes)(
  'commands at %d × %d: pickers, history of a resumed session, and what the others print',
  async (columns, rows) => {
    const script = (): ServerScript => [{ text: 'Hello **Ada**.', calls: [shell('ls')] }, { text: 'Bye.' }];
    const first = await open(columns, rows, script, ['my name is Ada']);
    await first.shows('Bye.');
    await first.sees(idle.slice(0, 10));
    first.type('/');
    await first.sees('more, the arrow keys show them');
    first.type(control('c'));
    for (const [typed, wanted] of [
      ['/cost', 'Requests    2'],
      ['/config', 'Every setting has its default.'],
      ['/theme light', 'Theme: light'],
      ['/config ui.theme', 'ui.theme has its default.'],
      ['/diff', 'This is not a git repository.'],
      ['/export talk.md', 'Written to'],
      ['/clear', 'Started a new conversation.'],
    ] as const) {
      first.type(`${typed}\r`);
      await first.shows(wanted);
    }
    first.type('/model\r');
    await first.sees('The model is scripted.');
    first.type('gpt-nonsense\r');
    await first.shows('not among those found here');
    first.type('/quit\r');
    expect(await first.exited()).toBe(0);
    expect(readFileSync(join(first.cwd, 'talk.md'), 'utf8')).toContain('## You\n\nmy name is Ada\n\n## Model\n\nHello');

    const other = terminal(['my dog is Rex'], first.place);
    await other.shows('Bye.');
    await expect.poll(other.visible, { timeout: 25_000 }).toContain(idle.slice(0, 10));
    other.type('/quit\r');
    expect(await other.exited()).toBe(0);

    const later = terminal(['--resume'], first.place);
    await later.shows('Which session?');
    expect(later.visible()).toMatch(/1 {2}[0-9a-f]{8} {2}\S+ \S+ +my dog is Rex/);
    expect(later.visible()).toMatch(/2 {2}[0-9a-f]{8} {2}\S+ \S+ +my name is Ada/);
    later.type('1');
    await later.shows('Resumed a conversation of 2 messages');
    await later.shows('❯ my dog is Rex');
    await later.shows('Bye.');
    later.type('/sessions\r');
    await expect.poll(later.visible, { timeout: 25_000 }).toContain('Which session?');
    later.type('\u001b');
    await expect.poll(later.visible, { timeout: 25_000 }).toContain(idle.slice(0, 10));
    later.type('/quit\r');
    expect(await later.exited()).toBe(0);
    expect(readdirSync(first.cwd)).toContain('talk.md');
  },
  120_000,
);

const looks = [
  ['dark', 'rgb:0000/0000/0000', themes.dark],
  ['light', 'rgb:ffff/ffff/ffff', themes.light],
] as const;

test.each(sizes.flatMap(([columns, rows]) => looks.map((look) => [columns, rows, ...look] as const)))(
  'looks at %d × %d on a %s background: colours for it, frames, names, columns',
  async (columns, rows, _name, background, theme) => {
    const words = Array.from({ length: 30 }, (_, index) => `word${index}`).join(' ');
    const cwd = tempDirectory({ 'a.txt': 'old\n' });
    const file = join(cwd, 'a.txt');
    const server = await modelServer([
      { calls: [{ name: 'read_file', args: { absolute_path: file } }] },
      { calls: [{ name: 'edit', args: { file_path: file, old_string: 'old', new_string: 'new' } }] },
      { calls: [shell(`echo '    - ${words}'`)] },
      { text: '# A heading\n\nSome `code`.' },
    ]);
    const env = { NO_COLOR: '', ...modelVariables('openai', server.url) };
    const place = { cwd, env, columns, rows, background };
    const at = terminal(['--approval-mode', 'auto', 'go'], place);
    await at.shows('Some code.');
    await expect.poll(at.visible, { timeout: 25_000 }).toContain(idle);
    const painted = ({ front, back }: { front: number; back: number }) => `\u001b[38;5;${front}m\u001b[48;5;${back}m`;
    for (const wanted of [
      painted(theme.added),
      painted(theme.removed),
      `\u001b[38;5;${theme.heading}m\u001b[1mA heading`,
      `\u001b[38;5;${theme.code}mcode`,
      `\u001b[38;5;${theme.dim}m`,
    ])
      expect(at.raw()).toContain(wanted);
    expect(at.raw()).not.toContain('-1 s');
    // The input is between two lines, tools have names, and what is wrapped stays in the column of its text.
    const edge = '─'.repeat(columns);
    expect(at.visible()).toContain(`${edge}\n❯ █${idle}`);
    expect(
      at
        .visible()
        .split('\n')
        .filter((line) => line === edge),
    ).toHaveLength(2);
    expect(at.text()).toContain('✓ Edit a.txt +1 -1');
    expect(at.text()).not.toContain('read_file');
    expect(at.text()).toMatch(/\n {6}- word0 .*\n {8}word\d+ /);
    at.type('/quit\r');
    expect(await at.exited()).toBe(0);
  },
  60_000,
);
