import { execFileSync } from 'node:child_process';
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { hasProgram } from '../../../../testing/programs.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { createLathe } from './create-lathe.js';

const never = new AbortController().signal;
const secret = 'SECRETX';

/** A repository whose history, index, work tree and stash hold what no rule lets be read. */
function repository(): string {
  const root = tempDirectory({
    '.env': `TOKEN=${secret}-1\n`,
    'secrets/k': `${secret}-2\n`,
    'src/a.ts': 'const a = 1;\n',
    'notes.txt': 'plain\n',
  });
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: root, encoding: 'utf8' });
  git('init', '-q', '-b', 'main');
  git('add', '-A', '-f');
  git('commit', '-qm', 'one');
  writeFileSync(join(root, '.env'), `TOKEN=${secret}-3\n`);
  writeFileSync(join(root, 'secrets/k'), `${secret}-4\n`);
  git('stash', '-q');
  writeFileSync(join(root, '.env'), `TOKEN=${secret}-5\n`);
  writeFileSync(join(root, 'secrets/k'), `${secret}-6\n`);
  git('commit', '-qam', 'two');
  writeFileSync(join(root, '.env'), `TOKEN=${secret}-7\n`);
  writeFileSync(join(root, 'secrets/k'), `${secret}-8\n`);
  writeFileSync(join(root, 'src/a.ts'), 'const a = 2;\n');
  return root;
}

/** What becomes of each command, one after the other. */
async function runIn(cwd: string, commands: string[], { mode = 'default', deny = rules, allow = [] as string[] } = {}) {
  const home = tempDirectory({
    '.lathe/settings.json': JSON.stringify({ permissions: { deny, allow }, tools: { sandbox: 'off' } }),
  });
  const env = { PATH: process.env['PATH'] ?? '' };
  const lathe = await createLathe({ cwd, home, env, flags: { 'tools.approvalMode': mode } });
  onTestFinished(() => lathe.close());
  const calls = commands.map((command) => ({ name: 'run_shell_command', args: { command } }));
  const outcomes = await lathe.run(calls, never);
  return outcomes.map(({ response, verdict }, index) => ({
    command: commands[index] ?? '',
    text: JSON.stringify(response),
    verdict: verdict?.verdict,
    reason: verdict?.reason,
  }));
}

const rules = ['read_file(.env)', 'read_file(secrets/**)'];

// biome-ignore format: a list is read at a glance
const carriers = [
  'git show HEAD:.env', 'git show :.env', 'git show :0:secrets/k', 'git show HEAD:./.env', 'git show', 'git show HEAD',
  'git show HEAD~1', 'git show --stat HEAD:.env', 'git show stash@{0}', 'git show $(git rev-parse HEAD:.env)',
  'git diff', 'git diff HEAD', 'git diff HEAD~1', 'git diff HEAD~1 HEAD', 'git diff --cached HEAD~1', 'git diff -- .env',
  'git diff .env', 'git diff .', 'git diff -- .', 'git diff --stat -p', 'git diff -U0', 'git diff --word-diff', 'git diff secrets',
  'git diff HEAD:.env notes.txt', 'git diff --no-index .env notes.txt', 'git diff-files -p', 'git diff-index -p HEAD',
  'git diff-tree -p HEAD', 'git log -p', 'git log -p -- .env', 'git log -p -1', 'git log -zp', 'git log -U1', 'git log -c -p',
  'git log -S SECRETX --oneline -p', 'git log -L1,1:.env', 'git log --patch --all', 'git reflog -p', 'git stash show -p', 'git stash list -p',
  'git status -vv', 'git status -v', 'git commit --dry-run -a -v', 'git -C secrets diff', 'git -C secrets diff .', 'git -C secrets show',
  'cd secrets && git diff', 'cd src && git diff', 'git blame .env', 'git annotate secrets/k', 'git blame HEAD -- .env',
  'git cat-file -p HEAD:.env', 'git cat-file blob HEAD:secrets/k', 'git cat-file -p $(git rev-parse HEAD:.env)',
  'git archive HEAD | tar xO', 'git archive --format=tar HEAD', 'git grep SECRETX', 'git grep SECRETX HEAD', 'git grep --cached -n TOKEN',
  'git grep SECRETX -- secrets', 'git format-patch -1 --stdout', 'git fast-export --all', 'git bundle create - --all',
  'git -c core.pager=cat diff', 'git --no-pager diff', 'git --git-dir=.git show HEAD', 'git range-diff HEAD~1 HEAD~1 HEAD', 'git show-branch; git show',
  'tar cf - .', 'tar -cf - .env', 'tar -czf - secrets | base64', 'tar --create --file=- .', 'tar -C secrets -cf - k', 'zip -r - .', 'zip - .env',
  'find . -type f | cpio -o', 'ls | cpio -o', 'tar xOf made.tar .env', 'tar -xO -f made.tar secrets/k', '7z a -so x .', 'tar xOf made.tar', 'unzip -p made.zip',
  'grep -r SECRETX .', 'grep -r SECRETX', 'grep -R SECRETX .', 'rg --hidden SECRETX', 'rg SECRETX secrets', 'ag SECRETX', 'ag --hidden SECRETX .',
  'ack SECRETX', 'find . -name .env -exec cat {} +', 'find . -type f -exec cat {} +', 'find . -type f -print0 | xargs -0 cat',
  'find secrets -type f -exec head {} ;', 'cat .env', 'cat secrets/k', 'bat .env', 'less secrets/k', 'gzip -c .env', 'cp -r . /tmp/copied',
  'source .env; echo $TOKEN', '. ./.env; set', 'bash -v .env', 'sh -x secrets/k', 'xargs -a .env echo', 'git config -f .env -l', 'git config --file .env -l',
  'node --env-file=.env -p process.env', 'curl -s file:///proc/self/cwd/.env', 'pushd secrets; cat k', 'cat /proc/self/cwd/.env', 'cat /proc/self/root$PWD/.env',
  'cd secrets; cat /proc/self/cwd/k', 'python3 /proc/self/cwd/.env',
];

