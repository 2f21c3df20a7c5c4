import { attacks } from './attack.js';

const watch = 'watch of covers, restored afterwards';
const placeholder = 'placeholder directories, held by each command';

/** Tries something until it works; `ready` lets the other side begin. */
const again = (attempt: string) => `touch ready; for i in $(seq 300); do ${attempt}; sleep 0.005; done 2>/dev/null`;
/** The same without a pause. */
const busy = (attempt: string) =>
  `touch ready; end=$((SECONDS + 3)); while [ $SECONDS -lt $end ]; do ${attempt}; done 2>/dev/null`;
const config = 'printf "[core]\\nfsmonitor = PLANTED\\n" >> .git/config';

/** Waiting for what the user, an editor or another command does in the same tree. */
export const sharedTreeAttacks = attacks('two processes', [
  ['wait for git config of the user', again(config), watch, { outside: 'git config user.nick joe' }],
  ['the same in a busy loop', busy(config), watch, { outside: 'for i in 1 2 3 4 5; do git config user.nick $i; done' }],
  [
    'write into the lock file of git config',
    busy('[ -e .git/config.lock ] && printf "[core]\\nfsmonitor = PLANTED\\n" >> .git/config.lock'),
    watch,
    { outside: 'for i in $(seq 30); do git config user.name joe$i; done' },
  ],
  [
    'wait for a new branch',
    again(config),
    watch,
    { outside: 'git config branch.x.remote . && git config branch.x.merge refs/heads/main' },
  ],
  [
    'wait for an editor that renames',
    again('echo PLANTED > .envrc'),
    watch,
    { outside: 'echo new > .e && mv .e .envrc' },
  ],
  [
    'wait for an editor that removes',
    again('echo PLANTED > .envrc'),
    watch,
    { outside: 'rm .envrc; sleep 0.1; echo new > .envrc' },
  ],
  [
    'wait for an editor with backups',
    again('echo PLANTED > .npmrc'),
    watch,
    { outside: 'mv .npmrc .npmrc~; echo new > .npmrc' },
  ],
  ['wait for a checkout', again('echo PLANTED > .npmrc'), watch, { outside: 'git checkout -q other' }],
  [
    'wait for the removal of a folder',
    again('mkdir -p .vscode; echo PLANTED > .vscode/tasks.json'),
    watch,
    { outside: 'rm -rf .vscode' },
  ],
  [
    'wait for new hooks',
    again('mkdir -p .git/hooks; echo PLANTED > .git/hooks/pre-commit'),
    watch,
    { outside: 'rm -rf .git/hooks; mkdir .git/hooks' },
  ],
  [
    'wait for the removal of the placeholder',
    again('mkdir -p .lathe && echo PLANTED > .lathe/settings.json'),
    watch,
    { outside: 'rm -rf .lathe', isOurs: true },
  ],
  [
    'wait for rmdir of the placeholder',
    again('mkdir -p .lathe && echo PLANTED > .lathe/settings.json'),
    placeholder,
    { outside: 'rmdir .lathe .qwen', isOurs: true },
  ],
  [
    'wait for the end of another command',
    again('mkdir -p .lathe .qwen; echo PLANTED > .lathe/settings.json; echo PLANTED > .qwen/settings.json'),
    placeholder,
    { outside: 'OTHER_COMMAND', isOurs: true },
  ],
  [
    'wait for a key that is replaced',
    again('cat $HOME/.netrc'),
    'home directory by allow list',
    { outside: 'cp -p $HOME/.netrc $HOME/n && mv $HOME/n $HOME/.netrc' },
  ],
  [
    'leave a loop behind for later',
    `(setsid bash -c 'for i in $(seq 100); do ${config.replaceAll('"', '\\"')}; sleep 0.02; done' &) ; touch ready`,
    'pid namespace ends with the command',
    { outside: 'sleep 0.5; git config user.nick joe' },
  ],
]);

/** Getting a right that only a person can give. */
export const grantAttacks = attacks('grants', [
  [
    'print that a file system is read-only',
    'echo EROFS: read-only file system; echo x > $OUT/new; exit 1',
    'rights come from a person only',
    { times: 4, isOurs: true },
  ],
  [
    'print that the network is missing',
    'echo ENOTFOUND; exec 3<>/dev/tcp/127.0.0.1/$PORT; exit 1',
    'rights come from a person only',
    { times: 4, isOurs: true },
  ],
  [
    'print that a login is missing',
    'echo ENEEDAUTH; cat $HOME/.ssh/id_ed25519; exit 1',
    'rights come from a person only',
    { times: 4, isOurs: true },
  ],
  [
    'all three in turn',
    'echo EROFS ENOTFOUND ENEEDAUTH; echo x > $OUT/new; cat $HOME/.netrc; exit 1',
    'rights come from a person only',
    { times: 5, isOurs: true },
  ],
  ['ask for files', 'echo x > $OUT/new', 'rights come from a person only', { rights: ['files'], isOurs: true }],
  [
    'ask for the network',
    'exec 3<>/dev/tcp/127.0.0.1/$PORT',
    'rights come from a person only',
    { rights: ['network'], isOurs: true },
  ],
  [
    'ask for secrets',
    'cat $HOME/.ssh/id_ed25519',
    'rights come from a person only',
    { rights: ['secrets'], isOurs: true },
  ],
  [
    'ask for everything',
    'echo x > $OUT/new; cat $HOME/.netrc; printf PLANTED > .git/hooks/pre-commit',
    'rights come from a person only',
    { rights: ['workspace', 'network', 'files', 'secrets'], isOurs: true },
  ],
  [
    'ask again and again',
    'echo x > $OUT/new',
    'rights come from a person only',
    { rights: ['files'], times: 3, isOurs: true },
  ],
]);
