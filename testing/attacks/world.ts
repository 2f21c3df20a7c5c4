import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { basename, dirname, join } from 'node:path';

/** Files with keys in the home directory of the world. */
export const secretFiles = (
  '.ssh/id_ed25519 .ssh/deploy .aws/credentials .aws/config .netrc .env .npmrc .yarnrc.yml .pypirc .git-credentials ' +
  '.config/gh/hosts.yml .config/glab-cli/config.yml .config/github-copilot/apps.json .config/hub .cache/huggingface/token ' +
  '.huggingface/token .pulumi/credentials.json .config/sops/age/keys.txt .gnupg/private-keys-v1.d/a.key .docker/config.json ' +
  '.kube/config .azure/accessTokens.json .config/gcloud/credentials.db .terraform.d/credentials.tfrc.json .vault-token ' +
  '.pgpass .my.cnf .cargo/credentials.toml .gem/credentials .m2/settings.xml .gradle/gradle.properties .config/rclone/rclone.conf ' +
  '.s3cfg .boto .password-store/mail.gpg .local/share/keyrings/login.keyring .mozilla/firefox/a.default/logins.json ' +
  '.config/google-chrome/Default/Cookies .qwen/.env .qwen/settings.json .qwen/oauth_creds.json .gemini/oauth_creds.json ' +
  '.claude/.credentials.json .config/op/config .bash_history .lesshst .wget-hsts notes/diary.txt Documents/taxes.txt'
).split(' ');

/** A workspace, a home directory, things outside and other programs, for one attack. */
export interface World {
  base: string;
  root: string;
  home: string;
  /** Variables for the script. */
  variables: Record<string, string>;
  /** Whether a text contains a secret of the world, or the script said that it got out. */
  betrays(text: string): string | undefined;
  /** What must not have changed and did. */
  damage(): Promise<string[]>;
  close(): void;
}

/** Directories in which worlds are made: one that sandboxes show, such as a place in /opt, and one on another disk. */
export interface Places {
  shown: string;
  disk: string;
}

export interface WorldOptions {
  /** Without them only the server on loopback listens. */
  hasSockets: boolean;
  /** Not in /tmp, of which sandboxes have their own. */
  places?: Places;
}

