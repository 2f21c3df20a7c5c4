import type { SessionConfigOption, SessionConfigSelectOption, SessionModeState } from '@agentclientprotocol/sdk';
import type { AgentLathe, Session } from '@lathe/agent';
import { visibleText } from '@lathe/core/host';
import { approvalModes, efforts } from '../command-line/args.js';
import { modeTexts } from '../drivers/mode-texts.js';

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
    select('mode', 'Mode', 'mode', policy.mode, modes),
    select('model', 'Model', 'model', model, named([model, ...models])),
    select('effort', 'Effort', 'thought_level', effort, named([anyEffort, ...effortLevels, effort])),
  ];
}

function select(
  id: string,
  name: string,
  category: string,
  currentValue: string,
  options: SessionConfigSelectOption[],
): SessionConfigOption {
  return { id, name, category, type: 'select', currentValue, options };
}

const named = (values: readonly string[]) => [...new Set(values)].map((value) => ({ value, name: visibleText(value) }));
