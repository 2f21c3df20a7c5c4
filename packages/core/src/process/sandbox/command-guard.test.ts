import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { bundleChild } from '../../../../../testing/bundle.js';
import { hasProgram } from '../../../../../testing/programs.js';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { LatheHome } from '../../files/lathe-home.js';
import { reportOn } from '../run/command-report.js';
import { childEnvironment } from '../run/environment.js';
import { CommandRunner } from '../run/run-command.js';
import { CommandGuard } from './command-guard.js';
import { PutAside } from './put-aside.js';
import { RestoredContents } from './restored-contents.js';
import { Sandbox } from './sandbox.js';
import { Snapshots } from './snapshots.js';

const never = new AbortController().signal;

function git(root: string, ...args: string[]): string {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
  const identity = ['-c', 'user.name=A', '-c', 'user.email=a@b'];
  return spawnSync('git', [...identity, ...args], { cwd: root, env, encoding: 'utf8' }).stdout;
}

/** A repository with one commit, and commands that run sandboxed in it. */
function repository(files: Record<string, string> = {}) {
  const root = realpathSync(tempDirectory({ file: 'content\n', ...files }));
  git(root, 'init', '-qb', 'main');
  git(root, 'add', '-A');
  git(root, 'commit', '-qm', 'first');
  return workspace(root);
}

function workspace(root: string) {
  const latheHome = new LatheHome(tempDirectory());
  const runner = new CommandRunner(latheHome);
  const path = process.env['PATH'] ?? '';
  const sandbox = new Sandbox({ mode: 'required', roots: [root], latheHome, userHome: tempDirectory(), path });
  const run = async (command: string, { isBackground = false } = {}) => {
    const rights = { workspace: true, network: false, home: false, files: false, secrets: false };
    const wrap = await sandbox.prepare(root, rights, { isBackground });
    const env = { ...childEnvironment(process.env), TMPDIR: '/tmp' };
    return runner.run({ command, cwd: root, env, ...(wrap && { wrap }) }, { timeoutMs: 20_000, signal: never });
  };
  /** Runs a command that tries something again and again, and does something outside once it has begun. */
  const runBeside = async (attempt: string, outside: () => void, options = {}) => {
    const result = run(
      `touch begun; for i in {1..400}; do [ -e end ] && exit; (${attempt}); sleep 0.01; done 2>/dev/null`,
      options,
    );
    await expect.poll(() => existsSync(join(root, 'begun'))).toBe(true);
    outside();
    return result;
  };
  return { root, run, runBeside, latheHome, config: join(root, '.git', 'config') };
}

/** The guard of a command that another process runs in this tree. */
function guardOf(
  root: string,
  latheHome: LatheHome,
  name = '.git/config',
  gits: string[] = [],
  aside = new PutAside(latheHome.file('put-aside')),
  restored = new RestoredContents(latheHome.file('restored')),
): CommandGuard {
  const path = join(root, name);
  const none = { reserved: [], forbidden: [], gits };
  return new CommandGuard(
    { roots: [root], covers: [path], fixed: [path], ...none },
    {
      snapshots: new Snapshots(),
      aside,
      restored,
      searchPath: process.env['PATH'] ?? '',
    },
  );
}

// SB07
test('a command that starts while something planted is there does not put it back in the end', async () => {
  const { root, latheHome, config } = repository();
  const before = readFileSync(config, 'utf8');
  const replace = (text: string) => {
    writeFileSync(`${config}.new`, text);
    renameSync(`${config}.new`, config);
  };
  const planted = `${before}[core]\n\tfsmonitor = PLANTED\n`;
  const first = guardOf(root, latheHome);
  replace(planted);
  const second = guardOf(root, latheHome);
  expect(await first.check()).toHaveLength(1);
  expect(readFileSync(config, 'utf8')).toBe(before);
  expect(await second.check()).toEqual([]);
  expect(readFileSync(config, 'utf8')).toBe(before);

  const third = guardOf(root, latheHome);
  replace(planted);
  const fourth = guardOf(root, latheHome);
  await third.check();
  // The command of the fourth lost its cover by that.
  writeFileSync(config, `${before}[alias]\n\tx = !PLANTED\n`);
  expect(await fourth.check()).toHaveLength(1);
  expect(readFileSync(config, 'utf8')).toBe(before);
});

