import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { dangerous } from '../../../../../testing/shell-corpus.js';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { isWithin } from '../../files/workspace.js';
import { matchCommandRule } from '../rules/command-rule.js';
import { analyzeCommand } from './analyze-command.js';
import { type CommandAnalysis, unknownPart } from './command-analysis.js';
import { searchDoubt } from './secret-trees.js';
import { CommandWalk, maxInnerWork } from './walk-command.js';

const home = '/home/somebody';
const path = '/usr/local/bin:/usr/bin:/bin';

function analyzeIn(root: string, command: string): Promise<CommandAnalysis> {
  return analyzeCommand(command, { cwd: root, workspaceRoots: [root], home, path });
}

const analyze = (command: string) => analyzeIn(tempDirectory(), command);

/** How a deny rule matches a command: the strictest result of all its parts. */
async function deny(rule: string, command: string): Promise<'yes' | 'maybe' | 'no'> {
  const { segments } = await analyze(command);
  const matches = segments.map(({ words }) => matchCommandRule(rule, words));
  return matches.includes('yes') ? 'yes' : matches.includes('maybe') ? 'maybe' : 'no';
}

/** Whether rules alone would allow every part. */
async function allow(rules: string[], command: string): Promise<boolean> {
  const { segments } = await analyze(command);
  return segments.every(
    ({ isReadOnly, hidden, words }) =>
      isReadOnly || (!hidden && rules.some((rule) => matchCommandRule(rule, words) === 'yes')),
  );
}

test('the analysis is plain data', async () => {
  const root = tempDirectory();
  expect(await analyzeIn(root, 'git checkout main && cat a.txt > ../b.txt')).toEqual({
    segments: [
      {
        words: ['git', 'checkout', 'main'],
        text: 'git checkout main',
        isReadOnly: false,
        why: 'git: checkout is not known to be read-only',
      },
      { words: ['cat', 'a.txt'], text: 'cat a.txt > ../b.txt', isReadOnly: true },
    ],
    reads: [root, join(root, 'a.txt')],
    searches: [],
    contents: [join(root, 'a.txt')],
    recorded: [],
    writes: [join(root, '../b.txt')],
    redirections: [join(root, '../b.txt')],
    network: false,
    needsNetwork: false,
    hosts: [],
    hasUnnamedHost: false,
    offline: [],
    doubts: [],
    isReadOnly: false,
    rules: [],
    rootCommand: 'git',
  });
});

// SA02
test.each([';', '&&', '||', '|', '|&', '&', '\n', '\r\n', ' ;\\\n'])('judges both sides of %j', async (operator) => {
  expect((await analyze(`git log ${operator} touch canary`)).isReadOnly).toBe(false);
  expect(await deny('touch', `git log ${operator} touch canary`)).toBe('yes');
  expect(await allow(['git *'], `git log ${operator} touch canary`)).toBe(false);
});

test('a carriage return alone is part of a word', async () => {
  const { segments, isReadOnly } = await analyze('git log\rtouch canary');
  expect(segments[0]?.words).toEqual(['git', 'log\rtouch', 'canary']);
  expect(isReadOnly).toBe(false);
});

const substitutions = dangerous.filter(
  ({ group }) => group === 'inside an expansion' || group === 'after a harmless command',
);

// SA03
test.each(substitutions.filter(({ command }) => command.includes('touch canary')))(
  'a deny rule sees the command in $command',
  async ({ command }) => {
    expect(await deny('touch canary', command)).toBe('yes');
  },
);

// SA04
test.each(['$(echo touch) x', '`echo id`', '$CMD x', '"${a[0]}"', '$@', 'to$x y', '/usr/bin/to?ch x'])(
  'a program known only at run time may be any denied program: %s',
  async (command) => {
    expect(await deny('curl', command)).toBe('maybe');
    expect(await allow(['echo *', '*'], command)).toBe(false);
  },
);

// SA05
test.each([
  ['gi\\\nt lo\\\ng', 'git log'],
  ['git \\\n log', 'git log'],
  ['echo $(to\\\nuch x)', 'echo $(touch x)'],
  ['ls $\\\n(touch x)', 'ls $(touch x)'],
])('a line continued with a backslash is one line: %j', async (broken, joined) => {
  const root = tempDirectory();
  const [first, second] = [await analyzeIn(root, broken), await analyzeIn(root, joined)];
  const wordsOf = ({ segments }: CommandAnalysis) => segments.map(({ words }) => words);
  // In the middle of a word it is not certain that the two lines are one.
  const isWhole = !/[^ ]\\\n/.test(broken);
  expect(first.isReadOnly).toBe(isWhole && second.isReadOnly);
  expect(wordsOf(first)).toEqual(isWhole ? wordsOf(second) : expect.arrayContaining(wordsOf(second)));
});

// SA09
test.each([
  ['echo x > ../o', '../o'],
  ['echo x >> ~/.rc', `${home}/.rc`],
  ['echo x 2> o', 'o'],
  ['echo x &> o', 'o'],
  ['echo x >& o', 'o'],
  ['cat <> o', 'o'],
  ['echo x >| o', 'o'],
  ['{ echo x; } > o', 'o'],
  ['cd sub && echo x > o', 'sub/o'],
])('a redirection is a write: %s', async (command, target) => {
  const root = tempDirectory({ 'sub/a': '' });
  const { writes, redirections, isReadOnly } = await analyzeIn(root, command);
  const expected = target.startsWith('/') ? target : join(root, target);
  expect({ writes, redirections, isReadOnly }).toEqual({
    writes: [expected],
    redirections: [expected],
    isReadOnly: false,
  });
});

// SA09
test.each(['echo x {fd}> o', 'echo x > $o', 'echo x > *', 'echo x > a{b,c}', 'echo x >&$fd', 'cat <&$fd'])(
  'a redirection that cannot be followed is a doubt: %s',
  async (command) => {
    expect((await analyze(command)).doubts).not.toEqual([]);
  },
);

