import { resolve } from 'node:path';
import type { AgentLathe } from '@lathe/agent';
import { type Model, RecordingWriter, ReplayModel, recordModel } from '@lathe/agent/models';
import { secretsOf } from '@lathe/core';
import { type Flags, UsageError } from '../command-line/args.js';

/** What `--record` and `--replay` make of the models. */
export interface ModelTraffic {
  /** Answers in the place of every model. */
  replayed: Model | undefined;
  /** The model, written down when it is to be. */
  through: (model: Model) => Model;
}

/** From here on it also stands between `lathe` and the models of subagents and of pages. */
export function modelTraffic({ record, replay }: Flags, { loaded, sideModels }: AgentLathe, cwd: string): ModelTraffic {
  if (record !== undefined && replay !== undefined)
    throw new UsageError('--record and --replay contradict each other: a replay asks no model');
  const secrets = secretsOf(loaded);
  const replayed = replay === undefined ? undefined : opened(() => new ReplayModel(resolve(cwd, replay), secrets));
  const writer = record === undefined ? undefined : opened(() => new RecordingWriter(resolve(cwd, record), secrets));
  const through = (model: Model) => (writer ? recordModel(model, writer) : model);
  sideModels.use = async (open) => replayed ?? through(await open());
  return { replayed, through };
}

function opened<T>(open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
