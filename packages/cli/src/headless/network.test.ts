import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildProgram, modelVariables } from '../../../../testing/lathe-program.js';
import { modelServer } from '../../../../testing/model-server.js';
import { hasProgram } from '../../../../testing/programs.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';

beforeAll(buildProgram, 300_000);

const program = join(import.meta.dirname, '../../dist/main.cjs');

/** The network use of the program and its children: connected addresses and `listen` calls. */
async function traced(args: readonly string[], { cwd, env }: { cwd: string; env: Record<string, string> }) {
  const home = tempDirectory();
  const log = join(home, 'trace');
  const tracer = ['-f', '-qq', '-e', 'trace=connect,listen,sendto', '-o', log, process.execPath, program, ...args];
  const child = spawn('strace', tracer, { cwd, env: { PATH: process.env['PATH'] ?? '', HOME: home, ...env } });
  child.stdin.end();
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  const [code] = await once(child, 'close');
  const lines = readFileSync(log, 'utf8').split('\n');
  const address = /sin6?_port=htons\((\d+)\).*?(?:inet_addr\("|inet_pton\(AF_INET6, ")([^"]+)/;
  const reached = lines.flatMap((line) => {
    const [, port, host] = address.exec(line) ?? [];
    return port === undefined ? [] : [`http://${host}:${port}`];
  });
  return { code, output, reached: new Set(reached), listening: lines.filter((line) => line.includes('listen(')) };
}

// SL03, SL09
test.skipIf(!hasProgram('strace'))(
  'a session connects only to its model and opens no port',
  async () => {
    const cwd = tempDirectory({ 'a.txt': 'alpha\n' });
    const read = { name: 'read_file', args: { absolute_path: join(cwd, 'a.txt') } };
    const shell = { name: 'run_shell_command', args: { command: 'cat a.txt' } };
    const server = await modelServer([{ calls: [read, shell] }, { text: 'It is alpha.' }]);
    const env = modelVariables('openai', server.url);
    expect(await traced(['-p', 'what is in a.txt?'], { cwd, env })).toEqual({
      code: 0,
      output: 'It is alpha.\n',
      reached: new Set([server.url]),
      listening: [],
    });
  },
  // Tracing slows every step down.
  120_000,
);

// SL03, SL09
test
  .skipIf(!hasProgram('strace'))
  .each([
    [['--version']],
    [['tools']],
    [['call', 'list_directory', '{"path":"."}']],
    [['sessions']],
    [['mcp', 'list']],
  ])('%j touches no network', async (args) => {
  const { reached, listening } = await traced(args, { cwd: tempDirectory({ 'a.txt': '' }), env: {} });
  expect([...reached, ...listening]).toEqual([]);
});
