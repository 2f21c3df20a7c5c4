import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildProgram, modelVariables } from '../../../../testing/lathe-program.js';
import { modelServer } from '../../../../testing/model-server.js';
import { hasProgram } from '../../../../testing/programs.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { terminal, think } from '../../../../testing/terminal.js';

beforeAll(buildProgram, 300_000);

const sizes = [
  [120, 40],
  [80, 24],
  [60, 18],
] as const;

const shell = (command: string, more: object = {}) => ({
  calls: [{ name: 'run_shell_command', args: { command, ...more } }],
});

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0));
    });
  });
}

/** Lines of the frame around a question that do not reach its other side, as when the terminal wrapped them. */
const broken = (screen: string) =>
  screen.split('\n').filter((line) => /^[│╭╰]/.test(line) && !/[│╮╯]$/.test(line.trimEnd()));

test.skipIf(!hasProgram('bwrap') || !hasProgram('nsenter')).each(sizes)(
  'a working day at %d × %d: mentions, /tmp, !command, a server, a plan, a way back',
  async (columns, rows) => {
    const cwd = tempDirectory({ 'a.txt': 'one\n' });
    const notes = join(tempDirectory({ 'notes.txt': 'buy milk\n' }), 'notes.txt');
    const port = await freePort();
    writeFileSync(
      join(cwd, 'server.js'),
      `require('http').createServer((q, r) => r.end('hello from ' + process.pid)).listen(${port}, '127.0.0.1')`,
    );
    const server = await modelServer([
      { calls: [{ name: 'read_file', args: { absolute_path: notes } }] },
      { text: 'Milk it is.' },
      shell('echo kept-$((40+2)) > /tmp/note'),
      shell('cat /tmp/note'),
      { text: 'The note is there.' },
      shell('node server.js', { is_background: true }),
      shell(`curl -sS http://127.0.0.1:${port}/`),
      { text: 'It answers.' },
      shell('echo two > a.txt; touch made'),
      { text: 'All changed.' },
      { calls: [{ name: 'exit_plan_mode', args: { plan: '1. Rest' } }] },
      { text: 'I rest.' },
    ]);
    const env = modelVariables('openai', server.url);
    const at = terminal([], { cwd, env, columns, rows });
    const sees = async (wanted: string | RegExp) => {
      await expect.poll(at.visible, { timeout: 25_000, interval: 30 }).toMatch(wanted);
    };
    const idle = () => sees('Ask for an');
    /** Answers the question on the screen with "yes, once", which is highlighted. */
    const agree = async (about: string, key = 'y') => {
      await sees(about);
      await sees('Yes, once');
      expect(broken(at.visible())).toEqual([]);
      await think();
      at.type(key);
    };
    await idle();

    at.type(`what do @${notes} and @nosuch say\r`);
    await at.shows('Milk it is.');
    expect(at.text().replace(/\s+/g, ' ')).toContain('No file or folder here matches @nosuch');
    expect(at.text()).not.toContain('Read outside the workspace?');

    await idle();
    // Also in a narrow window.
    await sees(/context \d+%/);
    at.type('write a note\r');
    await at.shows('The note is there.');
    expect(at.text()).toContain('kept-42');

    await idle();
    at.type('!cat /tmp/note; touch /opt/never\r');
    await at.shows('The sandbox may have stopped it');
    expect(at.text()).toMatch(/✗ Shell cat[^❯]*kept-42[^❯]*The sandbox may have stopped it/);

    await idle();
    at.type('start it\r');
    await agree('node server.js');
    await sees(`bg_1 can be opened at http://127.0.0.1:${port}`);
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toContain('hello from');
    await agree('curl -sS');
    await at.shows('It answers.');
    expect(at.text()).toMatch(/✓ Shell curl[^❯]*hello from \d+/);
    await idle();
    at.type('/background\r');
    await sees(`bg_1 running at http://127.0.0.1:${port}`);

    at.type('change it\r');
    await agree('echo two', '\r');
    await at.shows('All changed.');
    expect(existsSync(join(cwd, 'made'))).toBe(true);
    await idle();
    await think();
    at.type('\u001b\u001b');
    await sees('Go back to the state before which prompt?');
    await sees(/❯ 4 {2}change it/);
    expect(broken(at.visible())).toEqual([]);
    at.type('\r');
    await sees('What should go back?');
    at.type('2');
    await expect.poll(() => existsSync(join(cwd, 'made')), { timeout: 25_000 }).toBe(false);

    at.type('\u001b[Z\u001b[Z');
    await sees('plan mode');
    at.type('plan it\r');
    await sees('1. Rest');
    await think();
    at.type('y');
    await at.shows('I rest.');
    await idle();
    at.type('/quit\r');
    expect(await at.exited()).toBe(0);
    await at.shows('bg_1 stopped');
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow('fetch failed');
  },
  120_000,
);
