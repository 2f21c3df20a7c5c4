import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, onTestFinished, test } from 'vitest';
import { fakeLanguage, fakeLanguageServer } from '../../../../testing/language-world.js';
import { hasProgram } from '../../../../testing/programs.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import type { Approver } from '../contract/call.js';
import { textOf } from '../contract/content.js';
import { LatheHome } from '../files/lathe-home.js';
import { Consent, definitionHash } from '../policy/consent.js';
import { FolderTrust } from '../policy/folder-trust.js';
import { createLathe } from './create-lathe.js';
import type { LatheOptions } from './lathe.js';

const never = new AbortController().signal;
const yolo = { 'tools.approvalMode': 'yolo' } as const;

async function latheIn(cwd: string, { trust = true, ...options }: Partial<LatheOptions> & { trust?: boolean } = {}) {
  const home = options.home ?? tempDirectory();
  const env = { PATH: process.env['PATH'], HOME: home };
  const given = { cwd, home, latheHome: join(home, '.lathe'), env, ...(trust && { isTrusted: true }), ...options };
  const lathe = await createLathe({ ...given, flags: { ...yolo, ...options.flags } });
  onTestFinished(() => lathe.close());
  const call = async (name: string, args: Record<string, unknown>) => {
    await lathe.discover(never, name);
    const [outcome] = await lathe.run([{ name, args }], never);
    if (outcome === undefined) throw new Error('no outcome');
    return outcome;
  };
  /** Edits until the server has answered, however slow the machine is. */
  const edit = async (path: string, from: string, to: string) => {
    let { llmContent } = await call('edit', { file_path: path, old_string: from, new_string: to });
    for (let n = 0; textOf(llmContent).includes('Not checked yet') && n < 30; n++)
      ({ llmContent } = await call('edit', { file_path: path, old_string: '\n', new_string: ' \n' }));
  };
  return { lathe, call, edit };
}

const project = () => tempDirectory({ 'a.demo': 'one\nBAD(old)' });

test('the result of an edit and of a new file names the problems, for the model and for people', async () => {
  const cwd = project();
  const { call, edit } = await latheIn(cwd, {
    flags: { languages: fakeLanguage('none'), 'tools.sandbox.mode': 'off' },
  });
  const path = join(cwd, 'a.demo');
  await edit(path, 'one', 'uno');
  const created = await call('write_file', { file_path: join(cwd, 'b.demo'), content: 'BAD(b)\n' });
  const edited = await call('edit', { file_path: path, old_string: 'uno', new_string: 'BAD(new)' });
  expect(created.llmContent).toBe(`Created ${join(cwd, 'b.demo')}.\n\nNew problems:\nb.demo:1:1 error bad: b`);
  expect(edited.llmContent).toMatch(/\n\nNew problems:\na\.demo:1:1 error bad: new$/);
  expect(edited.returnDisplay).toMatchObject({ problems: 'New problems:\na.demo:1:1 error bad: new' });
});

test.each([
  ['auto-edit', 'off', false],
  ['yolo', 'off', true],
  ['auto-edit', 'auto', hasProgram('bwrap')],
] as const)(
  'in %s mode with the sandbox %s, code of the project runs as its server: %s',
  async (mode, sandbox, runs) => {
    const cwd = tempDirectory({ 'a.py': 'one\n', 'venv/bin/pylsp': '#!/bin/sh\nexit 0\n' });
    const program = join(cwd, 'venv/bin/pylsp');
    chmodSync(program, 0o755);
    const flags = { 'tools.approvalMode': mode, 'tools.sandbox.mode': sandbox };
    const env = { PATH: '/usr/bin:/bin' };
    const { call } = await latheIn(cwd, { flags, env, caller: 'person' });
    await call('write_file', { file_path: program, content: '#!/bin/sh\necho started >&2\nexit 3\n' });
    let text = 'Not checked yet';
    for (let n = 0; text.includes('Not checked yet') && n < 30; n++)
      text = textOf((await call('write_file', { file_path: join(cwd, 'a.py'), content: `${n}\n` })).llmContent);
    expect(text.includes('server failed')).toBe(runs);
  },
);