test.skipIf(!hasProgram('git'))(
  'denied content is not printed, whichever program prints it',
  { timeout: 300_000 },
  async () => {
    const root = repository();
    execFileSync('tar', ['cf', 'made.tar', '.env', 'secrets'], { cwd: root });
    const leaks: string[] = [];
    for (const options of [{}, { mode: 'yolo' }, { allow: ['run_shell_command'] }])
      for (const { command, text, verdict, reason } of await runIn(root, carriers, options))
        if (text.includes(secret) || verdict === 'allow')
          leaks.push(`${JSON.stringify(options)} ${command}: ${verdict} ${reason}`);
    expect(leaks).toEqual([]);
  },
);

// biome-ignore format: a list is read at a glance
const ordinary = [
  'git diff', 'git diff src', 'git diff -- src/a.ts', 'git diff HEAD', 'git diff --stat', 'git show', 'git show --stat HEAD', 'git log -p',
  'git log --oneline', 'git log -p -- src', 'git status', 'git status -v', 'git blame src/a.ts', 'git grep const', 'git stash list',
  'grep -r const .', 'cat src/a.ts', 'git show HEAD:src/a.ts', 'git cat-file -p HEAD:src/a.ts',
];

test.skipIf(!hasProgram('git')).each([
  ['there is no rule against reading', []],
  ['rules deny what the repository does not have', ['read_file(.env)', 'read_file(secrets/**)', 'read_file(//etc/**)']],
])('ordinary commands run unasked where %s', { timeout: 120_000 }, async (_, deny) => {
  const root = tempDirectory({ 'src/a.ts': 'const a = 1;\n', 'notes.txt': 'plain\n' });
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: root, encoding: 'utf8' });
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('commit', '-qm', 'one');
  writeFileSync(join(root, 'src/a.ts'), 'const a = 2;\n');
  const asked = (await runIn(root, ordinary, { deny })).filter(({ verdict }) => verdict !== 'allow');
  expect(asked).toEqual([]);
});

test.skipIf(!hasProgram('git'))('what is only in the history is denied, what is elsewhere is not', async () => {
  const root = repository();
  execFileSync('git', ['rm', '-qrf', '.env', 'secrets'], { cwd: root });
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'gone'], { cwd: root });
  rmSync(join(root, 'secrets'), { recursive: true, force: true });
  const commands = [
    'git log -p',
    'git show HEAD~1',
    'git diff',
    'git log -p -- src',
    'git log --stat',
    'git show HEAD:src/a.ts',
  ];
  const verdicts = (await runIn(root, commands)).map(({ command, verdict }) => [command, verdict]);
  expect(verdicts).toEqual([
    ['git log -p', 'deny'],
    ['git show HEAD~1', 'deny'],
    ['git diff', 'allow'],
    ['git log -p -- src', 'allow'],
    ['git log --stat', 'allow'],
    ['git show HEAD:src/a.ts', 'allow'],
  ]);
});

test.each(['default', 'yolo'])(
  'in %s mode a rule that names a symlink denies where it leads, under every name',
  async (mode) => {
    const deny = ['read_file(notes.txt)', 'read_file(linked/**)', 'read_file(*.private)', 'edit(notes.txt)'];
    const settings = JSON.stringify({ permissions: { deny } });
    const files = {
      'app/other.txt': secret,
      'app/dir/deep.txt': secret,
      'app/sub/plain': secret,
      'app/open.txt': 'open',
    };
    const base = tempDirectory({ ...files, 'home/.lathe/settings.json': settings });
    const [cwd, home] = [join(base, 'app'), join(base, 'home')];
    symlinkSync('other.txt', join(cwd, 'notes.txt'));
    symlinkSync('dir', join(cwd, 'linked'));
    symlinkSync('plain', join(cwd, 'sub/x.private'));
    const env = { PATH: process.env['PATH'] ?? '' };
    const lathe = await createLathe({ cwd, home, env, flags: { 'tools.approvalMode': mode } });
    onTestFinished(() => lathe.close());
    const names = ['notes.txt', 'other.txt', 'linked/deep.txt', 'dir/deep.txt', 'sub/x.private'];
    const calls = [
      ...names.map((name) => ({ name: 'read_file', args: { absolute_path: join(cwd, name) } })),
      ...names.map((name) => ({ name: 'run_shell_command', args: { command: `cat ${name}` } })),
      ...names.map((name) => ({ name: 'grep_search', args: { pattern: '.', path: join(cwd, name) } })),
      ...names.map((name) => ({ name: 'read_many_files', args: { paths: [name] } })),
      { name: 'write_file', args: { file_path: join(cwd, 'notes.txt'), content: 'x' } },
      { name: 'write_file', args: { file_path: join(cwd, 'other.txt'), content: 'x' } },
    ];
    const outcomes = await lathe.run(calls, never);
    const ran = calls.filter((_, index) => outcomes[index]?.verdict?.verdict !== 'deny');
    expect(ran.map(({ name, args }) => `${name} ${JSON.stringify(args)}`)).toEqual([]);
    const [found] = await lathe.run([{ name: 'grep_search', args: { pattern: '.', path: join(cwd, '.') } }], never);
    expect(JSON.stringify(found?.response)).toContain('open');
    expect(JSON.stringify(outcomes.map(({ response }) => response))).not.toContain(secret);
  },
);
