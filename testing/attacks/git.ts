import { attacks } from './attack.js';

const covered = 'read-only bind mount of the name';
const check = 'check of .git after the command';
const directory = 'bind mount of its parent, which cannot be renamed';

/** Changing what git and other programs of the user obey in the workspace. PLANTED marks what must not stay. */
export const gitAttacks = attacks('git', [
  ['a hook', 'printf "#!/bin/sh\\nPLANTED\\n" > .git/hooks/pre-commit', covered],
  ['append to the configuration', 'printf "[core]\\nfsmonitor = PLANTED\\n" >> .git/config', covered],
  ['git config', 'git config core.hooksPath PLANTED', covered],
  ['replace the configuration', 'echo PLANTED > c; mv -f c .git/config', covered],
  ['remove and write the configuration', 'rm -f .git/config; echo PLANTED > .git/config', covered],
  ['rename the hooks away', 'mv .git/hooks h; mkdir .git/hooks; echo PLANTED > .git/hooks/pre-commit', covered],
  ['rename .git away', 'mv .git g && cp -r g .git && echo PLANTED >> .git/config', directory],
  ['a symlink in place of .git', 'mkdir g; mv .git old; ln -s g .git; echo PLANTED > g/config', directory],
  ['exchange by renameat2', exchange('.git/config', 'c'), covered],
  [
    'mount over the configuration',
    'echo PLANTED > c; mount --bind c .git/config && echo ESCAPED',
    'seccomp: mount calls refused',
    { isDangerous: true },
  ],
  ['the configuration of a worktree', 'printf "[core]\\nfsmonitor = PLANTED\\n" > .git/config.worktree', check],
  ['another common directory', 'mkdir e; echo PLANTED > e/config; echo ../e > .git/commondir', check],
  ['attributes', 'echo "* filter=PLANTED" > .git/info/attributes', check],
  ['grafts', 'echo PLANTED > .git/info/grafts', check],
  ['alternates', 'mkdir -p .git/objects/info; echo /PLANTED > .git/objects/info/alternates', check],
  [
    'alternates over HTTP',
    'mkdir -p .git/objects/info; echo http://PLANTED > .git/objects/info/http-alternates',
    check,
  ],
  ['an old-style remote', 'mkdir -p .git/remotes; echo "URL: PLANTED" > .git/remotes/origin', check],
  ['an old-style branch', 'mkdir -p .git/branches; echo PLANTED > .git/branches/origin', check],
  ['the reflog leads to ~/.bashrc', 'rm -f .git/logs/HEAD; ln -s $HOME/.bashrc .git/logs/HEAD', check],
  [
    'the reflog of a branch leads elsewhere',
    'rm -f .git/logs/refs/heads/main; ln -s $HOME/.bashrc .git/logs/refs/heads/main',
    check,
  ],
  ['all reflogs lead elsewhere', 'rm -rf .git/logs; ln -s $HOME .git/logs', check],
  ['a ref leads elsewhere', 'ln -s $OUT/existing .git/refs/heads/x', check],
  ['the commit message leads elsewhere', 'ln -sf $HOME/.bashrc .git/COMMIT_EDITMSG', check],
  ['FETCH_HEAD leads elsewhere', 'ln -sf $HOME/.bashrc .git/FETCH_HEAD', check],
  ['ORIG_HEAD leads elsewhere', 'ln -sf $HOME/.bashrc .git/ORIG_HEAD', check],
  ['the index leads elsewhere', 'mv .git/index i; ln -s $OUT/existing .git/index', check],
  ['packed refs lead elsewhere', 'ln -sf $OUT/existing .git/packed-refs', check],
  ['objects lead elsewhere', 'rm -rf .git/objects/ab; ln -s $OUT .git/objects/ab', check],
  ['packs lead elsewhere', 'rm -rf .git/objects/pack; ln -s $OUT .git/objects/pack', check],
  ['a pipe that blocks git', 'rm -f .git/FETCH_HEAD; mkfifo .git/FETCH_HEAD', check],
  ['a rebase leads elsewhere', 'ln -s $OUT .git/rebase-merge', check],
  ['a new submodule with a program', submodule('config', '[core]\\nfsmonitor = PLANTED\\n'), check],
  ['a new submodule with a hook', submodule('hooks/pre-commit', 'PLANTED'), check],
  ['the configuration of a submodule', 'echo PLANTED >> .git/modules/lib/config', covered],
  [
    'the hooks of a submodule',
    'mkdir -p .git/modules/lib/hooks; echo PLANTED > .git/modules/lib/hooks/pre-commit',
    'placeholder directory',
  ],
  [
    'rename a submodule away',
    'mv .git/modules/lib m; cp -r m .git/modules/lib; echo PLANTED > .git/modules/lib/config',
    directory,
  ],
  [
    'a linked worktree that leads elsewhere',
    'mkdir -p .git/worktrees/w; echo ../../../PLANTED > .git/worktrees/w/commondir',
    check,
  ],
  [
    'a linked worktree with a configuration',
    'mkdir -p .git/worktrees/w; echo PLANTED > .git/worktrees/w/config.worktree',
    check,
  ],
  ['a submodule with a work tree elsewhere', submodule('config', '[core]\\n\\tworktree = /PLANTED\\n'), check],
  [
    'a recorded resolution leads elsewhere',
    'mkdir -p .git/rr-cache/ab; ln -s $HOME/.bashrc .git/rr-cache/ab/preimage',
    check,
  ],
  ['large files lead elsewhere', 'mkdir -p .git/lfs; ln -s $OUT .git/lfs/tmp', check],
  ['a submodule leads elsewhere', 'ln -s $OUT .git/modules/new', check],
  ['unknown files in .git', 'mkdir .git/tool; echo PLANTED > .git/tool/config', check],
  ['.envrc', 'echo PLANTED > .envrc', covered],
  ['.envrc by rename', 'echo PLANTED > e; mv -f e .envrc', covered],
  ['.npmrc', 'echo "script-shell=PLANTED" >> .npmrc', covered],
  ['.npmrc, a symlink', 'rm .yarnrc; echo PLANTED > .yarnrc', 'watch of covers, restored afterwards'],
  ['the tasks of the editor', 'echo PLANTED > .vscode/tasks.json', covered],
  ['a new file beside the tasks', 'echo PLANTED > .vscode/settings.json', covered],
  ['rename the folder of the editor', 'mv .vscode v; mkdir .vscode; echo PLANTED > .vscode/tasks.json', covered],
  ['a workflow', 'echo PLANTED > .github/workflows/ci.yml', covered],
  ['a new workflow', 'echo PLANTED > .github/workflows/new.yml', covered],
  [
    'rename the way to the workflows',
    'mv .github g; mkdir -p .github/workflows; echo PLANTED > .github/workflows/ci.yml',
    directory,
  ],
  [
    'settings of Lathe',
    'mkdir -p .lathe; echo PLANTED > .lathe/settings.json',
    'placeholder directory',
    { isOurs: true },
  ],
  [
    'settings of Qwen Code',
    'mkdir -p .qwen; echo PLANTED > .qwen/settings.json',
    'placeholder directory',
    { isOurs: true },
  ],
  [
    'a symlink in place of the settings',
    'mkdir s; echo PLANTED > s/settings.json; ln -sfT s .lathe',
    'placeholder directory',
    { isOurs: true },
  ],
  [
    'a rename in place of the settings',
    'mkdir s; echo PLANTED > s/settings.json; rmdir .lathe; mv -T s .lathe',
    'placeholder directory',
    { isOurs: true },
  ],
]);

function submodule(file: string, content: string): string {
  return `mkdir -p .git/modules/new/hooks; echo "ref: refs/heads/main" > .git/modules/new/HEAD; printf "${content}" > .git/modules/new/${file}`;
}

function exchange(a: string, b: string): string {
  return `echo PLANTED > ${b}; perl -e 'require "syscall.ph"; ($a, $b) = ("${a}", "${b}"); syscall(&SYS_renameat2, -100, $a, -100, $b, 2)'`;
}
