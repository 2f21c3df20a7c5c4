import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { buildProgram, runProgram } from '../../../../testing/lathe-program.js';
import { mcpClient, program } from '../../../../testing/mcp-client.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';

beforeAll(buildProgram, 300_000);

const secret = 'a-token-of-more-than-32-characters!!';

/** Starts `lathe serve --http`; returns its address and what it said. */
async function served(cwd: string, args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [program, 'serve', '--http', ...args], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: cwd, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const stop = async () => {
    if (child.exitCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  };
  onTestFinished(stop);
  let said = '';
  child.stderr.on('data', (data) => (said += data));
  const find = () => /serving (\S+)\n.*\n/.exec(said)?.[1] ?? expect.fail(`not listening yet: ${said}`);
  return { url: new URL(await vi.waitFor(find, { timeout: 20_000 })), said: () => said, stop };
}

async function toolNames(url: URL, token: string): Promise<string[]> {
  const client = mcpClient();
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  const { tools } = await client.listTools();
  await client.close();
  return tools.map(({ name }) => name);
}

test('a token file is written once, private, and its token stays valid from start to start', async () => {
  const cwd = tempDirectory();
  const first = await served(cwd, ['--token-file', 'token']);
  const file = join(cwd, 'token');
  const token = readFileSync(file, 'utf8').trim();
  expect([statSync(file).mode & 0o777, first.said().includes(token)]).toEqual([0o600, false]);
  expect(first.said()).toContain(`Bearer and the token of ${file}`);
  expect(readdirSync(cwd).filter((name) => name.startsWith('token'))).toEqual(['token']);
  await first.stop();
  const second = await served(cwd, ['--token-file', 'token', '--tools', 'read_file,glob']);
  expect(await toolNames(second.url, token)).toEqual(['read_file', 'glob']);
});

test('the token may come from the environment, and a wrong one is refused', async () => {
  const { url, said } = await served(tempDirectory(), [], { LATHE_SERVE_TOKEN: secret });
  expect(said()).not.toContain(secret);
  expect(await toolNames(url, secret)).toContain('read_file');
  await expect(toolNames(url, `${secret}x`)).rejects.toThrow(/401|token/i);
});

test.each([
  ['others can read the file', ['--token-file', 'open'], /Others may read .*open: run chmod 600/],
  ['the file is a symlink', ['--token-file', 'link'], /link is a symlink/],
  ['the file is a directory', ['--token-file', 'folder'], /folder is not a regular file/],
  ['the file is empty', ['--token-file', 'empty'], /must be 32 to 1,024/],
  ['the folder of the file is missing', ['--token-file', 'no/such/token'], /ENOENT/],
  ['a tool does not exist', ['--tools', 'read_file,nothing'], /There is no tool to serve named nothing/],
  ['a tool needs an agent', ['--tools', 'task'], /task cannot be served: it needs an agent/],
])('lathe serve does not start when %s', async (_why, args, message) => {
  const cwd = tempDirectory({ open: secret, empty: '', 'folder/x': '' });
  chmodSync(join(cwd, 'open'), 0o644);
  chmodSync(join(cwd, 'empty'), 0o600);
  symlinkSync('empty', join(cwd, 'link'));
  const { code, stderr } = await runProgram(['serve', '--http', ...args], { cwd, home: cwd });
  expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
});

test('a token file is of no use without --http', async () => {
  const cwd = tempDirectory();
  const { code, stderr } = await runProgram(['serve', '--token-file', 'token'], { cwd, home: cwd });
  expect([code, stderr, existsSync(join(cwd, 'token'))]).toEqual([2, expect.stringContaining('needs --http'), false]);
});