test.each([
  ['a mark', Buffer.from('\ufeff😀 one\nBAD(old)\n')],
  ['UTF-16', Buffer.from('\ufeff😀 one\nBAD(old)\n', 'utf16le')],
  ['old line ends', Buffer.from('😀 one\rBAD(old)\r')],
  ['both line ends', Buffer.from('😀 one\r\nBAD(old)\r\n')],
])('positions are those in the text of a file with %s', async (_name, bytes) => {
  const cwd = tempDirectory();
  const path = join(cwd, 'a.demo');
  writeFileSync(path, bytes);
  const { call, edit } = await latheIn(cwd, {
    flags: { languages: fakeLanguage('none'), 'tools.sandbox.mode': 'off' },
  });
  await edit(path, 'one', 'uno');
  const edited = await call('edit', { file_path: path, old_string: 'uno', new_string: 'BAD(new) extra' });
  expect(edited.returnDisplay).toMatchObject({ problems: 'New problems:\na.demo:1:4 error bad: new' });
});

test('nothing starts before the first edit, and nothing is left at the end', async () => {
  const cwd = project();
  const mark = join(cwd, 'pid');
  const { lathe, call, edit } = await latheIn(cwd, {
    flags: { languages: fakeLanguage('none', mark), 'tools.sandbox.mode': 'off' },
  });
  await call('read_file', { absolute_path: join(cwd, 'a.demo') });
  expect(existsSync(mark)).toBe(false);
  await edit(join(cwd, 'a.demo'), 'one', 'uno');
  const pid = Number(readFileSync(mark, 'utf8'));
  expect(process.kill(pid, 0)).toBe(true);
  await lathe.close();
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});

test('a server that the settings of a project name starts only in a trusted folder and after a yes', async () => {
  const mark = 'started';
  const cwd = tempDirectory({
    'a.demo': 'one\n',
    'server.sh': `#!/bin/sh\ntouch ${mark}\nexec node ${fakeLanguageServer}\n`,
  });
  chmodSync(join(cwd, 'server.sh'), 0o755);
  const setting = { command: './server.sh', extensions: ['.demo'] };
  const file = join(cwd, '.lathe', 'settings.json');
  const home = tempDirectory();
  const store = new LatheHome(join(home, '.lathe'));
  const untold = async () => {
    const { lathe, call } = await latheIn(cwd, { home, trust: false, flags: { 'tools.sandbox.mode': 'off' } });
    const { llmContent } = await call('edit', {
      file_path: join(cwd, 'a.demo'),
      old_string: 'one',
      new_string: 'one ',
    });
    await lathe.close();
    return { text: textOf(llmContent), consents: lathe.host.sources.consents() };
  };
  mkdirSync(join(cwd, '.lathe'));
  writeFileSync(file, JSON.stringify({ languages: { demo: setting } }));

  expect((await untold()).text).not.toContain('checked');
  await new FolderTrust(store).trust(cwd);
  const { text, consents } = await untold();
  expect(text).toContain(
    'Not checked: the demo server failed (It belongs to the project, and you have not agreed to it as it is now.',
  );
  expect(existsSync(join(cwd, mark))).toBe(false);
  const [request] = consents;
  expect(request).toMatchObject({ kind: 'language-server', confirmation: { command: './server.sh' } });
  await new Consent(store).approve('language-server', request?.id ?? '', definitionHash(request?.definition));
  expect((await untold()).text).not.toContain('agreed');
  expect(existsSync(join(cwd, mark))).toBe(true);
});

const demo = (fault = 'none') => ({
  languages: { typescript: { ...fakeLanguage(fault)['demo'], extensions: ['.demo'] } },
});
const navigable = () => tempDirectory({ 'tsconfig.json': '{}', 'a.demo': 'one two\n' });

test('code_navigation is there only where a server is, and costs at most 120 tokens', async () => {
  const without = await latheIn(project());
  await without.lathe.discover(never);
  expect(without.lathe.tools.getTool('code_navigation')).toBeUndefined();
  const { lathe } = await latheIn(navigable(), { flags: demo() });
  expect(lathe.tools.getTool('code_navigation')).toBeUndefined();
  await lathe.discover(never);
  const declaration = lathe.tools.getFunctionDeclarations().find(({ name }) => name === 'code_navigation');
  expect(declaration).toMatchSnapshot();
  expect(encode(JSON.stringify(declaration)).length).toBeLessThanOrEqual(120);
});

