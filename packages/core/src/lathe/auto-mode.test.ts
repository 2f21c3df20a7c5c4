import { existsSync, readdirSync, readFileSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { gitFiles } from '../../../../testing/git-files.js';
import { hasProgram } from '../../../../testing/programs.js';
import { outsideDirectory, tempDirectory } from '../../../../testing/temp-directory.js';
import { webServer } from '../../../../testing/web-server.js';
import { createLathe } from './create-lathe.js';
import type { LatheOptions } from './lathe.js';

const never = new AbortController().signal;

const files = {
  ...gitFiles(),
  '.gitignore': 'local.json\nnode_modules\n*.log\n',
  'local.json': '{}',
  'test.log': '',
  'src/a.ts': '1',
  'kept/b.ts': '2',
  'kept/local.json': '{}',
  'node_modules/x/index.js': '',
  'node_modules/.bin/vitest': '',
  'AGENTS.md': 'be kind\n',
  'config.txt': 'plain\n',
};

const evilConfig = String.raw`[core]\nfsmonitor = touch /tmp/x\n`;

/** Stands for a server; the only command that may run when it asks. */
const server = 'sleep 60';

/** A workspace in auto-edit mode, and what was asked. */
async function open(
  flags: LatheOptions['flags'] = {},
  added: Record<string, string> = {},
  homeFiles: Record<string, string> = {},
  links: Record<string, string> = {},
) {
  const root = tempDirectory({ ...files, ...added });
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(root, name));
  const home = outsideDirectory({ 'notes.txt': 'PRIVATE', ...homeFiles });
  const latheHome = tempDirectory();
  const asked: string[] = [];
  const lathe = await createLathe({
    cwd: root,
    home,
    latheHome,
    env: { ...process.env, HOME: home },
    flags: { 'tools.approvalMode': 'auto-edit', 'tools.sandbox.mode': 'required', ...flags },
    approver: {
      decide: async ({ confirmation, reason }) => {
        asked.push([...(confirmation.warnings ?? []), reason].join(' '));
        return { outcome: confirmation.type === 'exec' && confirmation.command === server ? 'once' : 'deny' };
      },
    },
  });
  onTestFinished(() => lathe.close());
  const run = async (command: string, more: object = {}) => {
    const before = asked.length;
    const [outcome] = await lathe.run([{ id: '1', name: 'run_shell_command', args: { command, ...more } }], never);
    return { asked: asked.slice(before), outcome };
  };
  const write = async (name: string) => {
    const before = asked.length;
    const args = { file_path: join(root, name), content: 'new' };
    await lathe.run([{ id: '1', name: 'write_file', args }], never);
    return { asked: asked.slice(before) };
  };
  return { run, write, root, home, latheHome };
}

/** The same, with a repository as git makes it. */
async function openRepository(added: Record<string, string> = {}, hooks?: string) {
  const hooksPath = hooks === undefined ? '' : `\thooksPath = ${hooks}\n`;
  const config = `[core]\n\trepositoryformatversion = 0\n${hooksPath}`;
  return open({}, { '.git/config': config, '.git/hooks/x.sample': '', ...added });
}

/** A script that adds a file to the index, with a name that git refuses in a commit. */
function poison(name: string): string {
  return `
    const fs = require('fs');
    const index = fs.readFileSync('.git/index');
    const entry = Buffer.alloc((62 + ${name.length} + 8) & ~7);
    entry.writeUInt32BE(0o100755, 24);
    entry.writeUInt16BE(${name.length}, 60);
    entry.write('${name}', 62);
    index.writeUInt32BE(index.readUInt32BE(8) + 1, 8);
    fs.writeFileSync('.git/index', Buffer.concat([index.subarray(0, 12), entry, index.subarray(12)]));`;
}

