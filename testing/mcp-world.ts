import { onTestFinished } from 'vitest';
import type { Approver } from '../packages/core/src/contract/call.js';
import { LatheHome } from '../packages/core/src/files/lathe-home.js';
import { TokenStore } from '../packages/core/src/mcp/auth/token-store.js';
import { createMcp, type McpOptions } from '../packages/core/src/mcp/client/create-mcp.js';
import type { ServerDefinition } from '../packages/core/src/mcp/client/server-definition.js';
import { DefinitionPins } from '../packages/core/src/policy/definition-pins.js';
import type { PolicyOptions } from '../packages/core/src/policy/policy.js';
import type { ProgramRequest } from '../packages/core/src/process/run/contained-program.js';
import { CommandRunner } from '../packages/core/src/process/run/run-command.js';
import { denyAll } from '../packages/core/src/scheduler/approve.js';
import { Scheduler } from '../packages/core/src/scheduler/scheduler.js';
import type { AnyTool } from '../packages/core/src/tools/tools.js';
import { policyOf, schedulerOf } from './scheduler-kit.js';
import { tempDirectory } from './temp-directory.js';

const never = new AbortController().signal;

export interface WorldOptions extends Partial<Pick<McpOptions, 'gate' | 'handlers' | 'env' | 'openPage'>> {
  home?: string;
  tools?: AnyTool[];
  approver?: Approver;
  policy?: Parameters<typeof policyOf>[0] & Partial<PolicyOptions>;
}

/** Servers with a registry and schedulers over their tools; everything ends with the test. */
export function mcpWorld(servers: ServerDefinition[], options: WorldOptions = {}) {
  const home = new LatheHome(options.home ?? tempDirectory());
  const runner = new CommandRunner(home);
  const pids: number[] = [];
  const { registry } = schedulerOf(options.tools ?? []);
  const { gate, handlers, openPage, env = { PATH: process.env['PATH'] ?? '' } } = options;
  const sources = createMcp({
    servers,
    root: '/',
    roots: ['/'],
    runner: {
      startProgram: async (request: ProgramRequest) => {
        const program = await runner.startProgram(request);
        pids.push(program.pid);
        return program;
      },
    },
    env,
    pins: new DefinitionPins(home),
    tokens: new TokenStore(home),
    onTools: (label, tools) => registry.replaceTools(label, tools),
    ...(gate && { gate }),
    ...(handlers && { handlers }),
    ...(openPage && { openPage }),
  });
  for (const source of sources) registry.addSource(source);
  // A queue of its own for each call: one queue runs calls that may change something one after the other.
  const run = async (name: string, args: Record<string, unknown> = {}, signal = never) => {
    const { approver = denyAll, policy } = options;
    const scheduler = new Scheduler({ registry, policy: policyOf(policy), approver, spill: async () => '' });
    return (await scheduler.run([{ id: name, name, args }], signal))[0];
  };
  const close = () => Promise.all(sources.map(({ client }) => client.close()));
  onTestFinished(async () => void (await close()));
  return { registry, run, sources, pids, close, home, discover: () => registry.discover(never) };
}