test('a rename asks with a diff, and can be undone', async () => {
  const cwd = navigable();
  const asked: string[] = [];
  const approver: Approver = {
    decide: async ({ tool, confirmation }) => {
      asked.push(`${tool}: ${confirmation.type === 'edit' ? confirmation.fileDiff : confirmation.type}`);
      return { outcome: asked.length === 1 ? 'deny' : 'once' };
    },
  };
  const flags = { ...demo(), 'tools.approvalMode': 'default', 'tools.sandbox.mode': 'off' } as const;
  const { lathe, call } = await latheIn(cwd, { approver, flags });
  const rename = (name: string) =>
    call('code_navigation', { action: 'rename', file_path: join(cwd, 'a.demo'), symbol: 'two', new_name: name });
  expect((await rename('six')).status).not.toBe('success');
  expect(readFileSync(join(cwd, 'a.demo'), 'utf8')).toBe('one two\n');
  expect((await rename('six')).llmContent).toBe(`Renamed in 1 file: ${join(cwd, 'a.demo')}`);
  expect(asked[1]).toContain('write_file: --- a.demo\n+++ a.demo\n@@ -1 +1 @@\n-one two\n+one six\n');
  expect(readFileSync(join(cwd, 'a.demo'), 'utf8')).toBe('one six\n');
  await lathe.host.changes.undo({ count: 1 }, never);
  expect(readFileSync(join(cwd, 'a.demo'), 'utf8')).toBe('one two\n');
  const { error } = await call('code_navigation', {
    action: 'rename',
    file_path: join(cwd, 'a.demo'),
    symbol: 'two',
    new_name: 'escape',
  });
  expect(error?.message).toContain('would change file:///etc/passwd, outside the workspace');
});

test('no line of a file is shown that reading would ask about, wherever a server points', async () => {
  const outside = tempDirectory({ 'key.demo': 'far away\n' });
  const cwd = tempDirectory({ 'tsconfig.json': '{}', '.env': 'KEY=secret\n', 'b.demo': 'shown\n' });
  symlinkSync(join(outside, 'key.demo'), join(cwd, 'link.demo'));
  symlinkSync(outside, join(cwd, 'folder'));
  const names = ['b.demo', 'link.demo', 'folder/key.demo', '.env', 'missing.demo'];
  writeFileSync(join(cwd, 'a.demo'), names.map((name) => pathToFileURL(join(cwd, name)).href).join('\n'));
  const { call } = await latheIn(cwd, { flags: { ...demo(), 'tools.sandbox.mode': 'off' } });
  const args = { action: 'references', file_path: join(cwd, 'a.demo'), line: 1 };
  expect((await call('code_navigation', args)).llmContent).toBe(
    'b.demo:1:1: shown\nlink.demo:1:1\nfolder/key.demo:1:1\n.env:1:1\nmissing.demo:1:1',
  );
});

test('plan mode refuses a rename', async () => {
  const cwd = navigable();
  const { call } = await latheIn(cwd, { flags: { ...demo(), 'tools.approvalMode': 'plan' } });
  const args = { action: 'rename', file_path: join(cwd, 'a.demo'), symbol: 'two', new_name: 'six' };
  expect((await call('code_navigation', args)).error?.type).toBe('execution_denied');
});

test('the state of each server is known', async () => {
  const { lathe } = await latheIn(navigable(), { flags: { ...demo(), 'tools.sandbox.mode': 'off' } });
  expect(await lathe.host.languages.status()).toMatchObject([
    { language: 'typescript', command: expect.stringContaining('fake-language-server'), status: 'ready' },
  ]);
  const failing = await latheIn(navigable(), { flags: { ...demo('no-such-fault'), 'tools.sandbox.mode': 'off' } });
  expect(await failing.lathe.host.languages.status()).toMatchObject([
    { status: 'failed', reason: expect.stringContaining('no fault no-such-fault') },
  ]);
});
