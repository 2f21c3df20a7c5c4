import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import { LatheClient } from '../packages/agent/src/client/index.js';
import { modelVariables } from './lathe-program.js';
import { type ModelServer, modelServer, type ServerScript } from './model-server.js';
import { tempDirectory } from './temp-directory.js';

export interface AgentServer {
  client: LatheClient;
  /** The whole line: address and token. */
  url: URL;
  token: string;
  cwd: string;
  home: string;
  model: ModelServer;
  child: ChildProcess;
  stop: () => Promise<void>;
}

export interface AgentServerOptions {
  cwd?: string;
  home?: string;
  /** Flags of lathe itself. */
  flags?: string[];
  env?: Record<string, string>;
}

/** `lathe serve --agent` in a process of its own, with a scripted model. */
export async function agentServer(script: ServerScript, options: AgentServerOptions = {}): Promise<AgentServer> {
  const { cwd = tempDirectory(), home = tempDirectory(), flags = [], env = {} } = options;
  const model = await modelServer(script);
  const program = join(import.meta.dirname, '../packages/cli/dist/main.cjs');
  const child = spawn(process.execPath, [program, ...flags, 'serve', '--agent'], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, ...modelVariables('openai', model.url), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  };
  onTestFinished(stop);
  let said = '';
  child.stdout.on('data', (data) => (said += data));
  child.stderr.on('data', (data) => (said += data));
  const line = () => /^lathe: serving (\S+)$/m.exec(said)?.[1] ?? expect.fail(`not listening yet: ${said}`);
  const url = new URL(await vi.waitFor(line, { timeout: 20_000 }));
  return {
    client: new LatheClient({ url }),
    url,
    token: url.hash.slice('#token='.length),
    cwd,
    home,
    model,
    child,
    stop,
  };
}