// SA10
test.each([
  ['cd .git && echo x > config', ['.git/config']],
  ['cd .git; echo x > config', ['.git/config', 'config']],
  ['cd .git || echo x > config', ['config']],
  ['cd a && cd .. && echo x > o', ['o']],
  ['cd a && cd b && echo x > o', ['a/b/o']],
  ['(cd .git); echo x > config', ['config']],
  ['(cd .git && echo x > config)', ['.git/config']],
  ['{ cd .git; } && echo x > config', ['.git/config']],
  ['cd .git && cd ../src && echo x > o', ['src/o']],
  ['cd .git | echo x > o', ['o']],
  ['if cd .git; then echo x > config; fi', ['.git/config', 'config']],
  ['cd "./.git" && echo x > config', ['.git/config']],
  ['cd .g"it" && echo x > config', ['.git/config']],
  ['cd {.git,} && echo x > config', ['.git/config']],
  ['! cd .git; echo x > config', ['.git/config', 'config']],
  ['time cd .git; echo x > config', ['.git/config', 'config']],
  ['cd -- .git && echo x > config', ['.git/config']],
  ['echo x | (cd .git && cat > config)', ['.git/config']],
  ['cd .git && echo $(echo x > config)', ['.git/config']],
])('a relative write is resolved in the current directory: %s', async (command, targets) => {
  const root = tempDirectory();
  expect(new Set((await analyzeIn(root, command)).writes)).toEqual(
    new Set(targets.map((target) => join(root, target))),
  );
});

test.each([
  'cd $x && cat o',
  'cd - && cat o',
  'pushd .git; cat o',
  'command cd src && cat o',
  'builtin cd src && cat o',
  '$x src; cat o',
  'cd a/../b && cat o',
  'cd -P a && cat o',
  'cd */ && cat o',
  'cd a b && cat o',
  'while true; do cd a; cat o; done',
  'for d in a b; do cd $d; cat o; done',
  'cd "$(pwd)" && ls',
])('a directory that cannot be followed is a doubt: %s', async (command) => {
  expect((await analyze(command)).isReadOnly).toBe(false);
});

// SA11
test.each(['PAGER=./x', 'GIT_SSH_COMMAND=x', 'LD_PRELOAD=x', 'NODE_OPTIONS=x', 'PATH=.', 'LC_ALL=/x', 'A=1 B=2'])(
  'after %s no allow rule matches, but a deny rule does',
  async (assignment) => {
    expect((await analyze(`${assignment} git log`)).isReadOnly).toBe(false);
    expect(await allow(['git *', 'git log'], `${assignment} git log`)).toBe(false);
    expect(await deny('git log', `${assignment} git log`)).toBe('yes');
  },
);

test.each([
  'export A=1',
  'alias ls=rm',
  'trap x EXIT',
  'source x',
  '. x',
  'eval ls',
  'set -x',
  'unset A',
  'shopt -s x',
  'enable x',
  'declare A=1',
  'PATH=.',
  'hash -p x ls',
  'exec ls',
])('no allow rule matches %s, nor the commands after it', async (changer) => {
  expect(await allow(['*', 'git *'], `${changer}; git checkout main`)).toBe(false);
  expect((await analyze(`${changer}; git log`)).isReadOnly).toBe(false);
});

const wrapped = [
  'timeout 5 rm x',
  'timeout -k 1 5 rm x',
  'nice rm x',
  'nice -n 5 rm x',
  'nohup rm x',
  'env rm x',
  'env A=1 rm x',
  'env -i rm x',
  "env -S 'rm x'",
  'xargs rm x',
  'exec rm x',
  'command rm x',
  'builtin command rm x',
  'sudo rm x',
  'sudo -u root rm x',
  'doas rm x',
  'busybox rm x',
  "sh -c 'rm x'",
  `sh -c "sh -c 'rm x'"`,
  "bash -ec 'rm x'",
  "bash -c -- 'rm x'",
  'eval rm x',
  "eval 'rm x'",
  'setsid rm x',
  'stdbuf -oL rm x',
  'time rm x',
  'find . -exec rm x \\;',
  'find . -execdir rm x +',
  'timeout 5 env nice nohup rm x',
  'trap "rm x" EXIT',
  'su -c "rm x"',
  'watch rm x',
  'flock f rm x',
  'parallel rm x',
  'ssh host rm x',
  'A=1 rm x',
  'fd -x rm x',
  "git submodule foreach 'rm x'",
  'git bisect run rm x',
  'unshare -r rm x',
  'strace -f rm x',
  'sudo --unknown-flag rm x',
  'f() { rm x; }; f',
  'coproc rm x',
  '! rm x',
  'alias a="rm x"',
  'env - rm x',
  "env -S 'rm\\_x'",
  "env -S '-i rm x'",
  "git -c alias.a='!rm x' a",
  'bash -co pipefail "rm x"',
  'bash -c -o pipefail "rm x"',
  'bash -O extglob -c "rm x"',
  'flock a.txt -c "rm x"',
  'script --command="rm x"',
  'script -qc "rm x" log',
  "mapfile -C 'rm x' -c 1 lines",
  'prlimit --nofile=9 rm x',
  'setarch x86_64 -R rm x',
  '/lib64/ld-linux-x86-64.so.2 --argv0 a rm x',
  '/opt/tools/timeout 5 rm x',
  'sudo A=b rm x',
  'su root -c "rm x"',
  'watch "rm x"',
  'watch -n 1 "rm x; ls"',
  'ssh host "rm x"',
  'ssh -o ProxyCommand="rm x" host',
  'git rebase --exec="rm x"',
  'git rebase "-xrm x"',
  'git rebase --exec "rm x" main',
  "git -c core.pager='rm x' log",
  "git fetch --upload-pack='rm x' .",
  'fd -xrm x',
  'fd -Hx rm x',
  'parallel "rm x"',
  'parallel -j4 --bar "rm x"',
  'npm exec -- rm x',
  'poetry run rm x',
  "fish --command 'rm x'",
  "git fetch --upload-p='rm x' .",
  "git difftool -x 'rm x'",
  "tar cf a.tar a --checkpoint=1 --checkpoint-action=exec='rm x'",
  "rsync -e 'rm x' a: b",
  "man -P 'rm x' ls",
  'trap -- "rm x" EXIT',
  'eval -- "rm x"',
];

