import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hasProgram } from '../../../../../testing/programs.js';
import { outsideDirectory, tempDirectory } from '../../../../../testing/temp-directory.js';
import { LatheHome } from '../../files/lathe-home.js';
import { childEnvironment } from '../run/environment.js';
import { CommandRunner } from '../run/run-command.js';
import { type PrepareOptions, Sandbox, type SandboxOptions } from './sandbox.js';
import type { SandboxRights } from './sandbox-rights.js';

const usual: SandboxRights = { workspace: true, network: false, home: false, files: false, secrets: false };
const never = new AbortController().signal;

/** Where programs keep keys, most of them in no list of ours. */
const leaks = [
  '.env',
  '.qwen/.env',
  '.qwen/settings.json',
  '.npmrc',
  '.cache/huggingface/token',
  '.huggingface/token',
  '.config/github-copilot/apps.json',
  '.config/github-copilot/hosts.json',
  '.pulumi/credentials.json',
  '.config/sops/age/keys.txt',
  '.mozilla/firefox/a.default/cookies.sqlite',
  '.config/google-chrome/Default/Cookies',
  'snap/firefox/common/.mozilla/firefox/a/key4.db',
  '.ssh/deploy',
  '.cargo/credentials.toml',
  '.cargo/config.toml',
  '.m2/settings.xml',
  '.gradle/gradle.properties',
  '.ivy2/.credentials',
  '.local/share/uv/credentials/credentials.toml',
  '.fly/config.yml',
  '.bash_history',
  '.gitconfig',
  'notes.txt',
];

interface HomeOptions extends Partial<SandboxOptions> {
  files?: Record<string, string>;
}

function inHome({ files = {}, ...options }: HomeOptions = {}) {
  const home = outsideDirectory(files);
  const root = tempDirectory();
  const latheHome = new LatheHome(tempDirectory());
  const sandbox = new Sandbox({ mode: 'required', roots: [root], latheHome, userHome: home, ...options });
  onTestFinished(() => sandbox.close());
  const runner = new CommandRunner(latheHome);
  const run = async (command: string, rights: Partial<SandboxRights> = {}, prepared: PrepareOptions = {}) => {
    const wrap = await sandbox.prepare(root, { ...usual, ...rights }, prepared);
    const env = { ...childEnvironment(process.env), HOME: options.userHome ?? home, TMPDIR: '/tmp' };
    const result = await runner.run(
      { command, cwd: root, env, ...(wrap && { wrap }) },
      { timeoutMs: 20_000, signal: never },
    );
    return result.output.text().trimEnd();
  };
  return { run, home, root, sandbox, latheHome };
}

const planted = Object.fromEntries(leaks.map((name) => [name, 'PLANTED']));

