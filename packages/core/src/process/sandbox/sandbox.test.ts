import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bundleText } from '../../../../../testing/bundle.js';
import { hasProgram } from '../../../../../testing/programs.js';
import { outsideDirectory, tempDirectory } from '../../../../../testing/temp-directory.js';
import { LatheHome } from '../../files/lathe-home.js';
import { refuseBrokenSandbox } from '../run/command-report.js';
import { childEnvironment } from '../run/environment.js';
import { CommandRunner } from '../run/run-command.js';
import { Sandbox, type SandboxOptions } from './sandbox.js';
import type { SandboxRights } from './sandbox-rights.js';

const nothing: SandboxRights = { workspace: true, network: false, home: false, files: false, secrets: false };
const never = new AbortController().signal;

/** One script that names the attempts which succeed. */
function attempts(commands: readonly string[]): string {
  return commands.map((command) => `(${command}) >/dev/null 2>&1 && echo '${command.replaceAll("'", '')}'`).join('\n');
}

/** A server on loopback, or on a path, that counts who comes. */
async function listening(path?: string): Promise<{ port: number; count: () => number }> {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.end();
  });
  await new Promise<void>((resolve) =>
    path === undefined ? server.listen(0, '127.0.0.1', resolve) : server.listen(path, resolve),
  );
  onTestFinished(() => void server.close());
  const address = server.address();
  return { port: typeof address === 'object' ? (address?.port ?? 0) : 0, count: () => connections };
}

function sandboxed(options: Partial<SandboxOptions> & { files?: Record<string, string> } = {}) {
  const root = tempDirectory({ '.git/hooks/pre-commit.sample': '', '.git/config': '[core]\n', ...options.files });
  const latheHome = new LatheHome(tempDirectory());
  const runner = new CommandRunner(latheHome);
  const own = { roots: [root], latheHome, userHome: tempDirectory(), path: process.env['PATH'] ?? '' };
  const sandbox = new Sandbox({ mode: 'required', ...own, ...options });
  const run = async (command: string, rights: Partial<SandboxRights> = {}, signal = never) => {
    const wrap = await sandbox.prepare(root, { ...nothing, ...rights });
    const env = { ...childEnvironment(process.env), TMPDIR: '/tmp' };
    const result = await runner.run({ command, cwd: root, env, ...(wrap && { wrap }) }, { timeoutMs: 20_000, signal });
    return { ...result, text: result.output.text().trimEnd() };
  };
  return { run, root, sandbox, latheHome };
}

