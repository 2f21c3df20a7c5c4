import { type AgentLathe } from '@lathe/agent';
import { chooseModel, formatModelSetup, type Model, ModelError } from '@lathe/agent/models';
import type { Flags } from '../command-line/args.js';
import type { ModelRecording } from './model-recording.js';

/** The model, or a message that says why there is none and how to get one. */
export async function openModel(
  { settings, loaded, home }: Pick<AgentLathe, 'settings' | 'loaded' | 'home'>,
  flags: Flags,
  { replayModel, wrapModel }: ModelRecording,
  signal: AbortSignal,
): Promise<Model | string> {
  if (replayModel) return replayModel;
  try {
    const choice = await chooseModel(
      { name: flags.model, settings: settings.model, env: loaded.env, home: home.path },
      signal,
    );
    return choice.status === 'chosen' ? wrapModel(choice.model) : formatModelSetup(choice.setup);
  } catch (error) {
    if (error instanceof ModelError) return error.message;
    throw error;
  }
}

/** Another model for an open session, with notes for people. Throws if there is none with this name. */
export async function switchModel(
  { settings, loaded, home }: Pick<AgentLathe, 'settings' | 'loaded' | 'home'>,
  agent: { model: Model },
  name: string | undefined,
  signal: AbortSignal,
): Promise<string[]> {
  const choice = await chooseModel({ name, settings: settings.model, env: loaded.env, home: home.path }, signal);
  if (choice.status === 'none') throw new Error(choice.setup.problem);
  agent.model = choice.model;
  return choice.notes;
}

/** Without a usable side model the main model does its work. */
export async function openSideModel(
  { settings, loaded, home }: Pick<AgentLathe, 'settings' | 'loaded' | 'home'>,
  { replayModel, wrapModel }: ModelRecording,
  signal: AbortSignal,
): Promise<Model | undefined> {
  const name = settings.model.sideModel;
  if (name === undefined || replayModel) return undefined;
  try {
    const choice = await chooseModel({ name, settings: settings.model, env: loaded.env, home: home.path }, signal);
    return choice.status === 'chosen' ? wrapModel(choice.model) : undefined;
  } catch (error) {
    if (error instanceof ModelError) return undefined;
    throw error;
  }
}