// SB07
test('what another command planted and this one made again is put aside', async () => {
  const { root, latheHome } = repository();
  const planted = join(root, '.git/config.worktree');
  const first = guardOf(root, latheHome, '.git/config', [join(root, '.git')]);
  writeFileSync(planted, 'planted');
  const second = guardOf(root, latheHome, '.git/config', [join(root, '.git')]);
  expect(await first.check()).toEqual([expect.stringContaining(`${planted} appeared`)]);
  writeFileSync(planted, 'planted');
  expect(await second.check()).toEqual([expect.stringContaining(`${planted} appeared`)]);
  expect(existsSync(planted)).toBe(false);
});

// SB07
test('what another command planted is not put back when it was removed meanwhile', async () => {
  const { root, latheHome } = repository();
  const name = '.git/info/attributes';
  const planted = join(root, name);
  const first = guardOf(root, latheHome, '.git/config', [join(root, '.git')]);
  writeFileSync(planted, 'planted');
  const second = guardOf(root, latheHome, name, [join(root, '.git')]);
  expect(await first.check()).toEqual([expect.stringContaining(`${planted} appeared`)]);
  // The command of the second lost its cover by that, and is writing at this moment.
  writeFileSync(planted, '');
  expect(await second.check()).toEqual([expect.stringContaining(`${planted} was replaced`)]);
  expect(existsSync(planted)).toBe(false);
});

// SB07
test('what is removed while another command starts does not count as old for that command', async () => {
  const { root, latheHome } = repository();
  const name = '.git/info/attributes';
  const planted = join(root, name);
  const started: CommandGuard[] = [];
  const aside = new PutAside(latheHome.file('put-aside'));
  const take = aside.take.bind(aside);
  aside.take = (path) => {
    // The moment after the removal was noted lasts longer on a busy machine.
    const noted = readdirSync(latheHome.file('restored')).map((file) => latheHome.file('restored', file));
    for (const file of noted) utimesSync(file, new Date(0), new Date(0));
    started.push(guardOf(root, latheHome, name, [join(root, '.git')]));
    return take(path);
  };
  const first = guardOf(root, latheHome, '.git/config', [join(root, '.git')], aside);
  writeFileSync(planted, 'planted');
  await first.check();
  writeFileSync(planted, 'planted');
  expect(await started[0]?.check()).toHaveLength(1);
  expect(existsSync(planted)).toBe(false);
});

test('an empty directory in the place of a symlink is replaced by the symlink', async () => {
  const root = realpathSync(tempDirectory({ 'real/hook.sh': 'exit 0\n' }));
  symlinkSync('real', join(root, 'linked'));
  const guard = guardOf(root, new LatheHome(tempDirectory()), 'linked');
  rmSync(join(root, 'linked'));
  mkdirSync(join(root, 'linked'));
  expect(await guard.check()).toEqual([expect.stringContaining('The content from before is back.')]);
  expect(readFileSync(join(root, 'linked/hook.sh'), 'utf8')).toBe('exit 0\n');
});

test('a note counts although the clock of the file system is a little behind', () => {
  const directory = tempDirectory();
  const restored = new RestoredContents(directory);
  restored.note('/a');
  const [file = ''] = readdirSync(directory);
  const now = Date.now();
  utimesSync(join(directory, file), (now - 4) / 1000, (now - 4) / 1000);
  expect(restored.wasRemovedSince('/a', now)).toBe(true);
});

