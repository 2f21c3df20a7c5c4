import type { Argument } from '../shell/expand-word.js';
import { forNames, nameSet } from './name-set.js';

/** What a wrapper runs: a program that runs another command. */
export interface Unwrapped {
  /** The commands inside, as words. */
  commands: Argument[][];
  /** Shell text inside, as in `sh -c text`. */
  scripts: string[];
  /** The wrapper does nothing itself, so it is as harmless as the commands inside. */
  isTransparent: boolean;
  /** The wrapper's own arguments, if it also does something itself; they are judged like those of any program. */
  own?: Argument[];
}

/** How a wrapper finds the command in its arguments. */
export interface Wrapper {
  flags: string;
  /** The number of its own operands before the command. */
  skip?: number;
  /** What these look like; otherwise another version of the program may take them as the command. */
  skipped?: RegExp;
  isTransparent?: boolean;
  /** Passes its operands to a shell. */
  takesText?: boolean;
}

/** Programs that run the command given in their arguments. */
export const wrappers: ReadonlyMap<string, Wrapper> = new Map(
  Object.entries<Wrapper>({
    timeout: {
      flags: '-k: -s: -v --kill-after= --signal= --foreground --preserve-status --verbose +',
      skip: 1,
      skipped: /^\d+(\.\d+)?[smhd]?$/,
      isTransparent: true,
    },
    nice: { flags: '-# -n: --adjustment= +', isTransparent: true },
    nohup: { flags: '+', isTransparent: true },
    stdbuf: { flags: '-i: -o: -e: --input= --output= --error= +', isTransparent: true },
    time: { flags: '-p -v --portability --verbose +', isTransparent: true },
    builtin: { flags: '+' },
    exec: { flags: '-cl -a: +' },
    setsid: { flags: '-cfw +' },
    ionice: { flags: '-c: -n: -t +' },
    chrt: { flags: '-bfiorm -T: -P: -D: +', skip: 1 },
    taskset: { flags: '-ac +', skip: 1 },
    sudo: {
      flags:
        '-AbEeHknPSis -u: -g: -h: -p: -C: -r: -t: -T: -D: -R: --preserve-env=? --user= --group= --login --non-interactive --stdin +',
    },
    doas: { flags: '-nsL -u: -C: +' },
    su: { flags: '-lmp -g: -G: -s: -c: --command= --login --shell= +', takesText: true },
    runuser: { flags: '-lmp -u: -g: -G: -s: -c: --command= +', takesText: true },
    sg: { flags: '+', skip: 1, takesText: true },
    chroot: { flags: '--userspec= --groups= --skip-chdir +', skip: 1 },
    unshare: { flags: '-imnpuUfrcC --fork --map-root-user --net --mount --pid --user --ipc --uts +' },
    nsenter: { flags: '-amuinpUCrZF -t: --target= --all +' },
    setpriv: { flags: '--reuid= --regid= --clear-groups --no-new-privs --init-groups +' },
    flock: { flags: '-exnosuF -w: -E: -c: --command= +', skip: 1, takesText: true },
    watch: { flags: '-bcdegtxC -n: --interval= --no-title +', takesText: true },
    strace: { flags: '-cCdfFhiqrtTvVwxyzZ -e: -o: -p: -s: -u: -a: -E: +' },
    ltrace: { flags: '-cCfhiLrStTV -e: -o: -p: -s: -u: +' },
    script: { flags: '-aefq -c: --command= +', takesText: true },
    unbuffer: { flags: '-p +' },
    firejail: { flags: '--quiet --net= +' },
    bwrap: { flags: '+' },
    parallel: { flags: '-0kqv -j: -a: +', takesText: true },
    entr: { flags: '-acdnprsz +', takesText: true },
    npx: { flags: '-yq -p: -c: --yes --no --package= --call= +' },
    caffeinate: { flags: '-dimsu +' },
    proxychains: { flags: '-q -f: +' },
    'systemd-run': { flags: '-tPGqdr -p: -u: --user --scope --pipe --wait +' },
    ssh: {
      flags: '-46AaCfGgKkMNnqsTtVvXxYy -i: -p: -l: -o: -F: -J: -L: -R: -D: -b: -c: -e: -m: -S: -W: -w: +',
      skip: 1,
      takesText: true,
    },
    faketime: { flags: '-fm +', skip: 1 },
    torsocks: { flags: '+' },
    gdb: { flags: '--args +' },
    valgrind: { flags: '+' },
    chronic: { flags: '-ev +' },
    ts: { flags: '+' },
  }),
);

/** Wrappers whose flags are not listed: any of their words may be the command. */
export const looseWrappers = nameSet(
  'prlimit setarch linux32 linux64 i386 x86_64 uname26 pkexec fakeroot proot xvfb-run dbus-run-session numactl choom eatmydata gosu su-exec ' +
    'tini dumb-init runcon start-stop-daemon perf screen tmux hyperfine direnv nix-shell conda pipenv capsh cpulimit rlwrap',
);

/** Subcommands that run the words after them. */
export const runners: ReadonlyMap<string, readonly string[]> = new Map([
  ['npm', ['exec', 'x']],
  ['pnpm', ['exec', 'dlx']],
  ['yarn', ['exec', 'dlx']],
  ['bun', ['x']],
  ['uv', ['run']],
  ['poetry', ['run']],
  ['bundle', ['exec']],
  ['composer', ['exec']],
]);

/** Flags of other programs that take a command. */
export const textFlags: ReadonlyMap<string, RegExp> = new Map([
  [
    'tar',
    /^(?:--checkpoint-action=exec=|(?:--to-command|--use-compress-program|--rsh-command|--info-script)(?:=|$)|-I)/,
  ],
  ['rsync', /^(?:(?:--rsh|--rsync-path)(?:=|$)|-e)/],
  ['man', /^(?:--pager(?:=|$)|-P)/],
  ['make', /^(?:--eval(?:=|$)|SHELL=)/],
  ['go', /^--?(?:exec|toolexec|vettool)(?:=|$)/],
  ['cargo', /^--config(?:=|$)/],
  ['just', /^--shell(?:=|$)/],
  // npm knows a flag by its first letters.
  ...forNames('npm pnpm yarn', /^--?(?:scr\w*(?:-\w*)?|node-o[\w-]*)(?:=|$)/),
]);
