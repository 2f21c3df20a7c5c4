import { resolve } from 'node:path';
import type { AgentLathe } from '@lathe/agent';
import { type Model, RecordingWriter, ReplayModel, recordModel } from '@lathe/agent/models';
import { secretsOf } from '@lathe/core/host';
import { type Flags, UsageError } from '../command-line/args.js';
import { errorMessage } from '../command-line/error-message.js';

/** The effect of `--record` and `--replay` on models. */
export interface ModelRecording {
  /** Replaces every model. */
  replayModel: Model | undefined;
  /** Records the answers of a model if `--record` is set. */
  wrapModel: (model: Model) => Model;
}

/** Also applies to the models of subagents and to the side model that reads web pages. */
export function openRecording(
  { record, replay }: Flags,
  { loaded, sideModels }: Pick<AgentLathe, 'loaded' | 'sideModels'>,
  cwd: string,
): ModelRecording {
  if (record !== undefined && replay !== undefined)
    throw new UsageError('--record and --replay cannot be used together: a replay asks no model');
  const secrets = secretsOf(loaded);
  const replayModel =
    replay === undefined ? undefined : orUsageError(() => new ReplayModel(resolve(cwd, replay), secrets));
  const writer =
    record === undefined ? undefined : orUsageError(() => new RecordingWriter(resolve(cwd, record), secrets));
  const wrapModel = (model: Model) => (writer ? recordModel(model, writer) : model);
  sideModels.use = async (open) => replayModel ?? wrapModel(await open());
  return { replayModel, wrapModel };
}

function orUsageError<T>(open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw new UsageError(errorMessage(error));
  }
}