describe.skipIf(!hasProgram('bwrap'))('the home directory in the sandbox', () => {
  test('no place with keys can be read', async () => {
    const { run, home } = inHome({ files: { ...planted, '.cargo/bin/tool': '', '.fly/bin/fly': '' } });
    const reads = leaks.map((name) => `cat '${home}/${name}' 2>/dev/null`).join(';');
    expect(await run(`${reads}; grep -rhs PLANTED ${home}`)).toBe('');
    expect(await run(`grep -rhs PLANTED ${home}`, { network: true })).toBe('');
    expect(await run(`grep -rhs PLANTED ${home}`, { workspace: false })).toBe('');
  });

  test('toolchains and what PATH names are there, read-only', async () => {
    const names = ['.pyenv/shims/a', '.rustup/toolchains/b', '.cargo/bin/c', 'apps/node/bin/d', 'apps/node/lib/e'];
    const files = Object.fromEntries([...names, '.fly/bin/f', '.fly/config.yml'].map((name) => [name, 'tool\n']));
    const home = outsideDirectory(files);
    const { run } = inHome({ userHome: home, path: `${home}/apps/node/bin:${home}/.fly/bin:/usr/bin:/bin` });
    expect((await run('cd ~ && find . -type f | sort')).split('\n')).toEqual(
      ['./.fly/bin/f', ...names.map((name) => `./${name}`), './.gitconfig'].toSorted(),
    );
    expect(await run('echo x > ~/.cargo/bin/c')).toMatch(/Read-only file system$/);
    expect(await run('echo x > ~/new')).toMatch(/Read-only file system$/);
    expect(readFileSync(join(home, '.cargo/bin/c'), 'utf8')).toBe('tool\n');
  });

  test('without the network a cache is read, with it the session gets its own', async () => {
    const { run, home } = inHome({ files: { '.cargo/registry/index': 'of the person' } });
    expect(await run('cat ~/.cargo/registry/index; echo x > ~/.cargo/registry/index; echo y > ~/.cargo/lock')).toMatch(
      /^of the person.*Read-only file system$/,
    );
    await run('echo downloaded > ~/.cargo/registry/index; mkdir -p ~/.cache/go-build; echo z > ~/.cache/go-build/z', {
      network: true,
    });
    expect(await run('cat ~/.cargo/registry/index ~/.cargo/lock ~/.cache/go-build/z')).toBe('downloaded\ny\nz');
    expect(readFileSync(join(home, '.cargo/registry/index'), 'utf8')).toBe('of the person');
    expect(readdirSync(home)).toEqual(['.cargo']);
  });

  test('git knows who the user is, and nothing that runs programs or holds credentials', async () => {
    const config = `
[user]
	name = "A \\"quoted\\" name"
	email = a@example.org
[credential]
	helper = store
[core]
	editor = evil
	pager = evil
	fsmonitor = evil
	excludesFile = ~/.ignored
[alias]
	x = !evil
[url "https://user:token@example.org/"]
	insteadOf = https://example.org/
[filter "lfs"]
	clean = git-lfs clean -- %f
	smudge = evil
[include]
	path = more
`;
    const files = { '.gitconfig': config, more: '[init]\n\tdefaultBranch = trunk\n', '.ignored': '*.log\n' };
    const { run, home, root } = inHome({ files });
    expect((await run('git config --global --list')).split('\n')).toEqual([
      'user.name=A "quoted" name',
      'user.email=a@example.org',
      'core.excludesfile=~/.ignored',
      'filter.lfs.clean=git-lfs clean -- %f',
      'init.defaultbranch=trunk',
    ]);
    mkdirSync(join(root, 'sub'));
    expect(
      await run('git init -q sub && cd sub && touch a.log b && git status --porcelain && git branch --show-current'),
    ).toBe('?? b\ntrunk');
    writeFileSync(join(home, '.gitconfig'), '[user]\n\tname = Other\n');
    expect(await run('git config user.name')).toBe('Other');
  });

  test('a read that was approved works, and shows nothing else', async () => {
    const { run, home } = inHome({
      files: { 'notes.txt': 'mine', 'other.txt': 'no', '.netrc': 'secret', 'd/e': 'deep' },
    });
    const reads = ['notes.txt', '.netrc', 'd'].map((name) => join(home, name));
    expect(await run('cat ~/notes.txt ~/.netrc ~/d/e; cat ~/other.txt; echo x > ~/d/f', {}, { reads })).toMatch(
      /^minesecretdeep.*No such file or directory\n.*Read-only file system$/,
    );
    expect(await run('cat ~/other.txt', {}, { reads: [home, dirname(home), '/'] })).toMatch(/No such file/);
  });

  test('the right to the home directory shows ordinary files, the right to keys shows all of it', async () => {
    const { run } = inHome({ files: { 'notes.txt': 'mine\n', '.env': 'secret\n', 'snap/x': 'state\n' } });
    const read = 'cat ~/notes.txt ~/.env ~/snap/x 2>/dev/null; echo x > ~/notes.txt';
    expect(await run(read, { home: true })).toMatch(/^mine\n.*Read-only file system$/);
    expect(await run(read, { secrets: true })).toMatch(/^mine\nsecret\nstate\n.*Read-only file system$/);
  });

  test('a workspace in the home directory is there, and its neighbours are not', async () => {
    const home = outsideDirectory({ 'work/project/a': 'a', 'work/other/b': 'b', '.npmrc': 'PLANTED' });
    const root = join(home, 'work/project');
    const { run } = inHome({ userHome: home, roots: [root] });
    expect(await run(`cd ${root} && echo x > new; ls ${root} ${home}/work; cat ${home}/.npmrc`)).toMatch(
      new RegExp(`^${home}/work:\nproject\n\n${root}:\na\nnew\ncat: .*No such file or directory$`),
    );
  });

  test('a home directory behind a symlink is just as empty under both names', async () => {
    const real = outsideDirectory({ '.npmrc': 'PLANTED', '.cargo/bin/c': 'tool' });
    const spelled = join(outsideDirectory(), 'home');
    symlinkSync(real, spelled);
    const { run } = inHome({ userHome: spelled });
    expect(
      await run(`cat ${real}/.npmrc ${spelled}/.npmrc 2>/dev/null; cat ~/.cargo/bin/c; git config --global --list`),
    ).toBe('tool');
  });

  test("other people's home directories and the data of services are out of sight", async () => {
    const { run } = inHome();
    expect(await run('ls -A /home /root 2>/dev/null | grep -v -e : -e linuxbrew')).toBe('');
    const listed = (await run('ls /var /var/lib')).split('\n');
    expect(listed.filter((name) => ['log', 'mail', 'spool', 'backups', 'docker', 'sudo'].includes(name))).toEqual([]);
    expect(await run('test ! -e /var/lib/dpkg/status && echo none || head -c 8 /var/lib/dpkg/status')).toMatch(
      /^(none|Package:)$/,
    );
  });

  test('a socket in the home directory cannot be reached, nor one that was approved for reading', async () => {
    const { run, home } = inHome();
    const server = createServer();
    const path = join(home, 's');
    await new Promise<void>((resolve) => server.listen(path, resolve));
    onTestFinished(() => void server.close());
    const connect = `node -e "require('net').connect('${path}').on('error', e => console.log(e.code)).on('connect', () => { console.log('in'); process.exit() })"`;
    expect(await run(connect, {}, { reads: [path] })).toBe('ENOENT');
    expect(await run(connect, { home: true })).toBe('ENOENT');
    expect(await run(connect, { secrets: true })).toMatch(/ECONNREFUSED|ENOTSOCK|EACCES/);
  });
});