// SB07
test('a repository that a command made around a protected file does not vouch for it', async () => {
  const { root, latheHome } = repository({ '.github/workflows/ci.yml': 'mine\n' });
  const guard = guardOf(root, latheHome, '.github/workflows');
  renameSync(join(root, '.github'), join(root, 'away'));
  mkdirSync(join(root, '.github/workflows'), { recursive: true });
  writeFileSync(join(root, '.github/workflows/ci.yml'), 'planted\n');
  git(join(root, '.github'), 'init', '-q');
  git(join(root, '.github'), 'add', '-A');
  git(join(root, '.github'), 'commit', '-qm', 'planted');
  expect(await guard.check()).toEqual([expect.stringContaining('/.github/workflows was replaced while a command ran')]);
});

describe('the work of a person beside a command that overwrites it at once', () => {
  /** A repository on the branch `main`, with another `.npmrc` on the branch `other`. */
  function twoBranches() {
    const { root, latheHome } = repository({ '.npmrc': 'a=main\n' });
    git(root, 'checkout', '-qb', 'other');
    writeFileSync(join(root, '.npmrc'), 'a=other\n');
    git(root, 'commit', '-qam', 'second');
    git(root, 'checkout', '-q', 'main');
    return { root, latheHome, path: join(root, '.npmrc') };
  }

  function replace(path: string, text: string): void {
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  }

  test('what a checkout wrote comes back, not the older content', async () => {
    const { root, latheHome, path } = twoBranches();
    const guard = guardOf(root, latheHome, '.npmrc');
    const lost = new Promise((resolve) => guard.start(resolve));
    // In one step, because git removes a file before it writes the new one.
    replace(path, 'a=other\n');
    await lost;
    git(root, 'checkout', '-qf', 'other');
    writeFileSync(path, 'PLANTED\n');
    expect(await guard.check()).toEqual([
      expect.stringMatching(/\.npmrc changed while .*\. The content of the current commit is back\. Removed: /),
    ]);
    expect(readFileSync(path, 'utf8')).toBe('a=other\n');
  });

  test('the result says that the commit has another content, if nobody saw what the checkout wrote', async () => {
    const { root, latheHome, path } = twoBranches();
    const guard = guardOf(root, latheHome, '.npmrc');
    git(root, 'checkout', '-q', 'other');
    writeFileSync(path, 'PLANTED\n');
    expect(await guard.check()).toEqual([
      expect.stringMatching(/ The content from before is back\. The current commit has another content\. Removed: /),
    ]);
    expect(readFileSync(path, 'utf8')).toBe('a=main\n');
  });

  test('what an editor saved is put aside too', async () => {
    const { root, latheHome, path } = twoBranches();
    const guard = guardOf(root, latheHome, '.npmrc');
    const lost = new Promise((resolve) => guard.start(resolve));
    replace(path, 'a=mine\n');
    await lost;
    writeFileSync(path, 'PLANTED\n');
    const [finding = ''] = await guard.check();
    const copies = [...finding.matchAll(/it is now (.*?)(?=, then |\.$)/g)].map(([, copy = '']) => copy);
    expect(copies.map((copy) => readFileSync(copy, 'utf8'))).toEqual(['a=mine\n', 'PLANTED\n']);
    expect(readFileSync(path, 'utf8')).toBe('a=main\n');
  });

  test('a checkout that moves HEAD after its files were judged stays', async () => {
    const { root, latheHome, path } = twoBranches();
    const restored = new RestoredContents(latheHome.file('restored'));
    let judgements = 0;
    restored.since = () => {
      if (++judgements === 2) git(root, 'symbolic-ref', 'HEAD', 'refs/heads/other');
      return undefined;
    };
    const guard = guardOf(root, latheHome, '.npmrc', [], undefined, restored);
    replace(path, 'a=other\n');
    expect(await guard.check()).toEqual([]);
    expect(readFileSync(path, 'utf8')).toBe('a=other\n');
  });

  test('a file that another Lathe is about to put in place is not taken for a planted one', async () => {
    const { root, latheHome } = repository();
    const guard = guardOf(root, latheHome, '.git/config', [join(root, '.git')]);
    writeFileSync(join(root, '.git/.config.0123456789ab'), '');
    mkdirSync(join(root, '.git/.hooks.0123456789ab'));
    expect(await guard.check()).toEqual([expect.stringContaining('/.git/.hooks.0123456789ab appeared')]);
    expect(existsSync(join(root, '.git/.config.0123456789ab'))).toBe(true);
  });
});