describe.skipIf(!hasProgram('bwrap'))('bubblewrap', () => {
  // SB01
  test('a command that only reads can read the workspace and change nothing in it', async () => {
    const { run, root } = sandboxed({ files: { a: 'text' } });
    const tries = [
      'cat a',
      'echo x > a',
      'touch b',
      'rm a',
      'mkdir .lathe',
      'touch .git/index',
      'mv a c',
      'touch /tmp/x',
    ];
    const { text } = await run(attempts(tries), { workspace: false });
    expect(text.split('\n')).toEqual(['cat a', 'touch /tmp/x']);
    expect(readdirSync(root).toSorted()).toEqual(['.git', 'a']);
  });

  test('the workspace is writable, and written files stay', async () => {
    const { run, root } = sandboxed();
    expect((await run('mkdir -p src && echo content > src/file && cat src/file')).text).toBe('content');
    expect(readFileSync(join(root, 'src/file'), 'utf8')).toBe('content\n');
  });

  test('a missing workspace directory is writable as soon as it exists', async () => {
    const [outside, root] = [outsideDirectory(), tempDirectory()];
    const extra = join(outside, 'extra');
    const { run } = sandboxed({ roots: [root, extra] });
    expect((await run(`mkdir ${extra}; echo went on`)).text).toMatch(
      /(?:Read-only file system|No such file or directory)\nwent on$/,
    );
    mkdirSync(extra);
    expect((await run(`echo content > ${extra}/file; cat ${extra}/file`)).text).toBe('content');
  });

  const writes = [
    'echo x > OUT/canary',
    'echo x >> OUT/existing',
    'cp /etc/hostname OUT/canary',
    'mv file OUT/canary',
    'ln -s /etc OUT/canary',
    'ln file OUT/canary',
    'mkdir OUT/canary',
    'mkfifo OUT/canary',
    'touch OUT/existing',
    'rm OUT/existing',
    'mv OUT/existing OUT/canary',
    'chmod 777 OUT/existing',
    'chown 1 OUT/existing',
    'truncate -s 0 OUT/existing',
    'dd if=/etc/hostname of=OUT/canary',
    'tee OUT/canary < file',
    'sed -i s/a/b/ OUT/existing',
    'install file OUT/canary',
    'tar cf OUT/canary.tar file',
    'ln -s OUT link && echo x > link/canary',
    'ln -s OUT/existing link && echo x > link',
    'cd OUT && echo x > canary',
    'echo x > /proc/self/root/OUT/canary',
    'echo x > /proc/self/cwd/../../../../../../../../OUT/canary',
    "node -e \"fs.writeFileSync('OUT/canary', 'x')\"",
    "python3 -c \"open('OUT/canary', 'w')\"",
    'perl -e "open(F, \'>OUT/canary\') or die"',
    'mount -o remount,rw /; echo x > OUT/canary',
    'mount --bind . OUT; echo x > OUT/canary',
    'unshare -Urm sh -c "mount -o remount,rw,bind / ; echo x > OUT/canary"',
    'bash -c "exec 9> OUT/canary"',
    'tar cf file.tar file && tar xf file.tar -C OUT --transform s/file/canary/',
    "printf '%s\\n' '--- /dev/null' '+++ b/canary' '@@ -0,0 +1 @@' '+x' | git -C OUT apply",
    'echo \'{"scripts":{"build":"touch OUT/canary"}}\' > package.json && npm run build',
  ];

  // SB01
  test(`none of ${writes.length} ways to write outside works`, async () => {
    const out = outsideDirectory();
    writeFileSync(join(out, 'existing'), 'abc');
    const { run } = sandboxed({ files: { file: 'abc' } });
    const script = writes.map((write, index) => {
      const command = write.replaceAll('/OUT', out).replaceAll('OUT', out).replaceAll('canary', `canary-${index}`);
      return `(${command}) >/dev/null 2>&1; rm -f link`;
    });
    await run(script.join('\n'));
    expect(readdirSync(out)).toEqual(['existing']);
    expect(readFileSync(join(out, 'existing'), 'utf8')).toBe('abc');
    expect(statSync(join(out, 'existing')).mode & 0o777).not.toBe(0o777);
  });

  const connections = [
    'echo > /dev/tcp/127.0.0.1/PORT',
    'echo > /dev/udp/127.0.0.1/PORT && echo > /dev/tcp/127.0.0.1/PORT',
    "node -e \"require('net').connect(PORT, '127.0.0.1').on('error', () => process.exit(1)).on('connect', () => process.exit(0))\"",
    'python3 -c "import socket; socket.create_connection((\'127.0.0.1\', PORT), 2)"',
    'curl -s http://127.0.0.1:PORT',
    'python3 -c "import socket; socket.create_connection((\'1.1.1.1\', 53), 2)"',
    'getent hosts example.com',
    'python3 -c "import socket; socket.socket(40, 1)"',
    'python3 -c "import socket; socket.socket(17, 3, 768)"',
    'python3 -c "import socket; socket.socket(38, 5)"',
    'ip link add dummy0 type dummy',
    'echo > /dev/tcp/localhost/PORT',
    'python3 -c "import socket; socket.create_connection((\'::1\', PORT), 2)"',
    'node -e "fetch(\'http://127.0.0.1:PORT\').then(() => process.exit(0), () => process.exit(1))"',
    'git ls-remote http://127.0.0.1:PORT/x',
    'wget -q -O- http://127.0.0.1:PORT',
    'ssh -o BatchMode=yes -o ConnectTimeout=2 -p PORT 127.0.0.1 true',
    'ping -c 1 -W 1 127.0.0.2 && echo > /dev/tcp/127.0.0.1/PORT',
    'perl -MIO::Socket::INET -e "IO::Socket::INET->new(\'127.0.0.1:PORT\') or die"',
    'nsenter -t 1 -n true',
  ];

  // SB02
  test(`none of ${connections.length} ways to the network works`, async () => {
    const { port, count } = await listening();
    const { run } = sandboxed();
    expect((await run(attempts(connections).replaceAll('PORT', `${port}`))).text).toBe('');
    expect(count()).toBe(0);
  });

  test('with the network right a command reaches the network', async () => {
    const { port } = await listening();
    const { run } = sandboxed();
    expect((await run(`echo > /dev/tcp/127.0.0.1/${port}`, { network: true })).ending).toEqual({
      type: 'exit',
      code: 0,
    });
  });

  test('loopback works inside', async () => {
    const { run } = sandboxed();
    const script =
      "const s=require('net').createServer(c=>c.end('hi')).listen(0,()=>require('net').connect(s.address().port).on('data',d=>{console.log(`${d}`);process.exit()}))";
    expect((await run(`node -e "${script.replaceAll('`', '\\`').replaceAll('$', '\\$')}"`)).text).toBe('hi');
  });

  // SB02, SD07
  test('sockets of other programs cannot be reached', async () => {
    const path = join(outsideDirectory(), 'control.sock');
    const { count } = await listening(path);
    const { run } = sandboxed();
    const connect = `node -e "require('net').connect('${path}').on('error', e => { console.log(e.code); process.exit(1) })"`;
    expect((await run(connect)).text).toBe('ENOENT');
    expect((await run(connect, { network: true })).text).toBe('ENOENT');
    expect((await run(connect, { home: true })).text).toMatch(/ECONNREFUSED|EACCES|ENOTSOCK/);
    expect(count()).toBe(0);
  });

  // SB10
  test('no privileges inside, and a system call filter', async () => {
    const { run } = sandboxed();
    const { text } = await run('grep -E "^(CapEff|CapBnd|NoNewPrivs|Seccomp):" /proc/self/status | tr -d "\\t "');
    expect(text.split('\n').toSorted()).toEqual([
      'CapBnd:0000000000000000',
      'CapEff:0000000000000000',
      'NoNewPrivs:1',
      'Seccomp:2',
    ]);
    const outer = ['pid', 'net', 'ipc', 'user', 'mnt'].map((kind) => readlinkSync(`/proc/self/ns/${kind}`));
    const inner = (await run('for n in pid net ipc user mnt; do readlink /proc/self/ns/$n; done')).text.split('\n');
    expect(inner.filter((namespace) => outer.includes(namespace))).toEqual([]);
  });

  test.each([
    'unshare -Ur true',
    'python3 -c "import ctypes; c = ctypes.CDLL(None, use_errno=True); raise SystemExit(0 if c.syscall(248, 1, 2, 3, 4, 5) >= 0 or ctypes.get_errno() != 1 else 1)"',
  ])('refused by the filter: %s', async (command) => {
    const { run } = sandboxed();
    expect((await run(command)).ending).not.toEqual({ type: 'exit', code: 0 });
  });

  test('no file gets a setuid or setgid bit, by whatever call', async () => {
    const { run, root } = sandboxed();
    const ways = [
      'cp /bin/true s && chmod 4755 s',
      'cp /bin/true g && chmod g+s g',
      'install -m 4755 /bin/true i',
      'python3 -c "import os; os.close(os.open(\'o\', os.O_CREAT | os.O_WRONLY, 0o4755))"',
      'python3 -c "import os; f = os.open(\'f\', os.O_CREAT | os.O_WRONLY); os.fchmod(f, 0o2755)"',
      'python3 -c "import os, stat; os.mknod(\'n\', stat.S_IFREG | 0o4755)"',
    ];
    for (const way of ways) await run(way);
    const bits = readdirSync(root).filter((name) => (statSync(join(root, name)).mode & 0o6000) !== 0);
    expect(bits).toEqual([]);
    expect((await run('touch plain && chmod 755 plain && stat -c %a plain')).text).toBe('755');
  });

  test('a file where a directory of secrets is expected stops no command', async () => {
    const userHome = outsideDirectory();
    for (const name of ['.gem', '.ssh', '.aws', '.config']) writeFileSync(join(userHome, name), 'a file');
    const { run } = sandboxed({ userHome });
    expect((await run('echo fine')).text).toBe('fine');
  });

  test.skipIf(process.getuid?.() !== 0)(
    'as root in a folder of another user, the message says why nothing can be written',
    async () => {
      const root = outsideDirectory();
      chownSync(root, 12_345, 12_345);
      const { run } = sandboxed({ roots: [root] });
      await expect(run('touch x')).rejects.toThrow('it belongs to the user with the id 12345');
      expect((await run('echo reads', { workspace: false })).text).toBe('reads');
    },
  );

  // SB12
  test('a command sees only descriptors 0 to 2 and its own processes', async () => {
    const { run } = sandboxed();
    expect((await run('ls /proc/self/fd')).text).toBe('0\n1\n2\n3');
    expect((await run('readlink /proc/self/fd/3 || echo none')).text).toBe('none');
    expect((await run(`ls -d /proc/${process.pid} 2>/dev/null || echo hidden`)).text).toBe('hidden');
  });

  test("keys and Lathe's own state are invisible", async () => {
    const userHome = outsideDirectory();
    const keys = {
      '.ssh/id_ed25519': 'planted key',
      '.aws/credentials': 'planted key',
      '.netrc': 'planted key',
      '.config/gh/hosts.yml': 'planted key',
      '.gnupg/private-keys-v1.d/a.key': 'planted key',
      '.docker/config.json': 'planted key',
      '.kube/config': 'planted key',
      '.git-credentials': 'planted key',
    };
    for (const [name, content] of Object.entries(keys)) {
      mkdirSync(dirname(join(userHome, name)), { recursive: true });
      writeFileSync(join(userHome, name), content);
    }
    const kept = outsideDirectory();
    const latheHome = new LatheHome(join(kept, 'lathe'));
    await latheHome.createFile(['sessions', 'secret'], 'planted key');
    const { run } = sandboxed({ userHome, latheHome });
    const { text } = await run(`grep -rhs planted ${userHome} ${kept}`);
    expect(text).toBe('');
  });

  const plants = [
    'mkdir .lathe',
    'mkdir -p .qwen && echo x > .qwen/settings.json',
    'echo x > .lathe/settings.json',
    'rmdir .lathe',
    'mv .lathe elsewhere',
    'ln -sfT /etc .qwen',
    'mkdir new && mv -T new .lathe',
  ];

  // SB06, SD03
  test('missing settings cannot be created', async () => {
    const { run, root } = sandboxed();
    expect((await run(attempts(plants))).text).toBe('');
    expect(readdirSync(root).toSorted()).toEqual(['.git', 'new']);
  });

  const changes = [
    'echo x > .git/hooks/pre-commit',
    'echo x >> .git/config',
    'git config core.hooksPath /tmp/x',
    'mv .git g',
    'rm -rf .git/hooks',
    'mv .git/hooks .git/h',
    'ln -sfT /tmp/x .git',
    'echo x > .vscode/tasks.json',
    'mv .vscode v',
    'rm -rf .vscode/tasks.json',
    'echo x > .npmrc',
    'sed -i s/a/b/ .envrc',
    'echo x > .github/workflows/ci.yml',
  ];

  // SB07
  test('existing protected files cannot be changed', async () => {
    const files = { '.vscode/tasks.json': 'abc', '.npmrc': 'abc', '.envrc': 'abc', '.github/workflows/ci.yml': 'abc' };
    const { run, root } = sandboxed({ files });
    expect((await run(attempts(changes))).text).toBe('');
    expect(readdirSync(root).toSorted()).toEqual(['.envrc', '.git', '.github', '.npmrc', '.vscode']);
    expect(readdirSync(join(root, '.git/hooks'))).toEqual(['pre-commit.sample']);
    expect(readFileSync(join(root, '.git/config'), 'utf8')).toBe('[core]\n');
    for (const [name, content] of Object.entries(files)) expect(readFileSync(join(root, name), 'utf8')).toBe(content);
  });

  const replacements = [
    'mv .github g',
    'rm -rf .github',
    'mv .gitea g && mkdir -p .gitea/workflows && echo x > .gitea/workflows/a.yml',
    'echo x > .gitea/workflows/a.yml',
    'echo x > .bundle/config',
    'mv .bundle b',
    'mv .local/share s',
    'mv .local l',
    'echo x > .local/share/systemd/a.service',
    'mv .git/info i',
    'echo x > .git/info/attributes',
    'mv .git/modules m',
    'mv .git/modules/foo m',
    'mv .git/modules/libs m',
    'mv .git/modules/libs/bar m',
    'echo x > .git/modules/libs/bar/config',
    'echo x > .git/modules/libs/bar/hooks/pre-commit',
    'echo x > .git/modules/foo/modules/inner/config',
    'mkdir .git/modules/foo/hooks/x',
    'mv .git/worktrees w',
    'mv .git/worktrees/wt w',
    'echo x > .git/worktrees/wt/commondir',
    'rm .git/worktrees/wt/gitdir',
  ];

  // SB07
  test('no parent directory of a protected file can be replaced', async () => {
    const names =
      '.github/workflows/ci.yml .gitea/workflows/a.yml .bundle/config .local/share/systemd/a.service .git/info/attributes ' +
      '.git/modules/foo/HEAD .git/modules/foo/config .git/modules/foo/modules/inner/config .git/modules/libs/bar/HEAD ' +
      '.git/modules/libs/bar/config .git/modules/libs/bar/hooks/a .git/worktrees/wt/commondir .git/worktrees/wt/gitdir ' +
      '.git/worktrees/wt/HEAD';
    const files = Object.fromEntries(names.split(' ').map((name) => [name, 'abc']));
    const { run, root } = sandboxed({ files });
    expect((await run(attempts(replacements))).text).toBe('');
    // Files that are not configuration may go: mv copies, and removes what it can.
    const obeyed = names.split(' ').filter((name) => !name.endsWith('HEAD'));
    for (const path of obeyed) expect([path, readFileSync(join(root, path), 'utf8')]).toEqual([path, 'abc']);
    expect((await run('echo x > .github/notes && echo x > .git/modules/foo/HEAD')).ending).toEqual({
      type: 'exit',
      code: 0,
    });
  });

  // SB07
  test('if there are too many submodules to protect, all of them are read-only', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 210 }, (_, index) => [`.git/modules/m${index}/config`, 'abc']),
    );
    const { run, root } = sandboxed({ files });
    await run('for f in .git/modules/*; do echo x > $f/config; done');
    expect(readFileSync(join(root, '.git/modules/m0/config'), 'utf8')).toBe('abc');
    expect(readFileSync(join(root, '.git/modules/m209/config'), 'utf8')).toBe('abc');
  });

  // SB06
  test('missing files that git would execute or read as configuration cannot be created', async () => {
    const { run, root } = sandboxed({ files: { '.git/modules/libs/bar/HEAD': '' } });
    rmSync(join(root, '.git/hooks'), { recursive: true });
    const planted = ['.git', '.git/modules/libs/bar'].flatMap((directory) =>
      ['hooks/pre-commit', 'config', 'config.worktree', 'commondir']
        .map((name) => `${directory}/${name}`)
        .filter((name) => name !== '.git/config'),
    );
    await run(planted.map((name) => `mkdir -p ${dirname(name)}; echo x > ${name}`).join('\n'));
    expect(planted.filter((name) => existsSync(join(root, name)))).toEqual([]);
    expect(readdirSync(join(root, '.git')).toSorted()).toEqual(['config', 'modules']);
  });

  // SB07
  test('commits work in submodules and worktrees', async () => {
    const { run, root } = sandboxed();
    rmSync(join(root, '.git'), { recursive: true });
    const setup = `
      export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_COUNT=3 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=A
      export GIT_CONFIG_KEY_1=user.email GIT_CONFIG_VALUE_1=a@b GIT_CONFIG_KEY_2=protocol.file.allow GIT_CONFIG_VALUE_2=always
      git init -q ../lib-$$ && git -C ../lib-$$ commit -qm lib --allow-empty
      git init -q && git submodule --quiet add ../lib-$$ libs/foo && mv ../lib-$$ lib && git commit -qm first && git worktree add -q wt`;
    const ready = spawn('bash', ['-ec', setup], { cwd: root, stdio: 'ignore' });
    expect(await once(ready, 'close')).toEqual([0, null]);
    const commit = 'git -c user.name=A -c user.email=a@b commit -q --allow-empty -m';
    const work = [
      `(cd libs/foo && ${commit} inner && git log -1 --format=%s)`,
      `(cd wt && echo a > a && git add a && ${commit} linked && git log -1 --format=%s)`,
      'git worktree add -q wt2 && git -C wt2 status --short',
      `${commit} outer && git log -1 --format=%s && git gc -q`,
    ];
    const { text, ending } = await run(work.join(' && '));
    expect([text, ending]).toEqual(['inner\nlinked\nouter', { type: 'exit', code: 0 }]);
  });

  test('keys stay invisible if the workspace is the home directory', async () => {
    const files = { '.ssh/id_ed25519': 'planted key', '.config/gh/hosts.yml': 'planted key', '.config/git/config': '' };
    const root = tempDirectory(files);
    const { run } = sandboxed({ roots: [root], userHome: root });
    expect((await run(`grep -rhs planted ${root}`)).text).toBe('');
    expect((await run(`ls -A ${root}`)).text).toContain('.config');
  });

  test('a commit is still possible', async () => {
    const { run, root } = sandboxed();
    rmSync(join(root, '.git'), { recursive: true });
    await new Promise((resolve) => spawn('git', ['init', '-q', root], { stdio: 'ignore' }).once('close', resolve));
    const commit =
      'echo a > a && git add a && git -c user.name=A -c user.email=a@b commit -qm first && git log --format=%s';
    expect((await run(commit)).text).toBe('first');
  });

  // SB08
  test('a symlink in the workspace allows no write outside', async () => {
    const out = outsideDirectory();
    const { run, root } = sandboxed();
    symlinkSync(out, join(root, 'out'));
    await run('echo x > out/canary');
    expect(readdirSync(out)).toEqual([]);
  });

  test('a name stays protected while another command that reserved it ends', async () => {
    const { run, root } = sandboxed();
    const long = run('sleep 0.5; mkdir .lathe/x .qwen/x; touch .lathe/y');
    await run('true');
    expect((await long).ending).not.toEqual({ type: 'exit', code: 0 });
    expect(readdirSync(root)).toEqual(['.git']);
  });

  test('placeholders are removed as soon as a command ends', async () => {
    const { run, root } = sandboxed();
    const { text } = await run('ls -d .lathe .qwen');
    expect([text, readdirSync(root)]).toEqual(['.lathe\n.qwen', ['.git']]);
  });

  // RS02
  test('a command that is aborted while its sandbox starts leaves no process and no placeholder behind', async () => {
    const { run, root } = sandboxed();
    await run('true');
    for (let ms = 0; ms < 30; ms += 3) {
      const result = await run('sleep 300 & sleep 300', {}, AbortSignal.timeout(ms));
      expect([result.ending, result.survivors]).toEqual([{ type: 'abort' }, []]);
      expect(readdirSync(root)).toEqual(['.git']);
    }
  });

  test('the right to files lifts the limits on writing, and only those', async () => {
    const out = outsideDirectory();
    const { run } = sandboxed();
    expect((await run(`echo x > ${out}/file`, { files: true })).ending).toEqual({ type: 'exit', code: 0 });
    expect(readdirSync(out)).toEqual(['file']);
    expect((await run('getent hosts example.com', { files: true })).ending).not.toEqual({ type: 'exit', code: 0 });
  });
});

