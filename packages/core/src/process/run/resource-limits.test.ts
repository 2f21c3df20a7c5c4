import { expect, test } from 'vitest';
import { hasProgram } from '../../../../../testing/programs.js';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { LatheHome } from '../../files/lathe-home.js';
import { Sandbox } from '../sandbox/sandbox.js';
import { type ResourceLimits, setLimits, usualLimits } from './contained-program.js';
import { childEnvironment } from './environment.js';
import { CommandRunner } from './run-command.js';

const rights = { workspace: true, network: false, home: false, files: false, secrets: false };

async function limited(command: string, limits?: ResourceLimits) {
  const root = tempDirectory();
  const latheHome = new LatheHome(tempDirectory());
  const sandbox = new Sandbox({ mode: 'required', roots: [root], latheHome, userHome: tempDirectory() });
  const wrap = await sandbox.prepare(root, rights);
  const request = { command, cwd: root, env: childEnvironment(process.env), ...(wrap && { wrap }) };
  const runner = new CommandRunner(latheHome, { ...(limits && { limits }) });
  const result = await runner.run(request, { timeoutMs: 20_000, signal: new AbortController().signal });
  await sandbox.close();
  return result.output.text().trimEnd();
}

const show = 'ulimit -u; ulimit -d; ulimit -f; cat /proc/self/oom_score_adj';

test.skipIf(!hasProgram('bwrap'))('a sandboxed command runs within limits, and none can be raised again', async () => {
  expect(await limited(show)).toBe('4096\nunlimited\n16777216\n1000');
  const limits = { processes: 100, memoryMb: 64, fileMb: 1 };
  expect(await limited(show, limits)).toBe('100\n65536\n1024\n1000');
  const allocate = 'node -e "Buffer.alloc(2e8, 1)" >/dev/null 2>&1; echo $?';
  expect(await limited(allocate, { ...limits, fileMb: -1, memoryMb: 4096 })).toBe('0');
  expect(await limited(allocate, limits)).not.toBe('0');
  expect(await limited('head -c 3000000 /dev/zero > large; stat -c %s large', limits)).toMatch(
    /File size limit exceeded.*\n1048576$/,
  );
  expect(await limited('ulimit -f unlimited 2>&1 | grep -o "Operation not permitted"', limits)).toBe(
    'Operation not permitted',
  );
});

test('a limit of -1 is none', () => {
  expect(setLimits({ processes: -1, memoryMb: -1, fileMb: -1 })).toBe(
    '{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null; ',
  );
  expect(setLimits(usualLimits)).toContain('ulimit -u 4096; ulimit -f 16777216;');
});