// SA12
test.each([
  ['git push *', 'git -C . push'],
  ['git push *', 'git --no-pager push origin'],
  ['git push *', 'git -c a.b=c --git-dir=x --work-tree x push'],
  ['git push *', 'timeout 5 /usr/bin/git -C . push'],
  ['git push --force', 'git -P push --force'],
  ['docker push *', 'docker -H x push y'],
  ['kubectl delete *', 'kubectl -n x --context=y delete z'],
  ['npm publish', 'npm --prefix x publish'],
  ['make deploy', 'make -C x -j4 deploy'],
])('deny %s matches %s', async (rule, command) => {
  expect(await deny(rule, command)).toBe('yes');
});

test.each([
  ['rm x', '. <(echo rm x)'],
  ['rm x', 'source /dev/stdin <<E\nrm x\nE'],
  ['rm x', 'bash /dev/stdin <<< "rm x"'],
  ['rm x', 'bash - <<< "rm x"'],
  ['rm x', 'at now <<< "rm x"'],
  ['rm x', 'hash -p /bin/rm ls; ls x'],
  ['git push', 'git -c alias.x=push x'],
  ['git push', `git ${'-c a=b '.repeat(40)} push`],
])('deny %s may match %s', async (rule, command) => {
  expect(await deny(rule, command)).toBe('maybe');
});

test.each(['git -C push log', 'git --no-pager log push', 'git log push', 'git -c a.b=push log'])(
  'deny git push * does not match %s',
  async (command) => {
    expect((await analyze(command)).segments.map(({ words }) => words.slice(0, 2).join(' '))).toContain('git log');
    expect(await deny('git push origin', command)).toBe('no');
  },
);

test.each(['git commit -m "rm x"', 'fd -etxt rm', "bash -c 'echo $1' _ rm x", 'npm run rm', '. ./setup.sh'])(
  'deny rm does not match %s',
  async (command) => {
    expect(await deny('rm', command)).toBe('no');
  },
);

test.each([
  ['npx vitest *', 'npx vitest run', true],
  ['npx vitest *', 'timeout 60 npx vitest run', false],
  ['npm test *', 'CI=1 npm test', false],
  ['CI=1 npm test *', 'CI=1 npm test -- -x', true],
  ['CI=1 npm test *', 'CI=1 A=2 npm test', false],
  ['CI=1 npm test *', 'CI=1 npm test; rm x', false],
  ['timeout 60 npm test *', 'timeout 60 npm test $(rm x)', false],
  ['A=1 make test *', "A=1 make test SHELL='rm x'", false],
  ['make test *', "make test SHELL='rm x'", false],
  // Code or a program that no file of the project contains, but the command itself.
  ['make test *', "make test 'X:=$(shell rm x)'", false],
  ['make test *', "make test 'X!=rm x'", false],
  ['make test *', 'make test PYTHON=rm', false],
  ['make test *', "make test -kE 'x:;rm x'", false],
  ['make test *', "make test --ev 'x:;rm x'", false],
  ['make test *', "make test -f <(printf 'test:; rm x')", false],
  ['make test *', "printf 'test:; rm x' | make test -f -", false],
  ['make test *', "printf 'test:; rm x' | make test -f-", false],
  ['make test *', "make test -f /dev/stdin <<< 'test:; rm x'", false],
  ['make test *', "x='--eval=x:;rm x'; make test $x", false],
  ['make test *', 'make test -j4 V=1 DEBUG=true -f other.mk', true],
  ['go test *', 'go test $(echo -exec) ./x', false],
  ['go test *', 'go test -e$(echo xec) ./x', false],
  ['go test *', "go test -ldflags='-linkmode=external -extld=./x'", false],
  ['go test *', 'go test ./$x/...', true],
  ['npm test *', 'npm test "$x"', false],
  ['npx vitest *', 'npx vitest --config <(echo)', false],
  ['npx vitest *', 'npx vitest --config=/dev/stdin', false],
  ['npx vitest *', 'npx vitest --config /proc/self/fd/0', false],
  ['npx vitest *', 'npx vitest --poolOptions.forks.execArgv=-e=1', false],
  ['npx vitest *', 'npx vitest --config other.ts', true],
  ['npx mocha *', "npx mocha -r 'data:text/javascript,1'", false],
  ['npx mocha *', "npx mocha --node-option 'eval=1'", false],
  ['npx ava *', "npx ava --node-arguments='--eval=1'", false],
  ['npx eslint *', 'npx eslint --init', false],
  ['npx eslint *', 'npx eslint $(git diff --name-only)', true],
  ['pytest *', "pytest --tx 'popen//python=rm x' -d", false],
  ['python -m pytest *', "python -m pytest --tx 'popen//python=rm x'", false],
  ['uv run pytest *', "uv run pytest --tx 'popen//python=rm x'", false],
  ['pytest *', 'pytest -c <(echo)', false],
  ['dotnet build *', "dotnet build -p:PreBuildEvent='rm x'", false],
  ['dotnet build *', "dotnet build --property 'PreBuildEvent=rm x'", false],
  ['dotnet build *', 'dotnet build -p:Configuration=Release', true],
  ['./gradlew test *', "./gradlew test -Dorg.gradle.jvmargs='-XX:OnError=rm x'", false],
  ['./gradlew test *', './gradlew test -I /dev/stdin <<< x', false],
  ['./gradlew test *', './gradlew test --tests Parser -Pfast=1', true],
  ['just test *', 'just test --command rm x', false],
  ['just test *', "just test 'x; rm x'", false],
  ['just test *', 'just test --justfile - <<< x', false],
  ['just test *', 'just test unit src/a.ts', true],
  ['docker build *', 'docker build -o type=local,dest=/etc .', false],
  ['docker build *', 'docker build -t app .', true],
  ['git commit *', 'git commit -F - <<< x', true],
  ['git commit *', 'git commit -m "$(date) data:text/html,x"', true],
])('allow %s allows %s: %s', async (rule, command, isAllowed) => {
  expect(await allow([rule], command)).toBe(isAllowed);
});

