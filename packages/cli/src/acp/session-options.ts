import type { SessionConfigOption, SessionModeState } from '@agentclientprotocol/sdk';
import type { AgentLathe, Session } from '@lathe/agent';
import { visibleText } from '@lathe/core/host';
import { approvalModes, efforts } from '../command-line/args.js';

type Mode = (typeof approvalModes)[number];

const modeTexts: Record<Mode, { name: string; description: string }> = {
  plan: { name: 'Plan', description: 'Only calls that change nothing run' },
  default: { name: 'Ask', description: 'Asks before changes and commands, as your rules say' },
  'auto-edit': { name: 'Edit', description: 'Edits files without asking, asks before commands' },
  yolo: { name: 'Yolo', description: 'Runs everything that no rule denies' },
};

/** The approval modes, as modes of the editor. */
export function modeState({ policy }: Pick<AgentLathe, 'policy'>): SessionModeState {
  return { currentModeId: policy.mode, availableModes: approvalModes.map((id) => ({ id, ...modeTexts[id] })) };
}

/** The level of effort when the provider decides. */
export const anyEffort = 'default';

/** What an editor can choose for a session: mode, model, effort. */
export function configOptions(
  { policy }: Pick<AgentLathe, 'policy'>,
  { agent }: Pick<Session, 'agent'>,
  models: readonly string[],
): SessionConfigOption[] {
  const { id: model, effortLevels = efforts } = agent.model;
  const effort = agent.effort ?? anyEffort;
  const modes = approvalModes.map((value) => ({ value, ...modeTexts[value] }));
  return [
    { id: 'mode', name: 'Mode', category: 'mode', type: 'select', currentValue: policy.mode, options: modes },
    {
      id: 'model',
      name: 'Model',
      category: 'model',
      type: 'select',
      currentValue: model,
      options: named([model, ...models]),
    },
    {
      id: 'effort',
      name: 'Effort',
      category: 'thought_level',
      type: 'select',
      currentValue: effort,
      options: named([anyEffort, ...effortLevels, effort]),
    },
  ];
}

const named = (values: readonly string[]) => [...new Set(values)].map((value) => ({ value, name: visibleText(value) }));
