import { attacks } from './attack.js';
import { secretFiles } from './world.js';

const emptyHome = 'home directory by allow list';
const linked = 'no mount follows a symlink out of the workspace';
const readOnly = 'home directory by allow list, sealed';

/** Reading keys of the user, and leaving something in the home directory. */
export const homeAttacks = [
  ...attacks(
    'homes',
    secretFiles.map((file) => [`read ~/${file}`, `cat "$HOME/${file}"`, emptyHome] as const),
  ),
  ...attacks('homes', [
    ['search the whole home', 'grep -rhs "" $HOME 2>/dev/null', emptyHome],
    ['search by find and an archive', 'tar c -C $HOME . 2>/dev/null | grep -ao "SECRET-[0-9a-f]*"', emptyHome],
    ['through /proc/self/root', 'cat /proc/self/root$HOME/.ssh/id_ed25519', emptyHome],
    ['through the first process', 'cat /proc/1/root$HOME/.netrc', emptyHome],
    ['through a symlink in the workspace', 'ln -s $HOME h; cat h/.ssh/id_ed25519 h/.env', emptyHome],
    ['through a hard link', 'ln $HOME/.netrc n; cat n', 'link() across mounts fails'],
    ['by the path of the real file', 'cat "$(realpath $HOME)"/.aws/credentials', emptyHome],
    ['the state of Lathe', 'cat $HOME/../lathe/secret', "Lathe's own state is covered", { isOurs: true }],
    [
      'variables with keys',
      'env | grep -o "^AWS_SECRET.*\\|^OPENAI_API_KEY.*"; tr "\\0" "\\n" < /proc/self/environ',
      'environment by allow list',
    ],
    ['variables of the parent', 'cat /proc/$PPID/environ /proc/1/environ | tr "\\0" "\\n"', 'pid namespace, own /proc'],
    ['the file of passwords', 'cat /etc/shadow | grep -q . && echo ESCAPED', 'covered, file permissions'],
    [
      'other files of the system with passwords',
      'cat /etc/shadow- /etc/gshadow /etc/gshadow- /etc/ssl/private/* | grep -q . && echo ESCAPED',
      'covered, file permissions',
    ],
    [
      'a repository around the workspace',
      'cd /; for d in $HOME $HOME/..; do git --git-dir=$d/.git show HEAD:.netrc; done',
      emptyHome,
    ],
    [
      'a protected name leads to the directory of a toolchain',
      'ln -s ../home/.cargo .cargo; cat .cargo/credentials.toml; echo x > .cargo/planted',
      linked,
      { times: 2 },
    ],
    [
      'a protected name leads to a cache',
      'ln -s ../home/.cache .idea; cat .idea/huggingface/token; echo x > .idea/planted',
      linked,
      { times: 2 },
    ],
    [
      'a protected name leads to the settings of git',
      'ln -s ../home/.gitconfig .yarnrc.yml; cat .yarnrc.yml',
      linked,
      { times: 2 },
    ],
    ['a protected name leads to a key', 'ln -s ../home/.netrc .pypirc; cat .pypirc', linked, { times: 2 }],
    ['write ~/.bashrc', 'echo evil >> $HOME/.bashrc', readOnly],
    ['write ~/.profile', 'echo evil >> $HOME/.profile', readOnly],
    ['write ~/.gitconfig', 'git config --global core.fsmonitor evil', readOnly],
    ['write a key for login', 'mkdir -p $HOME/.ssh; echo evil >> $HOME/.ssh/authorized_keys', readOnly],
    ['a program in ~/.local/bin', 'mkdir -p $HOME/.local/bin; echo evil > $HOME/.local/bin/git', readOnly],
    [
      'start with the session',
      'mkdir -p $HOME/.config/autostart; echo evil > $HOME/.config/autostart/x.desktop',
      readOnly,
    ],
    [
      'a service of the user',
      'mkdir -p $HOME/.config/systemd/user; echo evil > $HOME/.config/systemd/user/x.service',
      readOnly,
    ],
    [
      'a crontab',
      'touch /var/spool/cron/crontabs/evil && echo ESCAPED && rm /var/spool/cron/crontabs/evil',
      readOnly,
      { isDangerous: true },
    ],
    ['replace the home directory', 'mv $HOME $HOME.old; mkdir $HOME', readOnly, { isDangerous: true }],
    ['a file in /tmp of the host', 'echo evil > /tmp/lathe-attack-$PORT; echo done', 'own /tmp'],
    ['a file in /var/tmp of the host', 'echo evil > /var/tmp/lathe-attack-$PORT; echo done', 'own /var/tmp'],
    ['a file in /dev/shm of the host', 'echo evil > /dev/shm/lathe-attack-$PORT; echo done', 'own /dev'],
  ]),
];
