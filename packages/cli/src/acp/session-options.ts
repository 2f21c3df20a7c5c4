import type { SessionConfigOption, SessionModeState } from '@agentclientprotocol/sdk';
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
  otherModels: readonly string[],
): SessionConfigOption[] {
  const { id: model, effortLevels = efforts } = agent.model;
  const effort = agent.effort ?? anyEffort;
  const models = named([model, ...otherModels]);
  const levels = named([anyEffort, ...effortLevels, effort]);
  const modes = modesOf(hasSandbox);
  return [
    { ...select, id: 'mode', name: 'Mode', category: 'mode', currentValue: policy.mode, options: modes },
    { ...select, id: 'model', name: 'Model', category: 'model', currentValue: model, options: models },
    { ...select, id: 'effort', name: 'Effort', category: 'thought_level', currentValue: effort, options: levels },
  ];
}

const select = { type: 'select' as const };

const named = (values: readonly string[]) => [...new Set(values)].map((value) => ({ value, name: visibleText(value) }));
