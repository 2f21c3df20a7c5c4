import { execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { gitRepository, resultsIn, write } from '../../../testing/fleet.js';
import { makeHosts } from '../../../testing/hosts.js';
import { buildProgram, modelVariables } from '../../../testing/lathe-program.js';
import { modelServer } from '../../../testing/model-server.js';
import { hasRedis, startRedis } from '../../../testing/queue-servers.js';
import { tempDirectory } from '../../../testing/temp-directory.js';

const main = join(import.meta.dirname, '../../cli/dist/main.cjs');
beforeAll(() => buildProgram(), 300_000);

/** The commands of docs/fleet.md, with what the reader fills in. */
function commandsOfThePage(values: Record<string, string>): string[][] {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/fleet.md'), 'utf8');
  const [, block = ''] = /```sh\n(lathe fleet key[\s\S]*?)```/.exec(page) ?? [];
  const lines = block.trim().split('\n');
  return lines.map((line) =>
    line
      .replace(/\s+#.*/, '')
      .replace(/trust (\w+) .*/, (_, name: string) => `trust ${name} ${values[name]}`)
      .replace('redis://queue:6379', values['queue'] ?? '')
      .split(' ')
      .slice(1),
  );
}

test.skipIf(!hasRedis || process.getuid?.() !== 0)(
  'two machines in five commands, as the page says',
  async () => {
    const hosts = makeHosts(2);
    if (!hosts) throw new Error('no network namespaces could be made');
    onTestFinished(() => hosts.close());
    const queue = await startRedis(hosts.address);
    onTestFinished(() => queue.close());
    const model = await modelServer(
      [({ body }) => (resultsIn(body) > 0 ? { text: 'Done.' } : write(body, 'made.txt'))],
      { host: hosts.address },
    );
    const homes = [tempDirectory(), tempDirectory()];
    const start = (machine: number, args: string[], cwd: string, more: Record<string, string> = {}) => {
      const [program = '', ...rest] = [...(hosts.prefixes[machine] ?? []), process.execPath, main, ...args];
      const env = { PATH: process.env['PATH'] ?? '', HOME: homes[machine], ...more };
      return { program, rest, options: { cwd, env } };
    };
    const lathe = (machine: number, args: string[], cwd = homes[machine] ?? '') => {
      const { program, rest, options } = start(machine, args, cwd);
      return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) =>
        execFile(program, rest, options, (error, stdout, stderr) =>
          resolve({ code: error?.code ?? 0, stdout, stderr }),
        ),
      );
    };
    const [yours, workers] = [0, 1];
    const [key = []] = commandsOfThePage({});
    const alice = (await lathe(yours, key)).stdout.trim();
    const worker1 = (await lathe(workers, key)).stdout.trim();
    const [, trustWorker = [], trustAlice = [], worker = [], run = []] = commandsOfThePage({
      alice,
      worker1,
      queue: queue.url,
    });
    expect(await lathe(yours, trustWorker)).toMatchObject({ code: 0 });
    expect(await lathe(workers, trustAlice)).toMatchObject({ code: 0 });
    const { program, rest, options } = start(
      workers,
      worker,
      homes[workers] ?? '',
      modelVariables('openai', model.url),
    );
    const child = spawn(program, rest, { ...options, stdio: 'ignore' });
    onTestFinished(() => void child.kill('SIGKILL'));
    const cwd = gitRepository({
      'services/api/a.txt': 'a\n',
      'tasks.jsonl': '{"id":"api-1","prompt":"make a file","cwd":"services/api","mode":"auto-edit"}\n',
    });
    const ran = await lathe(yours, run, cwd);
    expect(ran).toMatchObject({ code: 0, stdout: '' });
    expect(JSON.parse(readFileSync(join(cwd, 'results.jsonl'), 'utf8'))).toMatchObject({
      id: 'api-1',
      status: 'success',
      files: ['services/api/made.txt'],
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGINT');
    expect(await ended).toBe(130);
  },
  180_000,
);