describe.skipIf(!hasProgram('bwrap'))('auto-edit mode inside the sandbox', () => {
  test.each([
    `node -e "fs.writeFileSync('made.txt', 'x')" && cat made.txt`,
    'mkdir -p new/dir && touch new/dir/file && mv new/dir/file moved',
    'echo one > out.txt; sed -i s/one/two/ out.txt; cat out.txt',
    'node -e 1 > test.log; node -e 1 > test.log; rm -rf src; node -e 1 2>&1 | tee test.log; echo 1 > node_modules/x/index.js',
    'rm -rf src node_modules',
    'bash -c "echo $((1 + 1))"',
    'git checkout -- . || true',
    'git checkout -qb new; git add -A && git -c user.name=a -C . commit -qm one; git stash; git clean -fd; git tag -a v1 -m x; git reset --soft HEAD || true',
    'cp src/a.ts kept; mv src/a.ts kept/c.ts',
    'npx vitest --version || true',
  ])('%s runs without a question', async (command) => {
    const { run } = await open();
    expect(await run(command)).toMatchObject({ asked: [], outcome: { status: 'success' } });
  });

  test.each([
    ['many statements', '1;'.repeat(200)],
    ['a long name below a missing one', `1/${'1;'.repeat(200)}`],
    ['many names', '1/'.repeat(3_000)],
  ])('a script longer than any name runs: %s', async (_, script) => {
    const { run } = await open();
    expect(await run(`node -e "${script}1"`)).toMatchObject({ asked: [], outcome: { status: 'success' } });
  });

  test.each([
    ['the network', 'curl http://example.com', {}, /network/],
    ['a download', 'npm install left-pad', {}, /network/],
    ['a tool that is not installed', 'npx cowsay hi', {}, /network/],
    ['a remote of git', 'git push origin main', {}, /network/],
    ['another folder', 'cat HOME/notes.txt', {}, /./],
    ['writing in another folder', 'echo x > HOME/x.txt', {}, /./],
    ['a background command', 'node -e 1', { is_background: true }, /./],
    ['a right', 'node -e 1', { rights: ['network'] }, /leave the sandbox/],
    ['a protected file', 'echo x > AGENTS.md', {}, /act on/],
    ['the workspace itself', 'rm -rf .', {}, /workspace/],
    ['an ignored file', 'rm local.json', {}, /rewind/],
    ['a folder with an ignored file', 'rm -r kept', {}, /kept\/local.json/],
    ['ignored files', 'git clean -fdx', {}, /rewind/],
    ['the position of a branch', 'git reset --hard HEAD~1', {}, /rewind/],
    ['the position of a branch in other words', 'git reset --har HEAD~1', {}, /rewind/],
    ['the position of another branch', 'git switch -C main HEAD~1', {}, /rewind/],
    ['an alias that is made for it', `git -c alias.x='reset --hard' x`, {}, /rewind/],
    ['a subcommand that is not known', 'git update-ref -d refs/heads/x', {}, /rewind/],
    ['an ignored file that goes away', 'mv local.json /tmp/x', {}, /rewind/],
    ['an ignored directory that goes away', 'mv kept /tmp/x', {}, /rewind/],
    ['an ignored file that is replaced', 'cp src/a.ts local.json', {}, /rewind/],
    ['an ignored file that is emptied', 'truncate -s 0 local.json', {}, /rewind/],
    ['an ignored file that is written over', 'echo 1 > local.json', {}, /rewind/],
    ['an ignored file that a pipe is written to', 'echo 1 | tee local.json', {}, /rewind/],
    ['an ignored file that is edited', 'sed -i s/a/b/ local.json', {}, /rewind/],
    ['an ignored file that perl edits', 'perl -pi -e s/a/b/ kept/local.json', {}, /rewind/],
    ['an ignored file that dd writes', 'dd if=src/a.ts of=local.json', {}, /rewind/],
    ['an ignored file that is sorted', 'sort -o local.json src/a.ts', {}, /rewind/],
    ['an ignored file that git writes', 'git diff --output=local.json', {}, /rewind/],
    ['an ignored file that git archives to', 'git archive -o local.json HEAD', {}, /rewind/],
    ['an ignored file that git removes', 'git add -f local.json && git rm -qf local.json', {}, /rewind/],
    ['a large file', 'rm big/large.bin', {}, /too large/],
    ['a folder with a large file', 'rm -r big', {}, /big\/large.bin, because it is too large/],
    ['a file of another repository', 'rm inner/a.txt', {}, /inner is a repository/],
    ['stashes', 'timeout 5 git stash clear', {}, /rewind/],
    ['an ignored file that becomes a link', 'ln -sf src/a.ts local.json', {}, /rewind/],
    ['an ignored file that git replaces', 'git mv -f src/a.ts local.json', {}, /rewind/],
  ])('%s asks: %s', async (_, command, more, reason) => {
    const { run, home, root } = await open({}, { 'inner/.git/HEAD': '', 'inner/a.txt': '', 'big/large.bin': '' });
    truncateSync(join(root, 'big/large.bin'), 33 << 20);
    const { asked, outcome } = await run(command.replace('HOME', home), more);
    expect(asked).toEqual([expect.stringMatching(reason)]);
    expect(outcome?.status).not.toBe('success');
  });

  test('what runs without a question reaches no network and nothing outside', async () => {
    const { url, requests } = await webServer((_, response) => response.end('REACHED'));
    const { run, home } = await open();
    const script = `
      fetch('${url}').then((r) => r.text(), () => 'closed').then(console.log);
      try { console.log(fs.readFileSync('${home}/notes.' + 'txt', 'utf8')) } catch (error) { console.log(error.code) }
      try { fs.writeFileSync('${home}/planted.txt', '') } catch (error) { console.log(error.code) }`;
    const { asked, outcome } = await run(`node -e "${script}"`);
    expect(asked).toEqual([]);
    expect(outcome?.llmContent).toMatch(/ENOENT\n(EROFS|ENOENT)\nclosed/);
    expect(JSON.stringify(outcome)).not.toMatch(/REACHED|PRIVATE/);
    expect([requests, readdirSync(home)]).toEqual([[], ['notes.txt']]);
  });

  test('the server of a background command is reached without a question, other addresses ask', async () => {
    const { run } = await open();
    expect((await run('curl -sS http://localhost:1/')).asked).toHaveLength(1);
    expect((await run(server, { is_background: true })).outcome?.status).toBe('success');
    const { asked, outcome } = await run(
      'curl -sS http://localhost:1/ | cat; curl -s "http://127.0.0.1:2/a?b=c"; curl -s localhost:2/a',
    );
    expect([asked, outcome?.llmContent]).toEqual([[], expect.stringContaining('port 1')]);
    expect((await run('curl -s http://localhost:1/ http://example.com/')).asked).toHaveLength(1);
    expect((await run('curl -s http://localhost:1/; npm install left-pad')).asked).toHaveLength(1);
  });

  test('a build keeps its cache, but not a script that Gradle would run', async () => {
    const { run, root } = await open();
    const script = `fs.mkdirSync('.gradle/8.5', { recursive: true }); for (const name of ['8.5/gc.properties', 'init.gradle']) fs.writeFileSync('.gradle/' + name, '')`;
    const { asked, outcome } = await run(`node -e "${script}"`);
    expect([asked, readdirSync(join(root, '.gradle'), { recursive: true })]).toEqual([
      [],
      ['8.5', '8.5/gc.properties'],
    ]);
    expect(JSON.stringify(outcome)).toContain('.gradle/init.gradle was created without a question');
  });

  test('a protected file that a program creates is put aside', async () => {
    const { run, root, latheHome } = await open();
    const create = (name: string) => `fs.writeFileSync('${name}', 'evil')`;
    const script = `const fs = require('fs'); fs.mkdirSync('.github/workflows', { recursive: true }); ${create('.envrc')}; ${create('.github/workflows/x.yml')}; ${create('fine.txt')}`;
    const { asked, outcome } = await run(`node -e "${script}"`);
    expect(asked).toEqual([]);
    expect(JSON.stringify(outcome)).toContain('.envrc was created without a question');
    expect([existsSync(join(root, '.envrc')), existsSync(join(root, '.github/workflows'))]).toEqual([false, false]);
    expect(existsSync(join(root, 'fine.txt'))).toBe(true);
    expect(readdirSync(join(latheHome, 'put-aside'))).toHaveLength(2);
    expect(readFileSync(join(root, 'AGENTS.md'), 'utf8')).toBe('be kind\n');
  });

  test.each([
    ['CLAUDE.md', 'ln -s docs.md CLAUDE.md'],
    ['.github/workflows', 'mkdir t .github; ln -s ../t .github/workflows'],
    ['.github/workflows', 'mkdir -p t/workflows; ln -s t .github'],
  ])('a symlink named %s is removed: %s', async (name, command) => {
    const { run, root } = await open({}, { 'link.sh': `echo x > docs.md; ${command}` });
    const { asked, outcome } = await run('bash link.sh');
    expect(asked).toEqual([]);
    expect(existsSync(join(root, name))).toBe(false);
    expect(JSON.stringify(outcome)).toContain(`${name} was created without a question`);
  });

  test.each([
    ['a folder', 'src/deep/.git', 'src/deep/.git/config'],
    ['a bare one', 'src/bare', 'src/bare/config'],
    ['a file that leads to one', '', 'src/.git'],
  ])('a repository loses what git would run when a program creates it: %s', async (_, git, name) => {
    const { run, root } = await open();
    const parts = `for (const part of ['objects', 'refs']) fs.mkdirSync('${git}/' + part, { recursive: true }); fs.writeFileSync('${git}/HEAD', 'ref: refs/heads/main');`;
    const { asked, outcome } = await run(`node -e "${git && parts} fs.writeFileSync('${name}', '${evilConfig}')"`);
    expect(asked).toEqual([]);
    expect(JSON.stringify(outcome)).toContain(`${name} was written without a question`);
    expect(existsSync(join(root, name))).toBe(false);
  });

  test('a repository as git makes it stays, until a later program adds what git would run', async () => {
    const { run, root } = await open();
    await run(`node -e "require('child_process').execSync('git init -q src/new')"`);
    expect(existsSync(join(root, 'src/new/.git/config'))).toBe(true);
    await run(`node -e "fs.writeFileSync('src/new/.g' + 'it/config', '${evilConfig}')"`);
    expect(existsSync(join(root, 'src/new/.git/config'))).toBe(false);
  });

  test.each([
    ['outside', '../planted.txt'],
    ['in the repository', '.git/hooks/post-checkout'],
    ['in the repository in other letters', 'src/.GIT/config'],
  ])('an index with a file %s is put aside', async (_, name) => {
    const { run, root } = await openRepository({ 'poison.cjs': poison(name) });
    expect((await run('git add -A')).outcome?.status).toBe('success');
    expect(existsSync(join(root, '.git/index'))).toBe(true);
    const { asked, outcome } = await run('node poison.cjs');
    expect([asked, existsSync(join(root, '.git/index'))]).toEqual([[], false]);
    expect(JSON.stringify(outcome)).toContain('.git/index appeared');
  });

  test.each([
    ['format 2', '--index-version 2'],
    ['format 4', '--index-version 4'],
    ['a split index', '--split-index'],
  ])('an index as git writes it stays: %s', async (_, option) => {
    const { run, root } = await openRepository();
    await run('git add -A');
    const { outcome } = await run(`node -e "child_process.execSync('git update-index --force-write-index ${option}')"`);
    expect([existsSync(join(root, '.git/index')), outcome?.status]).toEqual([true, 'success']);
    expect(JSON.stringify(outcome)).not.toContain('appeared');
  });

  test('many entries of .git do not hide what a command plants', async () => {
    const { run, root } = await openRepository();
    const many = `for (let i = 0; i < 20100; i++) fs.writeFileSync('.git/refs/x' + i, '')`;
    const { asked, outcome } = await run(
      `node -e "${many}; fs.symlinkSync('/etc', '.git/refs/y'); fs.writeFileSync('.git/common' + 'dir', '../e')"`,
    );
    expect(asked).toEqual([]);
    expect(readdirSync(join(root, '.git'))).not.toContain('commondir');
    expect(JSON.stringify(outcome)).toContain('.git/refs/y appeared');
  });

  test('the work tree of a submodule is not in .git', async () => {
    const { run, root } = await openRepository();
    const config = String.raw`[core]\n\tworktree = ../../hooks\n`;
    const { asked } = await run(
      `node -e "fs.mkdirSync('.git/modules/s', { recursive: true }); fs.writeFileSync('.git/modules/s/config', '${config}')"`,
    );
    expect([asked, existsSync(join(root, '.git/modules/s/config'))]).toEqual([[], false]);
  });

  test('the hooks that the configuration of git names are protected', async () => {
    const { run, write, root } = await openRepository({ 'tools/hooks/pre-commit': 'mine' }, 'tools/hooks');
    await run(`node -e "fs.writeFileSync('tools/hooks/pre-commit', 'evil')"`);
    await run(`node -e "fs.writeFileSync('tools/hooks/post-commit', 'evil')"`);
    expect((await write('tools/hooks/post-commit')).asked).toHaveLength(1);
    expect(readdirSync(join(root, 'tools/hooks'))).toEqual(['pre-commit']);
    expect(readFileSync(join(root, 'tools/hooks/pre-commit'), 'utf8')).toBe('mine');
    expect((await write('tools/other')).asked).toEqual([]);
  });

  test.each([
    ['.gitconfig', { '.gitconfig': '[core]\n\thooksPath = tools/hooks # of the team\n' }],
    ['.config/git/config', { '.config/git/config': '[core] hooksPath = "tools/hooks"\n' }],
    ['an included file', { '.gitconfig': '[include]\npath = more\n', more: '[core]\nhooksPath = ./tools/\\\nhooks\n' }],
  ])('the hooks that %s in the home directory names are protected', async (_, homeFiles) => {
    const { run, write, root } = await open({}, { 'tools/hooks/pre-commit': 'mine' }, homeFiles);
    await run(`node -e "fs.writeFileSync('tools/hooks/pre-commit', 'evil')"`);
    await run(`node -e "fs.writeFileSync('tools/hooks/post-commit', 'evil')"`);
    expect((await write('tools/hooks/post-commit')).asked).toHaveLength(1);
    expect(readdirSync(join(root, 'tools/hooks'))).toEqual(['pre-commit']);
    expect(readFileSync(join(root, 'tools/hooks/pre-commit'), 'utf8')).toBe('mine');
  });

  test('hooks that the configuration of git names are protected in every directory of the workspace', async () => {
    const other = tempDirectory({ 'hooks/pre-commit': 'mine' });
    const flags = { 'context.includeDirectories': [other] };
    const { run } = await open(flags, {}, { '.gitconfig': '[core]\nhooksPath = hooks\n' });
    await run(`node -e "fs.writeFileSync('${other}/hooks/' + 'pre-commit', 'evil')"`);
    expect(readFileSync(join(other, 'hooks/pre-commit'), 'utf8')).toBe('mine');
  });

  test('instructions with a name from the settings are protected', async () => {
    const names = { 'context.fileName': ['RULES.md', 'NEW.md'] };
    const { run, root } = await open(names, { 'Rules.md': 'mine', 'docs/RULES.md': 'mine' });
    await run(`node -e "fs.writeFileSync('Rules.md', 'evil'); fs.writeFileSync('AGENTS.md', 'evil')"`);
    await run(`node -e "fs.writeFileSync('NEW.md', 'evil')"`);
    expect(['Rules.md', 'AGENTS.md'].map((name) => readFileSync(join(root, name), 'utf8'))).toEqual([
      'mine',
      'be kind\n',
    ]);
    expect(existsSync(join(root, 'NEW.md'))).toBe(false);
  });

  test('a protected file beyond a symlink of the person is put aside, and the symlink stays', async () => {
    const { run, root } = await open({}, { 'tools/a': '' }, {}, { '.cargo': 'tools' });
    await run(`node -e "fs.writeFileSync('tools/config.toml', 'evil')"`);
    expect(readdirSync(join(root, '.cargo'))).toEqual(['a']);
  });

  test('configuration that git includes is protected', async () => {
    const config = '[include]\n\tpath = ../tools/git.inc\n\tpath = ../missing.inc\n';
    const { run, write, root } = await open({}, { '.git/config': config, 'tools/git.inc': 'mine' });
    await run(`node -e "fs.writeFileSync('tools/git.inc', 'evil')"`);
    await run(`node -e "fs.writeFileSync('missing.inc', 'evil')"`);
    expect((await write('missing.inc')).asked).toEqual([expect.stringContaining('git')]);
    expect(readFileSync(join(root, 'tools/git.inc'), 'utf8')).toBe('mine');
    expect(existsSync(join(root, 'missing.inc'))).toBe(false);
  });

  test('missing hooks that the configuration of git names are put aside', async () => {
    const { run, root } = await openRepository({}, 'tools/hooks');
    await run(`node -e "fs.mkdirSync('tools/hooks', { recursive: true })"`);
    expect(existsSync(join(root, 'tools/hooks'))).toBe(false);
  });

  // Root may read and change every directory.
  test.skipIf(process.getuid?.() === 0).each([
    ['.git/commondir', 'echo ../e > .git/commondir; chmod 311 .git'],
    ['.git/commondir', 'echo ../e > .git/commondir; chmod 511 .git'],
    ['.envrc', 'echo evil > .envrc; chmod 311 .'],
    ['.envrc', 'echo evil > .envrc; chmod 111 .'],
    ['.vscode/tasks.json', 'mkdir .vscode; echo evil > .vscode/tasks.json; chmod 511 .vscode'],
    [
      'src/n/.git/config',
      String.raw`git init -q src/n; printf '[core]\nfsmonitor = x\n' > src/n/.git/config; chmod 311 src`,
    ],
  ])('%s is put aside although its directory is locked: %s', async (name, command) => {
    const { run, root } = await openRepository({ 'lock.sh': command });
    const { asked, outcome } = await run('bash lock.sh');
    expect([asked, existsSync(join(root, name))]).toEqual([[], false]);
    expect(JSON.stringify(outcome)).toMatch(/put-aside/);
  });

  test.each([
    ['a rule that denies reading a file that is there', { 'permissions.deny': ['read_file(config.txt)'] }, 1],
    ['a rule that asks before reading it', { 'permissions.ask': ['read_file(*.txt)'] }, 1],
    ['a rule about a file that is not there', { 'permissions.deny': ['read_file(secrets/**)'] }, 0],
    ['a rule that denies writing', { 'permissions.deny': ['edit(src/**)'] }, 1],
    ['a rule about another command', { 'permissions.deny': ['run_shell_command(docker *)'] }, 0],
    ['the network for all commands', { 'tools.sandbox.network': true }, 1],
    ['default mode', { 'tools.approvalMode': 'default' }, 1],
    ['no sandbox', { 'tools.sandbox.mode': 'off' }, 1],
  ] satisfies [string, LatheOptions['flags'], number][])('with %s a program asks: %o', async (_, flags, count) => {
    const { run } = await open(flags);
    expect((await run('node -e 1')).asked).toHaveLength(count);
  });

  test.each([
    ['could', { '.env': 'API_KEY=abcdefgh12345678' }, [expect.stringContaining('could read .env')]],
    ['could not', {}, []],
  ])(
    'after a program that %s read keys, a call that sends asks although a rule allows it: %o',
    async (_, more, asked) => {
      const { run } = await open({ 'permissions.allow': ['run_shell_command(curl *)'] }, more);
      await run('node -e 1');
      expect((await run('curl -s http://127.0.0.1:9/')).asked).toEqual(asked);
    },
  );

  describe.each(['default', 'auto-edit'])('rules for a command with the network, in mode %s', (mode) => {
    const allow = ['git *', 'npm run *'].map((rule) => `run_shell_command(${rule})`);
    const flags = { 'tools.approvalMode': mode, 'permissions.allow': allow };

    test.each([
      'git ls-remote origin; npm run test',
      'npm run test && timeout 5 git ls-remote origin',
      'git ls-remote "$(npm run test)"',
      'git ls-remote origin | npm run test',
    ])('say nothing about another command with it: %s', async (command) => {
      const { run } = await open(flags, { 'package.json': '{}' });
      expect((await run(command)).asked).toEqual([expect.stringContaining('It uses the network, and so can npm.')]);
    });

    test.each([
      'git ls-remote missing',
      'cd src && git add a.ts && git ls-remote missing | sort',
      'npm run test; npm run test',
    ])('allow it without a question: %s', async (command) => {
      const { run } = await open(flags, { 'package.json': '{}' });
      expect((await run(command)).asked).toEqual([]);
    });
  });

  test('an exact rule allows commands that share the network', async () => {
    const command = 'git ls-remote missing; npm run test';
    const { run } = await open({ 'permissions.allow': [`run_shell_command(=${command})`] }, { 'package.json': '{}' });
    expect((await run(command)).asked).toEqual([]);
  });

  test('a rule that denies a command still denies it', async () => {
    const { run } = await open({ 'permissions.deny': ['run_shell_command(node *)'] });
    expect(await run('timeout 5 node -e 1')).toMatchObject({ asked: [], outcome: { status: 'error' } });
  });
});
