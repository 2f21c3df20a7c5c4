import { resolve } from 'node:path';
import { type Lathe, type Model, RecordingWriter, ReplayModel, recordModel, secretsOf } from '@lathe/core';
import { type Flags, UsageError } from './args.js';

/** What `--record` and `--replay` make of the models. */
export interface ModelTraffic {
  /** Answers in the place of every model. */
  replayed: Model | undefined;
  /** The model, written down when it is to be. */
  through: (model: Model) => Model;
  useModel: (open: () => Promise<Model>) => Promise<Model>;
}

export function modelTraffic({ record, replay }: Flags, { loaded }: Lathe, cwd: string): ModelTraffic {
  if (record !== undefined && replay !== undefined)
    throw new UsageError('--record and --replay contradict each other: a replay asks no model');
  const secrets = secretsOf(loaded);
  const replayed = replay === undefined ? undefined : opened(() => new ReplayModel(resolve(cwd, replay), secrets));
  const writer = record === undefined ? undefined : opened(() => new RecordingWriter(resolve(cwd, record), secrets));
  const through = (model: Model) => (writer ? recordModel(model, writer) : model);
  return { replayed, through, useModel: async (open) => replayed ?? through(await open()) };
}

function opened<T>(open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