describe.skipIf(!hasProgram('bwrap'))('what mounts alone cannot protect', () => {
  const plant = "printf '[core]\\n\\tfsmonitor = touch planted\\n' >> .git/config";

  // SB07
  test('a command ends at once when another program uncovers the configuration of git', async () => {
    const { root, runBeside, config } = repository();
    const { ending, findings } = await runBeside('true', () => git(root, 'config', 'user.name', 'B'));
    expect([ending, findings]).toEqual([{ type: 'unprotected', path: config }, []]);
    expect(readFileSync(config, 'utf8')).toContain('name = B');
  });

  // SB07
  test('a program in an uncovered configuration is put aside, and the result says so', async () => {
    const { root, runBeside, config } = repository();
    const before = readFileSync(config, 'utf8');
    const result = await runBeside('true', () => git(root, 'config', 'core.fsmonitor', 'touch planted'));
    expect(readFileSync(config, 'utf8')).toBe(before);
    const [finding = ''] = result.findings;
    const [, aside = ''] = /Removed: it is now (.*)\.$/.exec(finding) ?? [];
    expect(readFileSync(aside, 'utf8')).toContain('fsmonitor = touch planted');
    const report = reportOn(result, { command: '', directory: '', lastWords: [] });
    expect(report).toMatchObject({ failure: 'execution_failed', text: expect.stringContaining(finding) });
    expect(report.text).toMatch(/^Command was ended by the sandbox, which can no longer protect .*\/\.git\/config: /);
    expect(report.display).toContain(finding);
  });

  test('a change that the person makes while the cover is there stays', async () => {
    const { root, config, runBeside } = repository({ '.envrc': 'old\n' });
    const text = `${readFileSync(config, 'utf8')}[alias]\n\tx = !true\n`;
    const { ending, findings } = await runBeside('true', () => {
      writeFileSync(config, text);
      writeFileSync(join(root, '.envrc'), 'new\n');
      writeFileSync(join(root, '.git/hooks/pre-commit'), '#!/bin/sh\n');
      writeFileSync(join(root, 'end'), '');
    });
    expect([ending.type === 'unprotected', findings]).toEqual([false, []]);
    expect(readFileSync(config, 'utf8')).toBe(text);
    expect(readFileSync(join(root, '.envrc'), 'utf8')).toBe('new\n');
    expect(existsSync(join(root, '.git/hooks/pre-commit'))).toBe(true);
  });

  test('a checkout by the person replaces protected files, and they stay as checked out', async () => {
    const { root, runBeside } = repository({ '.npmrc': 'a=1\n', '.vscode/tasks.json': '{}\n' });
    git(root, 'checkout', '-qb', 'other');
    writeFileSync(join(root, '.npmrc'), 'a=2\n');
    git(root, 'rm', '-q', '-r', '.vscode');
    git(root, 'commit', '-qam', 'second');
    git(root, 'checkout', '-q', 'main');
    const { ending, findings } = await runBeside('true', () => git(root, 'checkout', '-q', 'other'));
    expect([ending.type, findings]).toEqual(['unprotected', []]);
    expect(readFileSync(join(root, '.npmrc'), 'utf8')).toBe('a=2\n');
    expect(existsSync(join(root, '.vscode'))).toBe(false);
  });

  test('a file that an editor replaced while a command ran is put aside: nobody knows who wrote it', async () => {
    const { root, runBeside } = repository({ '.envrc': 'old\n' });
    const { findings } = await runBeside('echo planted > .envrc', () => {
      writeFileSync(join(root, 'new'), 'new\n');
      renameSync(join(root, 'new'), join(root, '.envrc'));
    });
    expect(findings).toEqual([
      expect.stringMatching(/^.*\/\.envrc changed while .* is back\. Removed: it is now .*\.$/),
    ]);
    expect(readFileSync(join(root, '.envrc'), 'utf8')).toBe('old\n');
  });

  const overwrite = 'for i in {1..60}; do (echo PLANTED > .envrc) 2>/dev/null; sleep 0.01; done';

  test('a protected file that a program replaces while a command starts is not left to the command', async () => {
    const { root, run } = repository({ '.envrc': 'mine\n' });
    await run('true');
    renameSync(join(root, '.envrc'), join(root, 'away'));
    const result = run(overwrite);
    await wait(150);
    renameSync(join(root, 'away'), join(root, '.envrc'));
    await result;
    expect(readFileSync(join(root, '.envrc'), 'utf8')).toBe('mine\n');
  });

  test('the first command starts after a checkout that is under way', async () => {
    const { root, run } = repository({ '.envrc': 'mine\n' });
    writeFileSync(join(root, '.git/index.lock'), '');
    rmSync(join(root, '.envrc'));
    const result = run(overwrite);
    await wait(150);
    writeFileSync(join(root, '.envrc'), 'mine\n');
    rmSync(join(root, '.git/index.lock'));
    await result;
    expect(readFileSync(join(root, '.envrc'), 'utf8')).toBe('mine\n');
  });

  test('a command can create a protected file that the person removed', async () => {
    const { root, run } = repository({ '.envrc': 'mine\n' });
    await run('true');
    rmSync(join(root, '.envrc'));
    await run('echo new > .envrc');
    expect(readFileSync(join(root, '.envrc'), 'utf8')).toBe('new\n');
  });

  test('a protected name that is a symlink cannot be replaced', async () => {
    const { root, run } = repository({ target: 'a\n' });
    symlinkSync('target', join(root, '.envrc'));
    const { findings } = await run('rm .envrc; echo planted > .envrc');
    expect(findings).toEqual([expect.stringContaining('/.envrc changed while')]);
    expect(readFileSync(join(root, '.envrc'), 'utf8')).toBe('a\n');
    expect(lstatSync(join(root, '.envrc')).isSymbolicLink()).toBe(true);
  });

  test('the git work of the person does not end a command in the background, which cannot write to .git', async () => {
    const { root, runBeside, config } = repository();
    const { ending, findings } = await runBeside(
      `${plant}; touch .git/x`,
      () => {
        git(root, 'config', 'alias.x', 'status');
        writeFileSync(join(root, 'end'), '');
      },
      { isBackground: true },
    );
    expect([ending.type === 'unprotected', findings]).toEqual([false, []]);
    expect(readFileSync(config, 'utf8')).toMatch(/^(?![^]*planted)[^]*x = status/);
  });

  // SB06
  test('a name stays covered when another Lathe that covered it too ends', async () => {
    const { root, run } = repository();
    rmSync(join(root, '.git/hooks'), { recursive: true });
    const child = spawn(process.execPath, [await bundleChild('keeping-lathe'), other(root)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    const attempts =
      'touch begun; until [ -e end ]; do sleep 0.05; done; mkdir .lathe/x; echo x > .git/hooks/pre-commit';
    const long = run(`${attempts}; ls -d .lathe .qwen .git/hooks`);
    await expect.poll(() => existsSync(join(root, 'begun'))).toBe(true);
    child.stdin.end();
    await once(child, 'close');
    expect(readdirSync(join(root, '.lathe'))).toHaveLength(1);
    writeFileSync(join(root, 'end'), '');
    const { ending, findings, output } = await long;
    expect([ending, findings]).toEqual([{ type: 'exit', code: 0 }, []]);
    expect(output.text()).toMatch(/Read-only file system[^]*\.git\/hooks\n\.lathe\n\.qwen\n$/);
    expect(readdirSync(root).toSorted()).toEqual(['.git', 'begun', 'end', 'file']);
    expect(existsSync(join(root, '.git/hooks'))).toBe(false);
  });

  function other(root: string): string {
    return JSON.stringify({
      root,
      home: tempDirectory(),
      mode: 'required',
      commands: [{ command: 'sleep 100', isKept: false }],
    });
  }

  test('a placeholder of a Lathe that was killed together with its helper is removed', async () => {
    const { root, run } = repository();
    mkdirSync(join(root, '.lathe/.held-999999999-abc'), { recursive: true });
    expect((await run('mkdir .lathe/x')).ending).toEqual({ type: 'exit', code: 1 });
    expect(existsSync(join(root, '.lathe'))).toBe(false);
  });

  test('the placeholders of a running command do not show up in git status', async () => {
    const { root, runBeside } = repository();
    let status = '';
    await runBeside('true', () => {
      status = git(root, 'status', '--short');
      writeFileSync(join(root, 'end'), '');
    });
    expect(status).toBe('?? begun\n');
  });
});

const plants: Record<string, string> = {
  '.git/logs/HEAD': 'rm .git/logs/HEAD; ln -s /root/.bashrc .git/logs/HEAD',
  '.git/logs/refs': 'rm -r .git/logs/refs; ln -s /tmp .git/logs/refs',
  '.git/refs/heads/x': 'ln -s /etc/passwd .git/refs/heads/x',
  '.git/COMMIT_EDITMSG': 'ln -sf /root/.bashrc .git/COMMIT_EDITMSG',
  '.git/FETCH_HEAD': 'mkfifo .git/FETCH_HEAD',
  '.git/index': 'mv .git/index i; ln -s ../i .git/index',
  '.git/info/attributes': "echo '* filter=x' > .git/info/attributes",
  '.git/info/grafts': 'touch .git/info/grafts',
  '.git/objects/info/alternates': 'mkdir -p .git/objects/info; echo /x > .git/objects/info/alternates',
  '.git/objects/ab': 'ln -s /tmp .git/objects/ab',
  '.git/commondir': 'echo ../evil > .git/commondir',
  '.git/config.worktree': 'touch .git/config.worktree',
  '.git/remotes': 'mkdir .git/remotes; echo "URL: x" > .git/remotes/origin',
  '.git/branches/x': 'mkdir -p .git/branches; echo x > .git/branches/x',
  '.git/modules/a/config':
    'mkdir -p .git/modules/a; echo "[core]" > .git/modules/a/config; echo "fsmonitor = x" >> .git/modules/a/config',
  '.git/modules/a/hooks/pre-commit': 'mkdir -p .git/modules/a/hooks; touch .git/modules/a/{HEAD,hooks/pre-commit}',
  '.git/modules/b/config':
    'mkdir -p .git/modules/b; echo "[core]" > .git/modules/b/config; echo "worktree = ../../../.." >> .git/modules/b/config',
  '.git/rr-cache/ab/preimage': 'mkdir -p .git/rr-cache/ab; ln -s /root/.bashrc .git/rr-cache/ab/preimage',
  '.git/rr-cache/tool': 'mkdir -p .git/rr-cache; touch .git/rr-cache/tool',
  '.git/lfs/cache': 'mkdir -p .git/lfs; ln -s /root .git/lfs/cache',
  '.git/annex/x': 'mkdir -p .git/annex; ln -s /root .git/annex/x',
  '.git/worktrees/w/commondir': 'mkdir -p .git/worktrees/w; echo ../../../evil > .git/worktrees/w/commondir',
  '.git/worktrees/w/config.worktree': 'mkdir -p .git/worktrees/w; touch .git/worktrees/w/config.worktree',
  '.git/something': 'mkdir .git/something; touch .git/something/else',
};

// SB06
describe.skipIf(!hasProgram('bwrap'))('after a command', () => {
  test.each(Object.entries(plants))('%s is found and put aside', async (path, command) => {
    const { root, run } = repository();
    const { findings } = await run(command);
    expect(findings).toEqual([expect.stringContaining(`${root}/${path} appeared, which a command may not create`)]);
    expect(lstatSync(join(root, path), { throwIfNoEntry: false })).toBeUndefined();
  });

  test('the work of git itself is left alone', async () => {
    const { root, run } = repository();
    const work = [
      'export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b GIT_EDITOR=true',
      'git checkout -qb topic && echo a > a && git add a && git commit -qm a && git tag -a v1 -m v1 && git notes add -m n',
      'git checkout -q main && echo b > a && git add a && git commit -qm b && (git merge topic; git merge --abort)',
      '(git rebase topic; git rebase --abort); (git cherry-pick topic; git cherry-pick --abort); echo c > a && git stash -q',
      'git worktree add -q wt && git gc -q && git repack -qad && git commit-graph write && git pack-refs --all',
      'git bisect start -q && git bisect bad && git bisect good HEAD~1; git bisect reset -q; (git merge topic)',
      'git merge --abort; git -c rerere.enabled=true merge topic; git rerere clear; git init -q sub',
      'git -C sub commit -q --allow-empty -m x && git -c protocol.file.allow=always submodule --quiet add ./sub lib/one',
      'git update-index --split-index; git sparse-checkout list; git reflog expire --all; git fetch -q . topic; git status -s',
    ];
    const { findings, output } = await run(work.join('\n'));
    expect([findings, output.text()]).toEqual([[], expect.stringContaining('AA a')]);
    expect(git(root, 'worktree', 'list').split('\n')).toHaveLength(3);
  });

  test('a new repository may be made, without a program in its configuration', async () => {
    const { root, run } = workspace(realpathSync(tempDirectory()));
    expect((await run('git init -q && git config user.name A')).findings).toEqual([]);
    rmSync(join(root, '.git'), { recursive: true });
    const { findings } = await run('git init -q && git config core.fsmonitor ./x && touch .git/hooks/pre-commit');
    expect(findings.map((finding) => finding.split(' ', 1))).toEqual([
      [`${root}/.git/config`],
      [`${root}/.git/hooks/pre-commit`],
    ]);
    rmSync(join(root, '.git'), { recursive: true });
    expect((await run('mkdir evil; echo "gitdir: evil" > .git')).findings).toEqual([
      expect.stringContaining(`${root}/.git appeared, which leads git to another directory.`),
    ]);
    expect((await run('git init -q --bare evil; mv evil/* .')).findings).toEqual([
      expect.stringContaining(`${root} became a git directory, which a command may not create.`),
    ]);
    expect(existsSync(join(root, 'HEAD'))).toBe(false);
  });

  test('nothing beyond a symlink is put aside', async () => {
    const outside = realpathSync(tempDirectory({ 'hooks/pre-commit': 'mine', config: '[alias]\n\tx = !mine\n' }));
    const { root, run } = workspace(realpathSync(tempDirectory()));
    const { findings } = await run(`ln -s ${outside} .git`);
    expect(findings).toEqual([expect.stringContaining(`Removed: it was a symlink to ${outside}.`)]);
    expect(readdirSync(outside).toSorted()).toEqual(['config', 'hooks']);
    symlinkSync(outside, join(root, 'link'));
    const aside = new PutAside(tempDirectory());
    expect(aside.take(join(root, 'link/hooks'))).toBe(`${root}/link was a symlink to ${outside}`);
    expect(readdirSync(outside).toSorted()).toEqual(['config', 'hooks']);
  });

  test.each([
    ['config', 'git init -q x; git -C x config core.fsmonitor ./y; mv x/.git .; sleep 20'],
    ['', 'echo "gitdir: /root" > .git; sleep 20'],
  ])(
    'a command in the background that makes a repository ends at once, .git/%s is put aside',
    async (name, command) => {
      const { root, run } = workspace(realpathSync(tempDirectory()));
      const { ending, findings } = await run(command, { isBackground: true });
      expect(ending).toEqual({ type: 'unprotected', path: join(root, '.git') });
      expect(findings).toEqual([expect.stringContaining(`${join(root, '.git', name)} appeared`)]);
      expect(existsSync(join(root, '.git', name))).toBe(false);
    },
  );

  test('a repository that the person makes beside a command in the background stays', async () => {
    const { root, runBeside } = workspace(realpathSync(tempDirectory()));
    const { ending, findings } = await runBeside('true', () => git(root, 'init', '-q'), { isBackground: true });
    expect([ending.type, findings]).toEqual(['unprotected', []]);
    expect(existsSync(join(root, '.git/config'))).toBe(true);
  });
});
