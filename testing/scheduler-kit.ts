import type { Approver } from '../packages/core/src/contract/call.js';
import { Policy, type PolicyOptions } from '../packages/core/src/policy/policy.js';
import { Scheduler, type SchedulerOptions } from '../packages/core/src/scheduler/scheduler.js';
import { ToolRegistry } from '../packages/core/src/tools/tool-registry.js';
import type { AnyTool } from '../packages/core/src/tools/tools.js';

const bases = { home: '/home/me', root: '/project', cwd: '/project' };

export function policyOf(options: Partial<PolicyOptions> & Partial<PolicyOptions['rules']> = {}): Policy {
  const { allow = [], ask = [], deny = [], ...rest } = options;
  return new Policy({ mode: 'default', rules: { allow, ask, deny }, bases, ...rest });
}

/** An approver that must not be asked. */
export const nobody: Approver = {
  decide: async ({ tool }) => {
    throw new Error(`nobody expected to be asked about ${tool}`);
  },
};

export const yes: Approver = { decide: async () => ({ outcome: 'once' }) };

/** A scheduler over these tools; spilled text is kept in `spilled`. */
export function schedulerOf(tools: AnyTool[], options: Partial<SchedulerOptions> = {}) {
  const registry = new ToolRegistry();
  for (const tool of tools) registry.registerTool(tool);
  const spilled = new Map<string, string>();
  const spill = async (name: string, text: string) => {
    spilled.set(name, text);
    return `/spill/${name}`;
  };
  const scheduler = new Scheduler({ registry, policy: policyOf(), approver: nobody, spill, ...options });
  return { registry, scheduler, spilled };
}