test.each(['CI=1 npm test', 'timeout 60 npm test', 'CI=1 timeout 60 npm test', 'npx vitest run'])(
  'deny rules see the command in %s',
  async (command) => {
    expect(await deny(command.includes('npx') ? 'vitest run' : 'npm test', command)).toBe('yes');
  },
);

// SA12
test.each(wrapped)('deny rm matches %s, and a rule that allows the wrapper allows nothing', async (command) => {
  expect(await deny('rm x', command)).toBe('yes');
  expect(await allow([`${command.split(' ')[0]} *`, command.split(' ')[0] ?? ''], command)).toBe(false);
});

test.each(['timeout 5 git log', 'nice git log', 'env git log', 'command git log', 'time git log', 'nohup git log'])(
  'a wrapper around a proven command is proven: %s',
  async (command) => {
    expect((await analyze(command)).isReadOnly).toBe(true);
  },
);

test('wrappers nested too deeply are a doubt, and deny rules still see the commands inside', async () => {
  const command = `${'env '.repeat(9)}rm x`;
  expect((await analyze(`${'env '.repeat(9)}ls`)).isReadOnly).toBe(false);
  expect(await deny('rm', command)).toBe('yes');
});

const spellings = [
  'touch',
  '/usr/bin/touch',
  '/bin/touch',
  '//usr//bin//touch',
  '/usr/bin/../bin/touch',
  '/usr/./bin/touch',
  '/proc/self/root/usr/bin/touch',
  '"touch"',
  "'touch'",
  '\\touch',
  't\\ouch',
  'to""uch',
  "to''uch",
  "$'touch'",
  "$'\\x74ouch'",
  '"tou"ch',
  "'t'o'u'c'h'",
  'tou\\\nch',
  '/usr/bin/"touch"',
  '/usr/bin/to\\uch',
  './touch',
  '~/touch',
  '$HOME/touch',
  '"$PWD"/touch',
  '{touch,}',
  './link-to-it',
];

// SA13
test.each(spellings)('deny touch matches %s', async (spelling) => {
  const root = tempDirectory();
  symlinkSync('/usr/bin/touch', join(root, 'link-to-it'));
  const { segments } = await analyzeIn(root, `${spelling} x`);
  expect(segments.map(({ words }) => matchCommandRule('touch', words))).toContain('yes');
});

test.each(['./ls', 'sub/ls', '"$PWD/ls"'])(
  'a program in the workspace is never proven, nor allowed by its name without a path: %s',
  async (program) => {
    expect((await analyze(program)).isReadOnly).toBe(false);
    expect(await allow(['ls', 'ls *'], program)).toBe(false);
  },
);

test('a name without a path that is found in the workspace is not proven', async () => {
  const root = tempDirectory();
  mkdirSync(join(root, 'bin'));
  symlinkSync('/bin/true', join(root, 'bin/ls'));
  const analysis = await analyzeCommand('ls', {
    cwd: root,
    workspaceRoots: [root],
    home,
    path: `${root}/bin:/usr/bin`,
  });
  expect(analysis.segments[0]).toMatchObject({ isReadOnly: false, why: 'ls is a program in the workspace' });
});

// SA14
test.each([
  [51, 'yes'],
  [500, 'maybe'],
  [5000, 'maybe'],
])('a deny rule matches or may match one command among %i, and the whole is not proven', async (count, found) => {
  expect(await deny('rm', `${'ls;'.repeat(count)} rm x`)).toBe(found);
  expect((await analyze('ls;'.repeat(count))).isReadOnly).toBe(false);
});

test.each([10_001, 100_000, 1_000_000])(
  'a command of %i characters is not proven, and deny rules match every part of it',
  async (length) => {
    const command = `echo ${'a'.repeat(length - 11)};rm x`;
    expect((await analyze(`echo ${'a'.repeat(length - 5)}`)).isReadOnly).toBe(false);
    expect(await deny('rm', command)).not.toBe('no');
  },
);

test.each([
  ['subshells', `${'( '.repeat(200)}rm x${' )'.repeat(200)}`],
  ['substitutions', `${'echo $('.repeat(200)}rm x${')'.repeat(200)}`],
  ['groups', `${'{ '.repeat(200)}rm x;${' }'.repeat(200).replaceAll(' }', ' };').slice(0, -1)}`],
  ['shells', `${'env '.repeat(2000)}rm x`],
  ['loops', `${'for a in 1 2 3 4 5 6 7 8 9; do '.repeat(30)}rm x${'; done'.repeat(30)}`],
  ['unclosed substitutions', '$('.repeat(5000)],
  ['sums', `echo $((${'1+'.repeat(4900)}1)); rm x`],
])('deeply nested %s are rejected or fully parsed', async (_, command) => {
  expect((await analyze(command)).isReadOnly).toBe(false);
  expect(await deny('rm', command)).not.toBe('no');
});

// SA15
test.each([
  'git log &&& x',
  'echo "a',
  "echo 'a",
  'echo $(ls',
  'ls )',
  'if true; then ls',
  'ls\0',
  'echo \ud800',
  'cat <<EOT',
])('text that bash would not parse as written is not proven: %j', async (command) => {
  expect((await analyze(command)).isReadOnly).toBe(false);
});

test.each([
  ['cat ~/.ssh/id_x', `${home}/.ssh/id_x`],
  ['cat "$HOME/.ssh/id_x"', `${home}/.ssh/id_x`],
  ['grep -r k /', '/'],
  ['head /proc/1/environ', '/proc/1/environ'],
  ['wc -l < /etc/passwd', '/etc/passwd'],
  ['cd / && cat etc/passwd', '/etc/passwd'],
  ['diff /etc/passwd x', '/etc/passwd'],
  ['git -C /srv log', '/srv'],
  ['for f in /etc/*; do cat "$f"; done', '/etc'],
  ['find /etc -type f -exec cat {} +', '/etc'],
])('a read outside the workspace is reported: %s', async (command, target) => {
  expect((await analyze(command)).reads).toContain(target);
});

