import type { SessionConfigOption, SessionConfigSelectOption, SessionModeState } from '@agentclientprotocol/sdk';
import type { AgentLathe, Session } from '@lathe/agent';
import { visibleText } from '@lathe/core/host';
import { approvalModes, describeMode, shownMode } from '../command-line/approval-modes.js';
import { efforts } from '../command-line/args.js';

/** The approval modes, as modes of the editor. */
export function modeState({ policy, hasSandbox }: ModeHost): SessionModeState {
  const availableModes = modesOf(hasSandbox).map(({ value, ...texts }) => ({ id: value, ...texts }));
  return { currentModeId: policy.mode, availableModes };
}

interface ModeHost extends Pick<AgentLathe, 'policy'> {
  hasSandbox: boolean;
}

function modesOf(hasSandbox: boolean) {
  return approvalModes.map((value) => ({
    value,
    name: shownMode(value),
    description: describeMode(value, { hasSandbox }),
  }));
}

/** The level of effort when the provider decides. */
export const anyEffort = 'default';

/** What an editor can choose for a session: mode, model, effort. */
export function configOptions(
  { policy, hasSandbox }: ModeHost,
  { agent }: Pick<Session, 'agent'>,
  models: readonly string[],
): SessionConfigOption[] {
  const { id: model, effortLevels = efforts } = agent.model;
  const effort = agent.effort ?? anyEffort;
  return [
    select('mode', 'Mode', 'mode', policy.mode, modesOf(hasSandbox)),
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
