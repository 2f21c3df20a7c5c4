import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildProgram, modelVariables } from '../../../../testing/lathe-program.js';
import { modelServer } from '../../../../testing/model-server.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { isRestored, terminal, think } from '../../../../testing/terminal.js';

beforeAll(buildProgram, 300_000);

/** Shown when the prompt accepts keys. */
const idle = 'Ask for anything.';

test('the console calls tools, asks, undoes and restores the terminal', async () => {
  const cwd = tempDirectory({ 'a.txt': 'one\n' });
  const { type, shows, exited, raw, text } = terminal(['console'], { cwd });
  await shows('This is the console');
  type('list_dir\t');
  await shows('list_directory ');
  type(`path=${cwd}\r`);
  await shows('a.txt (4)');
  type(`write_file file_path=${join(cwd, 'a.txt')} content=two\r`);
  await shows('Yes, once');
  // The folder is not trusted, so the rule would be kept with the person.
  expect(text()).toContain('Always in this project');
  await think();
  type('n');
  await shows('You said no');
  expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('one\n');
  type(`edit file_path=${join(cwd, 'a.txt')} old_string=one new_string=two\r`);
  await shows('Confirm Edit');
  await think();
  type('y');
  await expect.poll(() => readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('two\n');
  // Typed while the call may still be running, so it is queued.
  type('/undo\r');
  await shows('a.txt: restored');
  type('\u0003');
  await shows('Ctrl+C again');
  type('\u0003');
  expect(await exited()).toBe(0);
  expect(isRestored(raw())).toBe(true);
}, 90_000);

test('a person edits a proposed change, and the model receives the edit', async () => {
  const cwd = tempDirectory({ 'a.js': 'let x = 1;\n' });
  const editor = join(tempDirectory(), 'editor.sh');
  writeFileSync(editor, '#!/bin/sh\nprintf "const x = 2;\\n" > "$1"\n');
  chmodSync(editor, 0o755);
  const edit = { name: 'edit', args: { file_path: join(cwd, 'a.js'), old_string: 'let', new_string: 'const' } };
  const server = await modelServer([{ text: 'I change it.', calls: [edit] }, { text: 'All **done**.' }]);
  const env = {
    OPENAI_BASE_URL: `${server.url}/v1`,
    OPENAI_API_KEY: 'key-for-tests',
    OPENAI_MODEL: 'stub',
    VISUAL: editor,
  };
  const { type, shows, exited, text } = terminal(['use const'], { cwd, env });
  await shows('Confirm Edit');
  await think();
  type('e');
  await shows('1 + const x = 2;');
  await think();
  type('y');
  await shows('All done.');
  expect(readFileSync(join(cwd, 'a.js'), 'utf8')).toBe('const x = 2;\n');
  expect(text()).toContain('✓ Edit a.js +1 -1');
  await shows(idle);
  type('/quit\r');
  expect(await exited()).toBe(0);
}, 90_000);

test('"always" in the demo applies to the demo only', async () => {
  const home = tempDirectory();
  const { type, shows, exited } = terminal(['demo'], { cwd: tempDirectory(), env: { HOME: home } });
  await shows('Always for me: edits in any project');
  await think();
  type('u');
  await shows('$ node --test');
  await think();
  type('n');
  await shows(idle);
  type('/quit\r');
  expect(await exited()).toBe(0);
  expect(existsSync(join(home, '.lathe'))).toBe(false);
}, 90_000);

test('a paste of ten thousand lines in twenty columns is kept, and the program keeps running', async () => {
  const { type, shows, resize, exited, text } = terminal(['console'], { cwd: tempDirectory({}) });
  await shows('This is the console');
  resize(20);
  type(`\u001b[200~${'line\n'.repeat(10_000)}\u001b[201~`);
  await shows('[paste #1 10,000');
  resize(100);
  type('\u0003');
  await shows('Ctrl+C again');
  type('\u0003');
  expect(await exited()).toBe(0);
  expect(text()).not.toContain('RangeError');
}, 90_000);

test('neither earlier keys nor a line that arrives at once nor a paste answer a question', async () => {
  const cwd = tempDirectory({});
  const { type, shows, exited, visible } = terminal(['console'], { cwd });
  await shows('This is the console');
  type(`write_file file_path=${join(cwd, 'x.txt')} content=new\ryyy`);
  await shows('Yes, once');
  await think();
  // As over a slow connection.
  type('stop it\r');
  await think();
  expect(visible()).toContain('Yes, once');
  type('\u001b[200~y\u001b[201~');
  // Keys are handled in order, so if the paste answered, this key would come too late.
  type('n');
  await shows('You said no');
  expect(existsSync(join(cwd, 'x.txt'))).toBe(false);
  type('\u0003');
  await shows('Ctrl+C again');
  type('\u0003');
  expect(await exited()).toBe(0);
}, 90_000);

test('a conversation is resumed, and a subagent’s question reaches the person', async () => {
  const cwd = tempDirectory({});
  const home = tempDirectory();
  const write = { name: 'write_file', args: { file_path: join(cwd, 'x.txt'), content: 'new' } };
  const task = {
    name: 'task',
    args: { description: 'write it', prompt: 'write x.txt', subagent_type: 'general-purpose' },
  };
  const server = await modelServer([
    { text: 'Hello **Ada**.' },
    { calls: [task] },
    { calls: [write] },
    { text: 'I wrote it.' },
    { text: 'It is **written**, Ada.' },
  ]);
  const env = {
    HOME: home,
    OPENAI_BASE_URL: `${server.url}/v1`,
    OPENAI_API_KEY: 'key-for-tests',
    OPENAI_MODEL: 'stub',
  };
  const first = terminal(['my name is Ada'], { cwd, env });
  await first.shows('Hello Ada.');
  await first.shows(idle);
  first.type('/quit\r');
  expect(await first.exited()).toBe(0);

  const second = terminal(['--continue'], { cwd, env });
  await second.shows('Resumed a conversation of 2 messages');
  await second.shows('❯ my name is Ada');
  await second.shows('Hello Ada.');
  await second.shows(idle);
  second.type('have x.txt written\r');
  await second.shows('The subagent general-purpose asks.');
  expect(JSON.stringify(server.requests[1]?.body)).toContain('my name is Ada');
  await think();
  second.type('y');
  await second.shows('It is written, Ada.');
  expect(readFileSync(join(cwd, 'x.txt'), 'utf8')).toBe('new');
  await second.shows(idle);
  second.type('/sessions abcdef12\r');
  await second.shows('There is no session abcdef12; see /sessions');
  second.type('/quit\r');
  expect(await second.exited()).toBe(0);
}, 90_000);

test('SC11: a custom command shows its origin and needs approval; /memory lists the loaded context files', async () => {
  const cwd = tempDirectory({ 'AGENTS.md': 'Be brief.' });
  const home = tempDirectory({
    '.qwen/commands/team/sum.md': '---\ndescription: sums up\n---\nSum up {{args}}: !{echo made > made}',
    '.qwen/commands/help.md': 'Not help.',
  });
  const server = await modelServer([{ text: 'Summed.' }]);
  const at = terminal([], { cwd, env: { HOME: home, ...modelVariables('openai', server.url) } });
  await at.shows('there is a command /help already');
  await at.shows(idle);
  at.type('/sum');
  await at.shows('sums up (yours)');
  at.type('\tthe week\r');
  await at.shows('echo made > made');
  await at.shows('Yes, once');
  expect(existsSync(join(cwd, 'made'))).toBe(false);
  await think();
  at.type('y');
  await at.shows('Summed.');
  expect(readFileSync(join(cwd, 'made'), 'utf8')).toBe('made\n');
  expect(JSON.stringify(server.requests[0]?.body)).toContain('Sum up the week: ');
  await at.shows(idle);
  at.type('/memory\r');
  await at.shows('Loaded in this conversation:');
  await at.shows('AGENTS.md (this project, not trusted, 9 characters)');
  at.type('/quit\r');
  expect(await at.exited()).toBe(0);
}, 90_000);

test('an audit log and a collector that cannot be reached are each reported once on the screen', async () => {
  const cwd = tempDirectory({ 'a.txt': 'one\n' });
  const HOME = tempDirectory({ '.lathe/audit': 'not a directory' });
  const list = { name: 'list_directory', args: { path: cwd } };
  const server = await modelServer([{ calls: [list, list] }, { calls: [list] }, { text: 'Listed.' }]);
  const env = { HOME, ...modelVariables('openai', server.url), OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' };
  const { type, shows, exited, text } = terminal(['list it'], { cwd, env });
  await shows('Listed.');
  await shows('The audit log cannot be written');
  type('/quit\r');
  expect(await exited()).toBe(0);
  await shows('Telemetry is lost: http://127.0.0.1:1');
  expect(text().match(/audit log cannot/g)).toHaveLength(1);
  expect(text().match(/Telemetry is lost/g)).toHaveLength(1);
}, 90_000);

test('an unknown slash command names the one that was probably meant', async () => {
  const { type, shows, exited, text } = terminal(['console'], { cwd: tempDirectory() });
  await shows('This is the console');
  type('/udno\r');
  await shows('Unknown command /udno. Did you mean /undo? /help lists the commands.');
  type('/elephant\r');
  await shows('Unknown command /elephant. /help lists the commands.');
  type('/undo\r');
  await shows('Nothing to undo here.');
  expect(text()).toContain('\n  Nothing to undo here.');
  type('/quit\r');
  expect(await exited()).toBe(0);
}, 90_000);