test('a path through a symlink is resolved as the kernel does', async () => {
  const outside = tempDirectory({ 'deep/inner/x': '', 'deep/secret': '' });
  const root = tempDirectory({ secret: '', 'src/a.ts': '' });
  symlinkSync(join(outside, 'deep/inner'), join(root, 'link'));
  symlinkSync(join(outside, 'deep/secret'), join(root, 'src/b.ts'));
  expect((await analyzeIn(root, 'cat link/../secret')).reads).toEqual([join(outside, 'deep/secret')]);
  expect((await analyzeIn(root, 'cd link && cat ../secret')).reads).toContain(join(outside, 'deep/secret'));
  expect((await analyzeIn(root, 'cat src/*.ts')).reads).toEqual(
    ['src', 'src/b.ts', 'src/a.ts'].map((name) => join(root, name)),
  );
  expect((await analyzeIn(root, 'cat */secret')).reads).toEqual([root, join(root, 'link')]);
});

test('git resolves paths in the directory it changes to', async () => {
  const root = tempDirectory({ '.aws/credentials': '', 'sub/a.txt': '', 'a.txt': '' });
  symlinkSync('/etc', join(root, 'sub/link'));
  const readsOf = async (command: string) => (await analyzeIn(root, command)).reads;
  expect(await readsOf('git -C .aws diff --no-index credentials /dev/null')).toContain(join(root, '.aws/credentials'));
  expect(await readsOf('git -C sub diff --no-index link/hostname a.txt')).toContain(join(root, 'sub/link/hostname'));
  expect(await readsOf('git -C sub/link/apt diff --no-index ../hostname a.txt')).toContain('/etc/hostname');
  expect(await readsOf('git -C sub blame link/hostname')).toContain(join(root, 'sub/link/hostname'));
  expect(await readsOf("git -C '' diff --no-index a.txt sub/a.txt")).toContain(join(root, 'a.txt'));
  for (const command of [
    'git -C sub diff --no-index *.txt a.txt',
    'for f in *.txt; do git -C sub diff --no-index "$f" a.txt; done',
    'for d in *; do git -C "$d" diff --no-index credentials a.txt; done',
    'git -C .. diff --no-index $x a.txt',
    'git diff --no-index . sub',
    'git diff . sub',
  ])
    expect((await analyzeIn(root, command)).isReadOnly, command).toBe(false);
  for (const command of ['for d in *; do git -C "$d" log; done', 'git -C sub diff a.txt', 'git -C sub grep foo'])
    expect((await analyzeIn(root, command)).isReadOnly, command).toBe(true);
});

test('a pattern means the files that it matches now', async () => {
  const root = tempDirectory({ '.netrc': '', 'a.txt': '' });
  expect((await analyzeIn(root, 'cat .n*')).reads).toEqual([root, join(root, '.netrc')]);
  expect((await analyzeIn(root, 'for f in ./.[a-z]*; do cat "$f"; done')).reads).toContain(join(root, '.netrc'));
});

// SJ02
test('a pattern of many stars takes bounded time for the longest name', async () => {
  const name = 'a'.repeat(250);
  const root = tempDirectory({ [name]: '' });
  expect((await analyzeIn(root, `cat ${'*a'.repeat(30)}*b`)).reads).toEqual([root]);
  expect((await analyzeIn(root, `cat ${'*a'.repeat(30)}*`)).reads).toEqual([root, join(root, name)]);
});

test('files that a pattern copies or moves are judged by their new names', async () => {
  const root = tempDirectory({ 'd/.npmrc': '', 'd/a.txt': '', 'e/x': '' });
  const writes = async (command: string) => (await analyzeIn(root, command)).writes;
  expect(await writes('cp d/* e/')).toContain(join(root, 'e/a.txt'));
  expect(await writes('mv d/.n* .')).toContain(join(root, '.npmrc'));
  expect(await writes(`cp d/.n* ${root}`)).toContain(join(root, '.npmrc'));
  expect(await writes('cp -t . d/.[a-z]*')).toContain(join(root, '.npmrc'));
  expect(await writes('cp "$x" e')).toEqual([join(root, 'e')]);
});

test.each([
  ['diff a b', true],
  ['diff -q one two', true],
  ['diff --no-dereference one two', true],
  ['diff one two', false],
  ['diff -u a one', false],
  ['diff -ru one two', false],
])('diff does not follow symlinks inside directories without approval: %s', async (command, isReadOnly) => {
  const root = tempDirectory({ a: '', b: '', 'one/a': '', 'two/a': '' });
  expect((await analyzeIn(root, command)).isReadOnly).toBe(isReadOnly);
});

// SA17
test('paths are resolved as for the command: through symlinks, unusual names, and its own process', async () => {
  const outside = tempDirectory({ hostname: '' });
  const root = tempDirectory({ 'd1/d2/d3/x': '', 'a.txt': '' });
  symlinkSync('.', join(root, 'd1/d2/d3/link'));
  symlinkSync('../..', join(root, 'd1/d2/d3/loop'));
  symlinkSync(join(outside, 'hostname'), join(root, 'é'));
  symlinkSync(outside, Buffer.from(`${root}/zz\xff`, 'latin1'));
  const analysis = (command: string) => analyzeIn(root, command);
  // The symlink leads upwards itself, so fewer `..` than it seems lead outside.
  expect((await analysis('cat d1/d2/d3/lo*/../../../x')).reads).toContain(dirname(root));
  expect((await analysis('cat ??')).reads).toContain(join(root, 'é'));
  expect((await analysis('cat zz*/hostname')).doubts).toEqual([`A name in ${root} is not valid UTF-8.`]);
  expect((await analysis('cd d1 && cat /proc/self/cwd/x')).reads).toContain('/proc/self/elsewhere');
});

test('nothing is proven for a shell other than bash', async () => {
  const root = tempDirectory();
  const options = { cwd: root, workspaceRoots: [root], home: '/home/somebody', path: '/usr/bin:/bin' };
  expect((await analyzeCommand('ls', { ...options, isOtherShell: true })).doubts).toEqual([
    'It is run by another shell than bash.',
  ]);
});

