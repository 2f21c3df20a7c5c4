import { type AgentLathe, type OpenSessionOptions, openSession, type Session } from '@lathe/agent';
import type { Flags } from '../command-line/args.js';
import type { Io } from '../command-line/io.js';
import { flagBudgets } from './flag-budgets.js';
import { openRecording } from './model-recording.js';
import { prepareTools, trustNotes } from './open-lathe.js';
import { openModel, openSideModel } from './open-model.js';

export interface ChosenSession {
  session: Session;
  /** For people: what is ignored, and what differs from when the session was left. */
  notes: string[];
}

export interface ChosenOptions extends Omit<OpenSessionOptions, 'model' | 'sideModel' | 'budgets'> {
  flags: Flags;
  io: Io;
  /** Somebody can answer questions once the session is open. */
  isAttended?: true;
}

/** Opens a session with the model and the tools that flags and settings say, or says why there is no model. */
export async function openChosenSession(
  lathe: AgentLathe,
  { flags, io, isAttended, ...options }: ChosenOptions,
  signal: AbortSignal,
): Promise<ChosenSession | string> {
  const recording = openRecording(flags, lathe, io.cwd);
  const model = await openModel(lathe, flags, recording, signal);
  if (typeof model === 'string') return model;
  // With somebody there, tools are looked for at the first prompt, when questions about them can be answered.
  if (!isAttended) await prepareTools(lathe, io, signal);
  const sideModel = await openSideModel(lathe, recording, signal);
  const budgets = flagBudgets(flags);
  const session = await openSession(lathe, { model, ...(sideModel && { sideModel }), budgets, ...options });
  return { session, notes: [...trustNotes(lathe), ...session.notes] };
}
