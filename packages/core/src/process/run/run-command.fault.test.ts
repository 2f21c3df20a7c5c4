import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { bundleChild } from '../../../../../testing/bundle.js';
import { hasProgram } from '../../../../../testing/programs.js';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { canInject, runWithFault } from '../../../../../testing/thread-fault.js';
import { LatheHome } from '../../files/lathe-home.js';
import { reportOn } from './command-report.js';
import { childEnvironment } from './environment.js';
import { CommandRunner } from './run-command.js';

// RS07
test.skipIf(!canInject).each(['EAGAIN', 'ENOMEM'])(
  'a spawn that fails with %s gives a typed error',
  { timeout: 120_000 },
  async (errno) => {
    const script = await bundleChild('run-command');
    const run = async (inject?: string) =>
      (await runWithFault(script, [tempDirectory()], inject === undefined ? {} : { inject })).answer;
    expect(await run()).toEqual({ status: 'ran' });
    expect(await run(`clone,clone3,fork,vfork:error=${errno}`)).toEqual({
      status: 'failed',
      type: 'shell_execute_error',
      message: expect.stringContaining(errno),
    });
  },
);

const isRoot = process.getuid?.() === 0;
const canStick = isRoot && existsSync('/dev/fuse') && ['python3', 'unshare', 'nsenter'].every(hasProgram);
const stuckFileSystem = join(import.meta.dirname, '../../../../../testing/children/stuck-file-system.py');

// RS14
test.skipIf(!canStick)(
  'a process that the kernel cannot kill is named, and the call does not wait for it',
  async () => {
    const place = tempDirectory();
    // In a namespace of its own, where nobody else can run into it.
    const daemon = spawn('unshare', ['--mount', '--propagation=private', 'python3', stuckFileSystem, place]);
    onTestFinished(() => void daemon.kill());
    await once(daemon.stdout, 'data');

    const runner = new CommandRunner(new LatheHome(tempDirectory()));
    const command = `nsenter --mount=/proc/${daemon.pid}/ns/mnt stat ${place}/file`;
    const request = { command, cwd: tempDirectory(), env: childEnvironment(process.env) };
    const result = await runner.run(request, { timeoutMs: 3_000, signal: new AbortController().signal });
    const [stuck] = result.survivors;
    expect(result.survivors).toHaveLength(1);
    const { text } = reportOn(result, { command, directory: '(root)', lastWords: ['stat', `${place}/file`] });
    expect(text).toContain(`Command timed out after 3000 ms. Could not kill process ${stuck}.`);

    daemon.kill();
    await vi.waitFor(() => expect(existsSync(`/proc/${stuck}`)).toBe(false), { timeout: 60_000 });
  },
  120_000,
);
