import { chooseModel, formatModelSetup, type Model, ModelError } from '@lathe/agent/models';
import type { Lathe } from '@lathe/core';
import type { Flags } from '../command-line/args.js';
import type { ModelTraffic } from './model-recording.js';

/** The model, or a text that says why there is none and how to get one. */
export async function openModel(
  lathe: Lathe,
  flags: Flags,
  { replayed, through }: ModelTraffic,
  signal: AbortSignal,
): Promise<Model | string> {
  if (replayed) return replayed;
  try {
    const { settings, loaded } = lathe;
    const choice = await chooseModel({ name: flags.model, settings: settings.model, env: loaded.env }, signal);
    return choice.status === 'chosen' ? through(choice.model) : formatModelSetup(choice.setup);
  } catch (error) {
    if (error instanceof ModelError) return error.message;
    throw error;
  }
}

/** A side model that cannot be had is not missed: the model itself does its work. */
export async function openSideModel(
  { settings, loaded }: Lathe,
  { replayed, through }: ModelTraffic,
  signal: AbortSignal,
): Promise<Model | undefined> {
  const name = settings.model.sideModel;
  if (name === undefined || replayed) return undefined;
  try {
    const choice = await chooseModel({ name, settings: settings.model, env: loaded.env }, signal);
    return choice.status === 'chosen' ? through(choice.model) : undefined;
  } catch (error) {
    if (error instanceof ModelError) return undefined;
    throw error;
  }
}
