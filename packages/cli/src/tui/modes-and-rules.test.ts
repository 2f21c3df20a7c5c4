import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildProgram, modelVariables } from '../../../../testing/lathe-program.js';
import { modelServer } from '../../../../testing/model-server.js';
import { hasProgram } from '../../../../testing/programs.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { terminal, think } from '../../../../testing/terminal.js';

beforeAll(buildProgram, 300_000);

const shell = (command: string) => ({ calls: [{ name: 'run_shell_command', args: { command } }] });
const shiftTab = '\u001b[Z';

test.skipIf(!hasProgram('bwrap')).each([
  [120, 40],
  [80, 24],
  [60, 18],
])(
  'modes and rules at %d × %d: always for a kind and for one command, /permissions, what auto runs and asks',
  async (columns, rows) => {
    const home = tempDirectory();
    const cwd = tempDirectory({
      'package.json': '{ "scripts": { "test": "echo tested" } }',
      'AGENTS.md': 'Be kind.\n',
    });
    const server = await modelServer([
      shell('npm test'),
      shell('npm test -- --verbose'),
      shell('node -e 1'),
      shell('node -e 1'),
      { text: 'All asked.' },
      { calls: [{ name: 'todo_write', args: { todos: [{ id: '1', content: 'Touch it', status: 'in_progress' }] } }] },
      { calls: [{ name: 'todo_write', args: { todos: [{ id: '1', content: 'Touch it', status: 'completed' }] } }] },
      shell('touch made; sleep 1'),
      shell('curl -sS http://example.com/'),
      { text: 'No page then.' },
    ]);
    const env = { HOME: home, ...modelVariables('openai', server.url) };
    const at = terminal([], { cwd, env, columns, rows });
    const sees = async (wanted: string | RegExp) => {
      await expect.poll(at.visible, { timeout: 25_000, interval: 30 }).toMatch(wanted);
    };
    const answer = async (question: string, label: string) => {
      await sees(question);
      await sees('No (n)');
      const digit = new RegExp(`(\\d) {2}${label}`).exec(at.visible())?.[1];
      expect(at.visible()).toMatch(/❯ 1 {2}Yes, once \(y\)/);
      await think();
      at.type(digit ?? 'missing');
    };
    await sees('Ask for an');

    // The second command is covered by the rule for its kind, the fourth by the rule for exactly this one.
    at.type('run all of it\r');
    await answer('$ npm test', 'Always for me: npm test …');
    await answer('$ node -e 1', 'Always in this session: this exact command');
    await at.shows('All asked.');
    expect(at.text().split('✓ Shell ')).toHaveLength(5);
    expect(readFileSync(join(home, '.lathe/settings.json'), 'utf8')).toContain('run_shell_command(npm test *)');
    await sees('Ask for an');
    at.type('/permissions\r');
    await sees('run_shell_command(npm test *)');
    await sees('this session');
    const number = /(\d) {2}allow npm test …/.exec(at.text())?.[1] ?? '';
    at.type(`/permissions remove ${number}\r`);
    await expect
      .poll(() => readFileSync(join(home, '.lathe/settings.json'), 'utf8'), { timeout: 25_000 })
      .not.toContain('npm test');

    await sees('Ask for an');
    at.type(shiftTab);
    await sees('auto mode: edits and sandboxed commands run');
    at.type('go on\r');
    await sees('● Shell touch made');
    // A todo that is done no longer names the work.
    await sees(/\S working · /);
    await sees('It uses the network');
    expect(existsSync(join(cwd, 'made'))).toBe(true);
    // With a reason the turn goes on.
    await answer('example.com', 'No, and say why');
    await sees('No, because: █');
    at.type('there is no network\r');
    await sees('You said no: there is no network');
    await at.shows('No page then.');
    expect(JSON.stringify(server.requests.at(-1)?.body)).toContain('there is no network');
    await sees('Ask for an');
    at.type('/quit\r');
    expect(await at.exited()).toBe(0);

    // Named after the prompt, not after the context file.
    const later = terminal(['sessions'], { cwd, env, columns, rows });
    expect(await later.exited()).toBe(0);
    expect(later.text()).toContain('run all of it');
    expect(later.text()).not.toContain('Files of the project');
  },
  120_000,
);
