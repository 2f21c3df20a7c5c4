import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildProgram } from '../../../../testing/lathe-program.js';
import { hasProgram } from '../../../../testing/programs.js';
import { tempDirectory } from '../../../../testing/temp-directory.js';

const program = join(import.meta.dirname, '..', '..', 'dist', 'main.js');

beforeAll(buildProgram, 300_000);

test.skipIf(!hasProgram('bash'))(
  'bash completes commands, flags, their values, tool names and servers',
  () => {
    const bin = tempDirectory();
    const settings = JSON.stringify({ mcpServers: { mem: { command: 'mem-server' } } });
    const home = tempDirectory({ '.lathe/settings.json': settings });
    symlinkSync(program, join(bin, 'lathe'));
    const env = { PATH: `${bin}:${process.env['PATH']}`, HOME: home };
    const complete = (...words: string[]) => {
      const script = `source <(lathe completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _lathe; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const output = execFileSync('bash', ['-c', script, 'bash', 'lathe', ...words], {
        env,
        cwd: bin,
        encoding: 'utf8',
      });
      return output.trim().split('\n');
    };
    expect(complete('do')).toEqual(['doctor']);
    expect(complete('--appr')).toEqual(['--approval-mode']);
    expect(complete('--approval-mode', 'pl')).toEqual(['plan']);
    expect(complete('call', 'read_')).toEqual(['read_file', 'read_many_files']);
    expect(complete('mcp', 're')).toEqual(['remove']);
    expect(complete('mcp', 'remove', '')).toEqual(['mem']);
  },
  60_000,
);