const failing = {
  'is missing': undefined,
  fails: '#!/bin/sh\necho "bwrap: no permission" >&2\nexit 1\n',
  'is too old for our options': '#!/bin/sh\necho "bwrap: Unknown option $1" >&2\nexit 1\n',
  'is not a program': 'not a program\n',
  'is killed': '#!/bin/sh\nkill -KILL $$\n',
};

// SB04
test.each(Object.entries(failing))(
  'a sandbox program that %s is reported, and nothing runs if it is required',
  async (_, script) => {
    const directory = tempDirectory();
    if (script !== undefined) writeFileSync(join(directory, 'bwrap'), script, { mode: 0o755 });
    const latheHome = new LatheHome(tempDirectory());
    // What lies in a workspace is never taken, so that the real one is out of the way.
    const options = { roots: ['/usr'], latheHome, userHome: '/', path: directory, platform: 'linux' } as const;
    const required = new Sandbox({ ...options, mode: 'required' });
    expect((await required.status()).text).toMatch(/^Sandbox: not available, commands are refused \(.+\)$/s);
    await expect(required.prepare('/', nothing)).rejects.toMatchObject({ type: 'sandbox_unavailable' });
    const auto = new Sandbox({ ...options, mode: 'auto' });
    expect((await auto.status()).text).toMatch(/^Sandbox: not available, commands run without one \(.+\)$/s);
  },
);

