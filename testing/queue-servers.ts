import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { appendFileSync, chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** A server behind a fleet, on loopback. */
export interface QueueServer {
  url: string;
  /** Ends it at once, as a power failure would. */
  kill(): Promise<void>;
  /** Starts it again with the same data. */
  start(): Promise<void>;
  /** All its data as text, to look for what must not be there. */
  dump(): Promise<string>;
  /** Ends it and removes its data. */
  close(): Promise<void>;
}

export const hasRedis = existsSync('/usr/bin/redis-server');
const postgresPrograms = existsSync('/usr/lib/postgresql')
  ? readdirSync('/usr/lib/postgresql').map((version) => `/usr/lib/postgresql/${version}/bin`)
  : [];
export const hasPostgres = postgresPrograms.length > 0;

/** A real Redis that writes every change to disk. */
export async function startRedis(host = '127.0.0.1', env: Record<string, string> = {}): Promise<QueueServer> {
  const directory = mkdtempSync(join(tmpdir(), 'lathe-redis-'));
  const port = await freePort();
  const args = ['--port', String(port), '--bind', host, '--protected-mode', 'no', '--dir', directory, '--save', ''];
  args.push('--appendonly', 'yes', '--appendfsync', 'always');
  return serve(`redis://${host}:${port}`, { host, port, directory }, () =>
    spawn('redis-server', args, { stdio: 'ignore', env: { ...process.env, ...env } }),
  );
}

/** A real PostgreSQL. It refuses to run as root, so there it runs as its own user. */
export async function startPostgres(host = '127.0.0.1'): Promise<QueueServer> {
  const programs = postgresPrograms.at(-1) ?? '';
  const directory = mkdtempSync(join(tmpdir(), 'lathe-postgres-'));
  const isRoot = process.getuid?.() === 0;
  const asUser = isRoot ? ['runuser', '-u', 'postgres', '--'] : [];
  if (isRoot) chownSync(directory, Number(execFileSync('id', ['-u', 'postgres'])), 0);
  chmodSync(directory, 0o700);
  const data = join(directory, 'data');
  const run = (...command: string[]) => [...asUser, ...command];
  const [initdb = '', ...rest] = run(join(programs, 'initdb'), '-D', data, '-U', 'lathe', '-A', 'trust', '--no-sync');
  execFileSync(initdb, rest, { stdio: 'ignore', cwd: directory });
  const port = await freePort();
  const [program = '', ...args] = run(
    join(programs, 'postgres'),
    '-D',
    data,
    '-p',
    String(port),
    '-h',
    host,
    '-k',
    directory,
  );
  appendFileSync(join(data, 'pg_hba.conf'), `host all all ${host}/24 trust\n`);
  const url = `postgres://lathe@${host}:${port}/postgres`;
  const launch = () => spawn(program, args, { stdio: 'ignore', cwd: directory, detached: true });
  // It listens before it answers.
  const isReady = () => spawnSync(join(programs, 'pg_isready'), ['-q', '-d', url]).status === 0;
  const server = await serve(url, { host, port, directory }, launch, isReady);
  // Its files hold long values compressed.
  const tables = () => execFileSync(join(programs, 'pg_dump'), [url], { encoding: 'utf8', maxBuffer: 1 << 30 });
  return { ...server, dump: async () => `${await server.dump()}\n${tables()}` };
}

async function serve(
  url: string,
  { host, port, directory }: { host: string; port: number; directory: string },
  launch: () => ChildProcess,
  isReady = () => true,
): Promise<QueueServer> {
  let child: ChildProcess | undefined;
  const server: QueueServer = {
    url,
    async start() {
      child = launch();
      await isListening(host, port);
      for (let tries = 0; tries < 600 && !isReady(); tries++) await wait(50);
    },
    async kill() {
      const ended = child && new Promise((resolve) => child?.once('exit', resolve));
      if (child?.pid !== undefined) kill(child.pid, child.spawnfile.endsWith('redis-server') ? 'SIGKILL' : 'SIGQUIT');
      await ended;
      child = undefined;
    },
    async dump() {
      const texts: string[] = [];
      const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
      for (const { parentPath, name } of files)
        texts.push(await readFile(join(parentPath, name), 'latin1').catch(() => ''));
      return texts.join('\n');
    },
    async close() {
      if (child) await server.kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  await server.start();
  return server;
}

/** PostgreSQL is started through a wrapper, whose group ends with it. */
function kill(pid: number, signal: 'SIGKILL' | 'SIGQUIT'): void {
  try {
    process.kill(signal === 'SIGQUIT' ? -pid : pid, signal);
  } catch {
    // It has ended.
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

async function isListening(host: string, port: number): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, host, () => {
        socket.destroy();
        resolve(true);
      });
      socket.on('error', () => resolve(false));
    });
    if (isOpen) return;
    await wait(50);
  }
  throw new Error(`nothing listens on port ${port}`);
}