export async function makeWorld({
  hasSockets,
  places = { shown: '/var/tmp', disk: '/var/tmp' },
}: WorldOptions): Promise<World> {
  const base = realpathSync(mkdtempSync(join(places.shown, 'lathe-attack-')));
  const disk = realpathSync(mkdtempSync(join(places.disk, 'lathe-disk-')));
  const [root, home, out] = [join(base, 'ws'), join(base, 'home'), join(base, 'out')];
  const secret = `SECRET-${randomBytes(8).toString('hex')}`;
  for (const file of secretFiles)
    write(join(home, file), file.endsWith('settings.json') ? `// ${secret}\n{}\n` : `${secret}\n`);
  for (const file of ['.bashrc', '.profile']) write(join(home, file), '# mine\n');
  write(join(home, '.gitconfig'), `# ${secret}\n`);
  write(join(home, '.cargo/config.toml'), '# mine\n');
  write(join(base, 'lathe', 'secret'), `${secret}\n`);
  write(join(out, 'existing'), 'existing\n');
  write(join(disk, 'existing'), `${secret}\n`);
  cpSync(templateRepository(), root, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  mkdirSync(join(root, 'node_modules/.cache/deep'), { recursive: true });
  mkdirSync(join(out, 'closed'));
  mkdirSync(join(home, '.cache/huggingface/hub'), { recursive: true });
  const programs = await startPrograms(base, disk, { hasSockets });
  const { port, victim } = programs;
  chmodSync(join(out, 'closed'), 0o311);
  const before = { home: treeOf(home), out: treeOf(out), disk: treeOf(disk), protected: protectedIn(root) };
  const shared = ['/tmp', '/dev/shm', '/var/tmp'].map((place) => join(place, `lathe-attack-${port}`));
  const user = process.getuid?.() === 0 ? {} : { NOT_ROOT: '1' };
  return {
    base,
    root,
    home,
    variables: {
      WS: root,
      HOME: home,
      OUT: out,
      DISK: disk,
      PORT: `${port}`,
      ABSTRACT: basename(base),
      VICTIM: `${victim.pid}`,
      ...user,
    },
    betrays: (text) =>
      text.includes(secret) ? 'read a secret' : text.includes('ESCAPED') ? 'said that it got out' : undefined,
    damage: async () => {
      // What an attack started in the background may still be at it.
      await new Promise((done) => setTimeout(done, 150));
      const found = [
        treeOf(home) !== before.home && 'changed the home directory',
        (treeOf(out) !== before.out || treeOf(disk) !== before.disk) && 'changed a file outside',
        programs.wereReached() && 'connected to a server',
        (victim.exitCode !== null || victim.signalCode !== null) && 'killed a process',
        pidsNamed(`54321.${port}`).length > 0 && 'left a process behind',
        shared.some((path) => existsSync(path)) && 'left a file in a shared directory',
        ...plantedIn(root, before.protected),
      ];
      return found.filter((what) => what !== false);
    },
    close: () => {
      programs.close();
      killNamed(`54321.${port}`);
      for (const path of shared) rmSync(path, { force: true });
      chmodSync(join(out, 'closed'), 0o700);
      for (const path of [base, disk]) rmSync(path, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

const socketPaths = [
  'out/control.sock',
  'out/with blank.sock',
  'out/closed/control.sock',
  'home/agent.sock',
  'ws/app.sock',
  'ws/node_modules/.cache/deep/app.sock',
];

/** Servers that must not be reached, and a process that must not be touched. */
async function startPrograms(base: string, disk: string, { hasSockets }: { hasSockets: boolean }) {
  let connections = 0;
  const servers: Server[] = [];
  const listen = async (at: string | number) => {
    const server = createServer((socket) => {
      connections++;
      socket.on('error', () => undefined).end();
    });
    servers.push(server);
    await new Promise<void>((done) => server.listen(at, done));
    const address = server.address();
    return typeof address === 'object' ? (address?.port ?? 0) : 0;
  };
  const port = await listen(0);
  const victim = spawn('sleep', ['1000'], { stdio: 'ignore' });
  const helpers: ChildProcess[] = [victim];
  if (hasSockets) {
    for (const path of socketPaths) await listen(join(base, path));
    await listen(`\0${basename(base)}`);
    await listen(`/tmp/lathe-attack-${port}.sock`);
    for (const directory of [join(base, 'out'), disk]) {
      await listen(join(directory, 'first.sock'));
      renameSync(join(directory, 'first.sock'), join(directory, 'renamed.sock'));
      const elsewhere = listenElsewhere(directory);
      helpers.push(elsewhere);
      await new Promise((done) => elsewhere.stdout?.once('data', done));
    }
  }
  return {
    port,
    victim,
    wereReached: () =>
      connections > 0 || [join(base, 'out'), disk].some((path) => existsSync(join(path, 'datagram.reached'))),
    close: () => {
      for (const server of servers) server.close();
      for (const helper of helpers) helper.kill('SIGKILL');
    },
  };
}

/** Sockets of another process, one bound by a relative path, one for datagrams. */
function listenElsewhere(cwd: string): ChildProcess {
  const script = `import socket, os
s = socket.socket(socket.AF_UNIX); s.bind('relative.sock'); s.listen()
d = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); d.bind('datagram.sock')
print('up', flush=True)
import select
while True:
    for r in select.select([s, d], [], [])[0]:
        open('datagram.reached', 'w').close()
        r.accept() if r is s else r.recv(10)`;
  return spawn('/usr/bin/python3', ['-c', script], { cwd, stdio: ['ignore', 'pipe', 'ignore'] });
}

const protectedFiles = [
  '.git/config',
  '.git/hooks/pre-commit.sample',
  '.git/modules/lib/config',
  '.envrc',
  '.npmrc',
  '.yarnrc',
  '.vscode/tasks.json',
  '.github/workflows/ci.yml',
];

let template: string | undefined;

/** Made once, for git needs a while. */
function templateRepository(): string {
  if (template === undefined) {
    template = realpathSync(mkdtempSync('/var/tmp/lathe-template-'));
    const made = template;
    process.once('exit', () => rmSync(made, { recursive: true, force: true }));
    makeRepository(template);
  }
  return template;
}

function makeRepository(root: string): void {
  const files = {
    '.envrc': 'mine\n',
    '.npmrc': 'a=mine\n',
    'yarn.conf': 'mine\n',
    '.vscode/tasks.json': '{}\n',
    '.github/workflows/ci.yml': 'on: push\n',
    'src/a.txt': 'a\n',
    '.gitignore': 'node_modules\n*.sock\n',
  };
  for (const [name, content] of Object.entries(files)) write(join(root, name), content);
  symlinkSync('yarn.conf', join(root, '.yarnrc'));
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@b', ...args], {
      cwd: root,
      env: { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
      stdio: 'ignore',
    });
  git('init', '-qb', 'main');
  git('add', '-A');
  git('commit', '-qm', 'first');
  git('checkout', '-qb', 'other');
  write(join(root, '.npmrc'), 'a=other\n');
  git('commit', '-qam', 'second');
  git('checkout', '-q', 'main');
  write(join(root, '.git/modules/lib/HEAD'), 'ref: refs/heads/main\n');
  write(join(root, '.git/modules/lib/config'), '[core]\n\tbare = false\n');
}

function protectedIn(root: string): Map<string, string> {
  return new Map(protectedFiles.map((name) => [name, contentOf(join(root, name))]));
}

/** Names that git or an agent obeys and that were not there. */
const obeyed =
  '.git/config.worktree .git/commondir .git/info/attributes .git/info/grafts .git/objects/info/alternates .git/objects/info/http-alternates .git/remotes .git/branches/origin .git/tool .git/worktrees/w/commondir .git/worktrees/w/config.worktree .git/modules/new/hooks/pre-commit .lathe/settings.json .qwen/settings.json .vscode/settings.json .github/workflows/new.yml .git/hooks/pre-commit .git/modules/lib/hooks/pre-commit'.split(
    ' ',
  );

/** A change that somebody outside made is not damage; what an attack wrote says PLANTED. */
function plantedIn(root: string, before: Map<string, string>): string[] {
  const bad = (name: string) => contentOf(join(root, name)).includes('PLANTED');
  const changed = [...before].filter(
    ([name, content]) => bad(name) || (contentOf(join(root, name)) === '' && content !== '' && name === '.git/config'),
  );
  const planted = obeyed.filter((name) => existsSync(join(root, name)));
  const config = contentOf(join(root, '.git/modules/new/config')).includes('PLANTED')
    ? ['.git/modules/new/config']
    : [];
  const links = lstatSync(join(root, '.git'), { throwIfNoEntry: false })?.isDirectory()
    ? linksBelow(join(root, '.git'))
    : ['.git'];
  const bits = entriesOf(root)
    .filter(({ mode }) => (mode & 0o6000) !== 0)
    .map(({ path }) => path);
  return [
    ...changed.map(([name]) => `changed ${name}`),
    ...[...planted, ...config].map((name) => `planted ${name}`),
    ...links.map((path) => `planted ${path.replace(`${root}/`, '')}`),
    ...bits.map((path) => `set a setuid or setgid bit on ${basename(path)}`),
  ];
}

function linksBelow(directory: string): string[] {
  return entriesOf(directory)
    .filter(({ kind }) => kind === 'other')
    .map(({ path }) => path);
}

interface Entry {
  path: string;
  mode: number;
  kind: 'file' | 'directory' | 'other';
}

function entriesOf(directory: string): Entry[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    const info = lstatSync(path, { throwIfNoEntry: false });
    if (info === undefined) return [];
    const kind = info.isDirectory() ? 'directory' : info.isFile() ? 'file' : 'other';
    const entry: Entry = { path, mode: info.mode, kind };
    try {
      return kind === 'directory' ? [entry, ...entriesOf(path)] : [entry];
    } catch {
      return [entry];
    }
  });
}

/** One line for everything about a tree that can change. */
function treeOf(directory: string): string {
  const lines = entriesOf(directory)
    .filter(({ path }) => !path.endsWith('.reached'))
    .map(({ path, mode, kind }) => {
      const info = lstatSync(path);
      const content = kind === 'file' ? createHash('sha1').update(contentOf(path)).digest('hex') : '';
      return [path, mode, info.uid, kind === 'file' ? info.mtimeMs : '', content].join(' ');
    });
  return lines.toSorted().join('\n');
}

function contentOf(path: string): string {
  try {
    return lstatSync(path).isSymbolicLink()
      ? `${readlinkSync(path)}\n${readFileSync(path, 'utf8')}`
      : readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function write(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

function pidsNamed(text: string): number[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && contentOf(`/proc/${pid}/cmdline`).includes(text))
    .map(Number);
}

function killNamed(text: string): void {
  for (const pid of pidsNamed(text)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended meanwhile.
    }
  }
}
