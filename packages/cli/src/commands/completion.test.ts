import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { buildProgram } from '../../../../testing/lathe-program.js';
import { hasProgram } from '../../../../testing/programs.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';

const program = join(import.meta.dirname, '..', '..', 'dist', 'main.cjs');

beforeAll(buildProgram, 300_000);

const shells = [
  { shell: 'bash', args: ['--norc', '-i'], setup: 'PS1="> "; source <(lathe completion bash)' },
  {
    shell: 'zsh',
    args: ['-f', '-i'],
    setup: 'PS1="> "; autoload -U compinit && compinit -u -D; source <(lathe completion zsh)',
  },
  { shell: 'fish', args: ['--no-config', '-i'], setup: 'lathe completion fish | source' },
];

describe.each(shells)('$shell', ({ shell, args, setup }) => {
  test.skipIf(!hasProgram(shell))(
    'completes commands, flags, their values, tool names and servers',
    async () => {
      const complete = await startShell(shell, args, setup);
      const lines = {
        'lathe doc': 'lathe doctor',
        'lathe --appr': 'lathe --approval-mode',
        'lathe --approval-mode pl': 'lathe --approval-mode plan',
        'lathe call read_m': 'lathe call read_many_files',
        'lathe mcp rem': 'lathe mcp remove',
        'lathe mcp remove me': 'lathe mcp remove mem',
        'lathe clean sp': 'lathe clean spill',
        'lathe audit --den': 'lathe audit --denied',
      };
      for (const [typed, expected] of Object.entries(lines))
        expect(await complete(typed, expected)).toContain(expected);
      for (const [columns, rows] of [
        [120, 40],
        [80, 24],
        [60, 18],
      ] as const)
        expect(await complete('lathe mcp remove me', 'remove mem', { columns, rows })).toContain('remove mem');
    },
    60_000,
  );
});

/** A real shell in a real terminal. Returns a function that types a line and Tab, and waits for what it becomes. */
async function startShell(shell: string, args: string[], setup: string) {
  const bin = tempDirectory();
  symlinkSync(program, join(bin, 'lathe'));
  const settings = JSON.stringify({ mcpServers: { mem: { command: 'mem-server' } } });
  const home = tempDirectory({ '.lathe/settings.json': settings });
  const env = { PATH: `${bin}:${process.env['PATH']}`, HOME: home, TERM: 'dumb', LANG: 'C.UTF-8' };
  const child = spawn(shell, args, { cols: 120, rows: 30, cwd: bin, env });
  onTestFinished(() => child.kill('SIGKILL'));
  let output = '';
  child.onData((data) => {
    output += data;
  });
  const shows = async (wanted: string) => {
    await vi.waitUntil(() => output.includes(wanted), { timeout: 25_000, interval: 30 });
    return output;
  };
  child.write(`${setup}; echo "rea""dy"\r`);
  await shows('ready');
  return async (line: string, expected: string, size?: { columns: number; rows: number }) => {
    if (size) child.resize(size.columns, size.rows);
    output = '';
    child.write(`${line}\t`);
    const shown = await shows(expected);
    // Empties the line.
    child.write('\x15');
    return shown;
  };
}