test('a pattern matches names that start with a dot only if it starts with one', async () => {
  const root = tempDirectory({ '.netrc': '', 'a.txt': '', 'd/.netrc': '', 'd/b.txt': '' });
  const reads = async (command: string) => (await analyzeIn(root, command)).reads;
  expect(await reads('cat *')).toEqual(['', 'a.txt', 'd'].map((name) => join(root, name)));
  expect(await reads('cat */*')).toEqual(['', 'd/b.txt'].map((name) => join(root, name)));
  expect(await reads('cat .n*')).toContain(join(root, '.netrc'));
  expect(await reads('cat d/.*')).toContain(join(root, 'd/.netrc'));
});

test.each([
  'grep "-f$d/../../outside"',
  'grep -"f$d/../../outside"',
  'grep "--file=$d/../../outside"',
  'grep -f"$d/../../outside"',
])('a quoted path attached to a flag is looked up as written: %s', async (command) => {
  const root = tempDirectory({ 'src/a': '', s: '' });
  const { reads } = await analyzeIn(root, `for d in sr*; do ${command} s; done`);
  expect(reads).toContain(dirname(root));
});

test('a search that would print the target of a symlinked ignore file needs approval', async () => {
  const root = tempDirectory({ 'a.txt': '' });
  symlinkSync('/etc/hostname', join(root, '.rgignore'));
  expect((await analyzeIn(root, 'rg hello')).isReadOnly).toBe(false);
});

test('a shim of a version manager is not proven, because the workspace decides what it runs', async () => {
  const shims = tempDirectory({ 'shims/ls': '#!/bin/sh\n' });
  chmodSync(join(shims, 'shims/ls'), 0o755);
  const root = tempDirectory();
  const options = { cwd: root, workspaceRoots: [root], home, path: `${shims}/shims:${path}` };
  expect((await analyzeCommand('ls', options)).isReadOnly).toBe(false);
  expect((await analyzeCommand('cat a', options)).isReadOnly).toBe(true);
});

test.each(['ls | grep key', 'ls -ltr', 'sort -r a.txt', 'wc -l *'])(
  'secrets that a command does not read need no approval: %s',
  async (command) => {
    const root = tempDirectory({ '.netrc': '', '.aws/credentials': '', 'a.txt': '' });
    expect((await analyzeIn(root, command)).doubts).toEqual([]);
  },
);

test.each([
  'grep -r key .',
  'grep -r key',
  'grep -d recurse key',
  'rg key',
  'rg key .',
  'find . -type f -exec cat {} +',
  'diff -rq --no-dereference . src',
  'diff -N --no-dereference -u . src',
  'diff --recursive --no-dereference -uN . src',
  'find . -type f -print0 | xargs -0 cat',
])('a search that would read secrets needs approval: %s', async (command) => {
  const [plain, secret] = [tempDirectory({ 'src/a': '' }), tempDirectory({ 'src/a': '', '.aws/credentials': '' })];
  expect((await analyzeIn(plain, command)).isReadOnly).toBe(true);
  expect((await analyzeIn(secret, command)).doubts).toEqual([
    `It would search ${join(secret, '.aws/credentials')}, which holds keys or credentials.`,
  ]);
});

test.each([
  'ping x',
  'dig x',
  'nslookup x',
  'host x',
  'getent hosts x',
  'git fetch',
  'git ls-remote',
  'curl https://a.example/x',
  'wget a',
  'ssh a',
  'git push',
  'npm install',
])('use of the network is reported: %s', async (command) => {
  expect(await analyze(command)).toMatchObject({ network: true, isReadOnly: false });
});

test('a redirection to a socket uses the network, and hosts are reported', async () => {
  expect(await analyze('cat < /dev/tcp/a.example/80')).toMatchObject({ network: true, isReadOnly: false });
  expect((await analyze('curl -s https://user@a.example:8080/x git@b.example:c')).hosts).toEqual([
    'a.example',
    'b.example',
  ]);
  expect((await analyze('timeout 5 curl -s localhost:3000/x; wget 127.0.0.1; psql -h localhost')).hosts).toEqual([
    'localhost',
    '127.0.0.1',
  ]);
});

test.each([
  ['mv x .git', ['x', '.git', '.git/x']],
  ['cp hooks/pre-commit .git/hooks', ['.git/hooks', '.git/hooks/pre-commit']],
  ['cp -t .git/hooks a', ['.git/hooks', '.git/hooks/a']],
  ['ln -s evil .git', ['.git', '.git/evil']],
  ['install -m 755 a .husky/pre-commit', ['.husky/pre-commit', '.husky/pre-commit/755', '.husky/pre-commit/a']],
  ['git config core.hooksPath evil', ['.git/config']],
  ['git -C sub config core.hooksPath evil', ['sub/.git/config']],
  ['git init --template=evil', ['.git/hooks']],
  ['echo x | tee .git/config', ['.git/config']],
  ['sed -i s/a/b/ .git/config', ['.git/config', 's/a/b']],
  ['dd if=a of=.git/config', ['.git/config']],
  ['timeout 5 cp a .git/config', ['.git/config', '.git/config/a']],
])('the destination of %s is a write', async (command, targets) => {
  const root = tempDirectory();
  expect(new Set((await analyzeIn(root, command)).writes)).toEqual(
    new Set(targets.map((target) => join(root, target))),
  );
});