// SB04
test('if the sandbox program passes the probe and fails later, the command does not run without it', async () => {
  const script =
    '#!/bin/sh\nfor last; do :; done\n[ "$last" = /bin/true ] || { echo "bwrap: no space" >&2; exit 1; }\n';
  const directory = tempDirectory();
  writeFileSync(join(directory, 'bwrap'), script, { mode: 0o755 });
  const latheHome = new LatheHome(tempDirectory());
  const cwd = tempDirectory();
  const sandbox = new Sandbox({ mode: 'required', roots: ['/usr', cwd], latheHome, userHome: '/', path: directory });
  const wrap = await sandbox.prepare(cwd, nothing);
  const request = { command: 'touch ran', cwd, env: childEnvironment(process.env), ...(wrap && { wrap }) };
  const result = await new CommandRunner(latheHome).run(request, { timeoutMs: 20_000, signal: never });
  expect(() => refuseBrokenSandbox(result)).toThrow('nothing was run: bwrap: no space');
  expect(readdirSync(cwd)).toEqual([]);
});

// SB04
test('a system without a sandbox is reported, and rejects commands only if the sandbox is required', async () => {
  const latheHome = new LatheHome(tempDirectory());
  const options = { roots: [], latheHome, userHome: '/', platform: 'aix' } as const;
  const required = new Sandbox({ ...options, mode: 'required' });
  expect(await required.status()).toEqual({
    kind: 'none',
    text: 'Sandbox: not available, commands are refused (there is none for aix)',
  });
  await expect(required.prepare('/', nothing)).rejects.toMatchObject({ type: 'sandbox_unavailable' });
  const auto = new Sandbox({ ...options, mode: 'auto' });
  expect((await auto.status()).text).toBe('Sandbox: not available, commands run without one (there is none for aix)');
  expect(await auto.prepare('/', nothing)).toBeUndefined();
  expect((await new Sandbox({ ...options, mode: 'off' }).status()).text).toBe('Sandbox: off');
});

// SB04
test.skipIf(!hasProgram('bwrap'))(
  'if the kernel allows no namespaces, no command runs without the sandbox',
  async () => {
    const script = await bundleText(`
      import { Sandbox } from '${import.meta.dirname}/sandbox.ts';
      import { LatheHome } from '${import.meta.dirname}/../../files/lathe-home.ts';
      const sandbox = new Sandbox({ mode: 'required', roots: [], latheHome: new LatheHome(process.argv[2]), userHome: '/' });
      console.log((await sandbox.status()).text);
      await sandbox.prepare('/', { workspace: true, network: false, home: false, files: false, secrets: false }).catch((error) => console.log(error.type));
    `);
    const setup = 'echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --bounding-set=-all --inh-caps=-all "$@"';
    const child = spawn('unshare', ['-Ur', 'sh', '-c', setup, 'sh', process.execPath, script, tempDirectory()]);
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    await once(child, 'close');
    expect(said).toMatch(/^Sandbox: not available, commands are refused \(.+\)\nsandbox_unavailable\n$/s);
  },
);