describe.skipIf(!hasProgram('bwrap'))("the session's own /tmp", () => {
  test('what one command writes the next one finds, also one that only reads', async () => {
    const { run, latheHome } = inHome();
    const name = `lathe-${process.pid}.log`;
    await run(`echo first > /tmp/${name}`);
    expect(await run(`cat /var/tmp/${name}; echo second >> /tmp/${name}`, { workspace: false })).toBe('first');
    expect(await run(`cat /tmp/${name}`, { home: true })).toBe('first\nsecond');
    expect(existsSync(join('/tmp', name))).toBe(false);
    const [directory = ''] = readdirSync(latheHome.file('tmp'));
    expect(statSync(latheHome.file('tmp', directory, 'tmp')).mode & 0o777).toBe(0o700);
  });

  test('sessions do not share it, and a command that is kept has its own', async () => {
    const [one, other] = [inHome(), inHome()];
    await one.run('echo x > /tmp/file');
    expect(await other.run('ls -A /tmp | grep -c file')).toBe('0');
    expect(await one.run('ls -A /tmp | grep -c file', {}, { isKept: true })).toBe('0');
  });

  test('it is removed with the session, whatever was left in it', async () => {
    const { run, sandbox, latheHome } = inHome();
    await run('mkdir -p /tmp/a/b && touch /tmp/a/b/c && ln -s / /tmp/a/root && chmod 0 /tmp/a/b && chmod 500 /tmp/a');
    await sandbox.close();
    expect(readdirSync(latheHome.file('tmp'))).toEqual([]);
  });

  test('that of a killed Lathe is removed at the next start, that of a running one is not', async () => {
    const latheHome = new LatheHome(tempDirectory());
    const running = inHome({ latheHome });
    await running.run('true');
    const [own = ''] = readdirSync(latheHome.file('tmp'));
    const [namespace] = own.split('-');
    // No process has the highest pid plus one.
    mkdirSync(latheHome.file('tmp', `${namespace}-4194305-abc`, 'tmp'), { recursive: true });
    mkdirSync(latheHome.file('tmp', '1-4194305-abc', 'tmp'), { recursive: true });
    const next = inHome({ latheHome });
    await next.run('true');
    const left = readdirSync(latheHome.file('tmp'));
    expect(left).toHaveLength(3);
    expect(left).toEqual(expect.arrayContaining([own, '1-4194305-abc']));
  });
});