// SA17
test.each([
  ['git checkout main', ['git checkout *']],
  ['npm run build && git commit -m x', ['npm run build *', 'git commit *']],
  ['cargo test --all', ['cargo test *']],
  ['git log && make test', ['make test *']],
  ['docker compose up -d', ['docker compose up *']],
  ['eslint "$x"', ['eslint *']],
  ['eslint src', ['eslint *']],
  // For an unknown program the exact words, unless the last one expects a value.
  ['frobnicate ./data --level=3 out', ['frobnicate ./data --level=3 out']],
  ['frobnicate', []],
  ['frobnicate -e', []],
  ['frobnicate "a b"', []],
  ['frobnicate $x', []],
  ['python3.11 x.py', []],
  ['nodejs x.js', []],
  ['tsx x.ts', []],
  ['lua5.4 x.lua', []],
  ['psql -c x', []],
  ['unshare ls', []],
  ['systemd-run ls', []],
  ['git submodule foreach ls', []],
  ['git reset --hard', []],
  ['git branch -D x', []],
  ['npm create x', []],
  ['gh api x', []],
  ['gh config set editor x', []],
  ['go env -w CC=./x', []],
  ['pip config set global.index-url x', []],
  ['cmake build -DX=1', []],
  // A later flag can make these run a program.
  ['git fetch origin', []],
  ['git pull', []],
  ['git clone a', []],
  ['git ls-remote origin', []],
  ['git archive HEAD', []],
  ['git merge-index x', []],
  ['git stash list', []],
  ['git merge main', ['git merge *']],
  ['git stash pop', ['git stash pop *']],
  ['yarn node x.js', []],
  ['npm explore x', []],
  ['gh auth token', []],
  ['gh codespace ssh', []],
  ['gh pr create', ['gh pr create *']],
  ['patch -i a', []],
  ['pylint src', []],
  ['mvn test', []],
  ['go build ./...', []],
  ['go test ./...', ['go test *']],
  // What stands before a command is repeated, and a tool that a runner starts takes all that follows.
  ['timeout 5 make test', ['timeout 5 make test *']],
  ['A=1 B=true make test', ['A=1 B=true make test *']],
  ['NODE_ENV=test LOG_LEVEL=debug make test', ['NODE_ENV=test LOG_LEVEL=debug make test *']],
  ['CI=1 timeout 60 npx vitest run', ['CI=1 timeout 60 npx vitest *']],
  ['npx tsc --noEmit', ['npx tsc *']],
  ['python3 -m pytest -q', ['python3 -m pytest *']],
  ['uv run pytest -k "a b"', ['uv run pytest *']],
  ['uv run python -m pytest', ['uv run python -m pytest *']],
  ['bundle exec rspec', ['bundle exec rspec *']],
  ['./gradlew test --info', ['./gradlew test *']],
  ['timeout 5 node x.js', []],
  ['timeout -k 5 60 make test', []],
  ['timeout 5 prlimit rm x', []],
  ['A=$x make test', []],
  ['A="a b" make test', []],
  ['PATH=. make test', []],
  ['CC=./x make test', []],
  ['MAKEFILES=x make test', []],
  ['RUSTC_WRAPPER=./x cargo test', []],
  ['LD_AUDIT=./x.so npm test', []],
  ['PYTEST_PLUGINS=x pytest', []],
  ['CARGO_TARGET_DIR=/x cargo build', []],
  ['NODE_OPTIONS=--require=./x npm test', []],
  ['A=1 export B=2', []],
  ['npx --package evil vitest', []],
  ['npx touch x', []],
  ['uv run --with evil pytest', []],
  ['uv run script.py', []],
  ['python3 -m http.server', []],
  ['./gradlew -I x test', []],
  // Interpreters, wrappers, deletions, programs in the workspace and unknown words need approval every time.
  ['python3 script.py', []],
  ['bash script.sh', []],
  ['node x.js', []],
  ['sudo make', []],
  ['env make', []],
  ['find . -delete', []],
  ['xargs make', []],
  ['rm x', []],
  ['npm test && python3 x.py', []],
  ['$x test', []],
  ['export A=1; make test', []],
  ['./build.sh', []],
  ['make test > log', []],
  ['make test &', []],
  ['git', []],
  ['git -c a=b log', []],
  ['sort -o a b', []],
  ['git diff --output=a', []],
  ['docker run x', []],
  ['curl a', []],
  ['npx x', []],
  ['make', []],
  ['make $target', []],
  ['npm run "a b"', []],
])('"always" for %s would save %j', async (command, rules) => {
  expect((await analyze(command)).rules).toEqual(rules);
});

// SA17
test('"always" saves rules that allow the command and no other', async () => {
  const command = 'npm run build && git commit -m x';
  const { rules } = await analyze(command);
  expect(await allow(rules, command)).toBe(true);
  expect(await allow(rules, 'npm run deploy')).toBe(false);
  expect(await allow(rules, 'git push')).toBe(false);
});

test('names the programs that need approval', async () => {
  expect((await analyze('git log | tee a && /opt/x/run y; npm test')).rootCommand).toBe('tee, run, npm');
});

test('an unknown word is marked with a character that no argument can contain', async () => {
  const { segments } = await analyze('make "a$x" *.c');
  expect(segments[0]?.words).toEqual(['make', `a${unknownPart}`, `${unknownPart}.c`]);
});

test('~ is the given home directory, not that of this process', async () => {
  expect(homedir()).not.toBe(home);
  expect((await analyze('echo ~')).segments[0]?.words).toEqual(['echo', home]);
});

test.each([
  ['one long word', `echo ${'a'.repeat(9_990)}`],
  ['many files', `cat ${'a.txt '.repeat(1_650)}`],
  ['many variables', `echo "${'$x '.repeat(3_300)}"`],
  ['many commands', `${'git log -1; '.repeat(800)}ls`],
  ['a long pipeline', `ls${' | grep foo'.repeat(900)}`],
  ['a long script of sed', `sed '${'s/a/b/;'.repeat(1_400)}' x`],
  ['an awk program of slashes', `awk '${'/'.repeat(9_900)}' x`],
  ['brackets without end', `sed '${'/['.repeat(4_900)}' x`],
  ['a wrapper with unknown flags', `${'sudo --foo '.repeat(900)}ls`],
])('10,000 characters of %s take little time', async (_, command) => {
  const before = process.cpuUsage();
  await analyze(command);
  const { user, system } = process.cpuUsage(before);
  // CPU time with a generous limit: it only distinguishes linear time from worse.
  expect((user + system) / 1000).toBeLessThan(1500);
});

