import {
  type Approver,
  chooseModel,
  type Lathe,
  type Model,
  type ModelChoice,
  openAgent,
  openSession,
  visibleText,
} from '@lathe/core';
import { type Flags, resumeOf } from '../args.js';
import { ConsoleDriver } from '../console/console-driver.js';
import type { Io } from '../io.js';
import { type ModelTraffic, modelTraffic } from '../model-traffic.js';
import { openLathe } from '../open-lathe.js';
import type { Style } from '../render/style.js';
import { AgentDriver, whereWeWere } from './agent-driver.js';
import type { Driver } from './driver.js';

export interface OpenedConversation {
  lathe: Lathe;
  driver: Driver;
  /** What the scrollback begins with. */
  greeting: string;
}

export interface ConversationOptions {
  flags: Flags;
  io: Io;
  style: Style;
  approver: Approver;
  signal: AbortSignal;
  /** Instead of the one that the settings and the machine offer. */
  model?: Model | undefined;
}

/** An agent when there is a model, else the console. */
export async function openConversation(options: ConversationOptions): Promise<OpenedConversation> {
  const { flags, io, style, approver, signal } = options;
  const lathe = await openLathe(flags, io, { approver });
  const place = style.dim(visibleText(lathe.workspace.root));
  const title = (name: string) => `${style.bold('lathe')} ${name} ${place}`;
  if (options.model) {
    const { model } = options;
    return { lathe, driver: new AgentDriver(lathe, openAgent(lathe, { model })), greeting: title(model.id) };
  }
  const traffic = modelTraffic(flags, lathe, io.cwd);
  const choice = await choose(lathe, flags, traffic, signal);
  if (choice.status === 'chosen') {
    const model = traffic.through(choice.model);
    const session = await openSession(lathe, { model, useModel: traffic.useModel, ...resumeOf(flags) });
    const driver = new AgentDriver(lathe, session);
    const notes = [...choice.notes, ...session.notes, ...whereWeWere(session)].map((note) =>
      style.dim(visibleText(note)),
    );
    return { lathe, driver, greeting: [title(choice.model.id), ...notes].join('\n') };
  }
  // In the console the person is the caller, so the tools are set up for a person.
  await lathe.close();
  const own = await openLathe(flags, io, { approver, caller: 'person' });
  const lines = [
    title(''),
    '',
    visibleText(choice.setup.problem),
    ...choice.setup.ways.map((way) => `  ${way.title}: ${style.accent(way.commands.join('; '))}`),
    '',
    'Until then this is the console: you call the tools yourself. /tools lists them, /help helps.',
  ];
  return { lathe: own, driver: new ConsoleDriver(own), greeting: lines.join('\n') };
}

async function choose(
  { settings, loaded }: Lathe,
  flags: Flags,
  { replayed }: ModelTraffic,
  signal: AbortSignal,
): Promise<ModelChoice> {
  if (replayed)
    return { status: 'chosen', model: replayed, origin: 'a recording', notes: ['Replayed from a recording.'] };
  const name = flags.model ?? settings.model.name;
  return chooseModel({ ...(name !== undefined && { name }), settings: settings.model, env: loaded.env }, signal);
}
