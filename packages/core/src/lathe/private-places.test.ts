import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hasProgram } from '../../../../testing/programs.js';
import { outsideDirectory, tempDirectory } from '../../../../testing/temp-directory.js';
import { createLathe } from './create-lathe.js';
import type { LatheOptions } from './lathe.js';

const never = new AbortController().signal;

const files = {
  '.env': 'PLANTED',
  '.qwen/.env': 'PLANTED',
  '.qwen/settings.json': '{"model":{"apiKey":"PLANTED"}}',
  '.npmrc': 'PLANTED',
  '.cache/huggingface/token': 'PLANTED',
  '.config/github-copilot/apps.json': 'PLANTED',
  '.pulumi/credentials.json': 'PLANTED',
  '.config/sops/age/keys.txt': 'PLANTED',
  '.config/google-chrome/Default/Cookies': 'PLANTED',
  '.mozilla/firefox/a.default/cookies.sqlite': 'PLANTED',
  'snap/firefox/common/cookies.sqlite': 'PLANTED',
  '.ssh/deploy': 'PLANTED',
};

async function open(options: Partial<LatheOptions> = {}) {
  const home = outsideDirectory({ ...files, 'notes.txt': 'ORDINARY', '.cargo/registry/src/lib.rs': 'ORDINARY' });
  const root = tempDirectory();
  const lathe = await createLathe({
    cwd: root,
    home,
    latheHome: tempDirectory(),
    env: { ...process.env, HOME: home },
    flags: { 'tools.approvalMode': 'yolo' },
    ...options,
  });
  onTestFinished(() => lathe.close());
  const run = async (name: string, args: Record<string, unknown>) => {
    const [outcome] = await lathe.run([{ id: '1', name, args }], never);
    return JSON.stringify(outcome);
  };
  return { run, home, root, lathe };
}

test('in yolo mode no tool reads a private place of the home directory unasked', async () => {
  const { run, home, root } = await open();
  for (const name of Object.keys(files)) {
    const path = join(home, name);
    expect(await run('read_file', { absolute_path: path })).toContain('execution_denied');
    expect(await run('read_many_files', { paths: [path] })).not.toContain('PLANTED');
    expect(await run('grep_search', { pattern: 'PLANT', path })).toContain('execution_denied');
    expect(await run('run_shell_command', { command: `cat '${path}'` })).toContain('execution_denied');
  }
  for (const path of [join(home, '.config'), join(home, '.ssh')]) {
    expect(await run('list_directory', { path })).toContain('execution_denied');
    expect(await run('glob', { pattern: '**/*', path })).toContain('execution_denied');
  }
  expect(await run('grep_search', { pattern: 'PLANTED|ORDINARY', path: home })).toMatch(/ORDINARY(?!.*PLANTED)/s);
  expect(await run('read_many_files', { paths: [`${home}/**`] })).not.toContain('PLANTED');
  symlinkSync(join(home, '.npmrc'), join(root, 'link'));
  expect(await run('read_file', { absolute_path: join(root, 'link') })).toContain('execution_denied');
});

test('ordinary files and toolchains are read as before', async () => {
  const { run, home } = await open();
  for (const name of ['notes.txt', '.cargo/registry/src/lib.rs'])
    expect(await run('read_file', { absolute_path: join(home, name) })).toContain('ORDINARY');
  expect(await run('list_directory', { path: home })).toContain('notes.txt');
});

test('a person may allow it, for this one call', async () => {
  const asked: string[] = [];
  const { run, home } = await open({
    approver: {
      decide: async ({ reason }) => {
        asked.push(reason);
        return { outcome: 'once' };
      },
    },
  });
  expect(await run('read_file', { absolute_path: join(home, '.npmrc') })).toContain('PLANTED');
  expect(asked).toEqual([`${home}/.npmrc is a place where programs keep keys and settings`]);
});

test('a workspace that is the home directory, or lies in a dot directory, is read as before', async () => {
  const home = outsideDirectory({ '.config/nvim/init.lua': 'ORDINARY', '.npmrc': 'x', '.netrc': 'PLANTED' });
  for (const cwd of [home, join(home, '.config/nvim')]) {
    const { run } = await open({ cwd, home });
    expect(await run('read_file', { absolute_path: join(home, '.config/nvim/init.lua') })).toContain('ORDINARY');
    expect(await run('read_file', { absolute_path: join(home, '.netrc') })).toContain('execution_denied');
  }
});

describe.skipIf(!hasProgram('bwrap'))('commands and the tools beside them', () => {
  const required = { 'tools.approvalMode': 'yolo', 'tools.sandbox.mode': 'required' } as const;

  test('what a command wrote to /tmp the tools find, without a question', async () => {
    const { run } = await open({ flags: { ...required, 'tools.approvalMode': 'default' } });
    const name = `/tmp/lathe-${process.pid}-out.log`;
    await run('run_shell_command', { command: `echo written > ${name}` });
    expect(await run('run_shell_command', { command: `tail ${name}` })).toContain('written');
    expect(await run('read_file', { absolute_path: name })).toContain('written');
    expect(await run('grep_search', { pattern: 'written', path: name })).toContain('written');
  });

  test('a link that a command left in /tmp leads the tools to a question', async () => {
    const { run, home } = await open({ flags: required });
    const name = `/tmp/lathe-${process.pid}-link`;
    await run('run_shell_command', { command: `node -e "fs.symlinkSync('${home}/.npmrc', '${name}')"` });
    expect(await run('read_file', { absolute_path: name })).toContain('execution_denied');
  });

  test('an approved read outside the workspace works in the sandbox', async () => {
    const { run, home } = await open({ flags: required });
    expect(await run('run_shell_command', { command: `cat ${home}/notes.txt` })).toContain('ORDINARY');
    expect(
      await run('run_shell_command', { command: `cat ${home}/notes.txt; grep -rh PLANTED ${home}/.[a-z]*` }),
    ).not.toContain('PLANTED\\n');
  });

  test('a file of the project cannot choose what is shown', async () => {
    const home = outsideDirectory(files);
    const cwd = tempDirectory({ '.env': `JAVA_HOME=${home}/.ssh\nGOROOT=${home}/.pulumi\n` });
    const { run } = await open({ cwd, home, isTrusted: true, flags: required });
    expect(await run('run_shell_command', { command: `bash -c 'cat ${home}/.[a-z]*/*'` })).not.toContain('PLANTED');
  });

  test('a program that misses something in the home directory gets a hint with the right', async () => {
    const { run, home } = await open({ flags: required });
    mkdirSync(join(home, 'data'));
    writeFileSync(join(home, 'data/a'), '');
    const script = (name: string) => `node -e "fs.readFileSync('${join(home, name)}')"`;
    expect(await run('run_shell_command', { command: script('data/a') })).toContain('rights: [\\"home\\"]');
    expect(await run('run_shell_command', { command: script('.npmrc') })).toContain('rights: [\\"secrets\\"]');
    expect(await run('run_shell_command', { command: script('missing') })).not.toContain('rights: ');
    expect(await run('run_shell_command', { command: `ls ${home}` })).toContain('holds only toolchains');
    const name = `lathe-${process.pid}-real`;
    writeFileSync(join('/tmp', name), '');
    onTestFinished(() => rmSync(join('/tmp', name)));
    expect(await run('run_shell_command', { command: `cat /tmp/${name}` })).toContain('is this session');
  });
});