/** Commands that repeat, nest or unroll as much as they can. */
const swelling: [string, (times: number) => string][] = [
  ['env', (times) => `${'env '.repeat(times)}ls`],
  ['sudo with unknown flags', (times) => `${'sudo -Z a '.repeat(times / 3)}rm x`],
  ['xargs with unknown flags', (times) => `${'xargs --zz a '.repeat(times / 3)}rm`],
  ['searches', (times) => `${'find . -exec '.repeat(times / 3)}ls \\;`],
  [
    'loops',
    (times) => `${'for a in 1 2 3 4 5 6 7 8 9; do '.repeat(8)}${'ls $a; '.repeat(times / 9)}${'done; '.repeat(8)}`,
  ],
];
const rereading: typeof swelling = [
  ['eval', (times) => `${'eval '.repeat(times)}ls`],
  [
    'quoted scripts',
    (times) =>
      Array.from({ length: 4 }).reduce<string>((text) => `sh -c ${JSON.stringify(text)}`, 'ls; '.repeat(times / 30)),
  ],
];

// SA14
test.each(swelling)('the parsed size of %s exceeds the text by at most a fixed amount', (_, repeated) => {
  const options = { cwd: '/w', workspaceRoots: ['/w'], home, path };
  const command = repeated(600);
  const { work, segments, doubts } = new CommandWalk(options).run(command);
  expect(work).toBeLessThanOrEqual(maxInnerWork + 8 * command.length * 2);
  expect(segments.length).toBeLessThanOrEqual(3 * command.length);
  expect(doubts.size).toBeGreaterThan(0);
});

// SA14
test.each([...swelling, ...rereading])(
  'a command of too many %s is not parsed: it needs approval, and any deny rule may match',
  async (_, repeated) => {
    const command = repeated(9000);
    const { segments, isReadOnly } = await analyze(command);
    // One segment stands for the whole command, one for the doubt.
    expect([segments.length, isReadOnly]).toEqual([2, false]);
    expect(await deny('some-program', command)).toBe('maybe');
  },
);

test('long text in a here-document or in quotes does not make a long command', async () => {
  const text = '(a) "b" {c}; '.repeat(700);
  const { doubts, writes } = await analyze(`cat > notes <<'END'\n${text}\nEND`);
  expect([doubts, writes.length]).toEqual([[], 1]);
  expect((await analyze(`echo '${text}'`)).isReadOnly).toBe(true);
});

// SA14
test('a path that enters and leaves too many directories is not resolved', async () => {
  const climbing = Array.from({ length: 60 }, (_, index) => `d${index}/..`).join('/');
  expect((await analyze(`cat ${climbing}/a.txt`)).doubts).toEqual(['Its paths and patterns lead to too many files.']);
  expect((await analyze(`cat ${'d/../'.repeat(1900)}a.txt`)).doubts).toEqual([]);
});

test('a pattern that matches a name like a flag needs approval, even for programs with harmless flags', async () => {
  const root = tempDirectory({ 'a.ts': '', 'b.ts': '' });
  expect((await analyzeIn(root, 'wc -l *.ts')).isReadOnly).toBe(true);
  writeFileSync(join(root, '--files0-from=k.ts'), '');
  expect((await analyzeIn(root, 'wc -l *.ts')).doubts).toEqual([
    'The file name --files0-from=k.ts would be parsed as a flag.',
  ]);
});

// The command is another process, with a different current directory.
test('the meaning of a path through /proc/self is unknown', async () => {
  const [above, link] = [dirname(process.cwd()), join(tempDirectory(), 'link')];
  symlinkSync('/proc/self/cwd', link);
  const options = { cwd: above, workspaceRoots: [above], home, path };
  for (const place of ['/proc/self/cwd', '/proc/thread-self/cwd', link]) {
    const { reads } = await analyzeCommand(`cat ${place}/../x`, options);
    expect(reads.filter((read) => isWithin(above, read))).toEqual([]);
  }
});

// SA15
test.each(['grep -r foo .', 'rg foo', 'find . -type f -exec cat {} +', 'find . -type f -print0 | xargs -0 cat'])(
  'because of a secret in a subdirectory, %s needs approval',
  async (command) => {
    const root = tempDirectory({ 'a/b/c/.netrc': '', 'node_modules/x/.npmrc': '', 'src/a.ts': '' });
    expect((await analyzeIn(root, command)).doubts).toEqual([
      `It would search ${join(root, 'a/b/c/.netrc')}, which holds keys or credentials.`,
    ]);
    expect((await analyzeIn(join(root, 'src'), command)).isReadOnly).toBe(true);
  },
);

test('the search for secrets follows no symlink, and finds one behind thousands of files', async () => {
  const outside = tempDirectory({ '.netrc': '' });
  const root = tempDirectory(Object.fromEntries(Array.from({ length: 2100 }, (_, at) => [`many/${at}`, ''])));
  symlinkSync(outside, join(root, 'link'));
  expect((await analyzeIn(root, 'grep -r foo .')).isReadOnly).toBe(true);
  mkdirSync(join(root, 'many/deep'));
  writeFileSync(join(root, 'many/deep/.netrc'), '');
  expect((await analyzeIn(root, 'grep -r foo .')).isReadOnly).toBe(false);
});

test('a search through more files than can be checked needs approval', async () => {
  const root = tempDirectory({ 'a/1': '', 'a/2': '', 'b/1': '', 'c/d/1': '' });
  expect(await searchDoubt(root, 6)).toBe('It would search more than 6 files, too many to look for keys among them.');
  expect(await searchDoubt(root, 9)).toBeUndefined();
});

test.each(["-name '*.json'", "-name '*'", "-name '*.c*'", "-path './src/*'", "-regex '.*\\.ts'", '-name config.json'])(
  'a search by %s does not look for secrets',
  async (tests) => {
    expect((await analyze(`find . -type f ${tests} -exec cat {} +`)).isReadOnly).toBe(true);
  },
);

test.each(['⚠️ done', '👩🏽‍💻 at work', '1️⃣ first', '🏳️‍🌈'])(
  'echo %s asks for nothing: an emoji is visible as a whole',
  async (text) => {
    const { segments } = await analyze(`echo "${text}"`);
    expect(segments.every(({ isReadOnly }) => isReadOnly)).toBe(true);
  },
);

test.each(['a\u200db', 'a\ufe0f', '⚠\u200d', '\u200b', '\u202eb', '\ue000'])('echo %j asks', async (text) => {
  const { segments } = await analyze(`echo "${text}"`);
  expect(segments.every(({ isReadOnly }) => isReadOnly)).toBe(false);
});
