import { type AgentLathe, openAgent, openSession } from '@lathe/agent';
import { chooseModel, type Model, type ModelChoice } from '@lathe/agent/models';
import { type Lathe, visibleText } from '@lathe/core';
import { type Flags, resumeOf } from '../command-line/args.js';
import type { Io } from '../command-line/io.js';
import { AgentDriver, whereWeWere } from '../drivers/agent-driver.js';
import { ConsoleDriver } from '../drivers/console-driver.js';
import type { Driver } from '../drivers/driver.js';
import { firstRun } from '../first-run/first-run.js';
import type { Style } from '../render/style.js';
import { type ModelTraffic, modelTraffic } from '../startup/model-recording.js';
import { openLathe } from '../startup/open-lathe.js';
import { openSideModel } from '../startup/open-model.js';
import type { QuestionQueue } from './questions/question-queue.js';
import { queueElicitor } from './questions/queue-elicitor.js';

export interface OpenedConversation {
  lathe: AgentLathe;
  driver: Driver;
  /** What the scrollback begins with. */
  greeting: string;
}

export interface ConversationOptions {
  flags: Flags;
  io: Io;
  style: Style;
  /** Where questions to the person go. */
  queue: QuestionQueue;
  signal: AbortSignal;
  /** Instead of the one that the settings and the machine offer. */
  model?: Model | 'console' | undefined;
}

/** An agent when there is a model, else the console; a person who has neither chosen is asked. */
export async function openConversation(options: ConversationOptions): Promise<OpenedConversation | 'demo' | 'leave'> {
  if (options.model === 'console') return openConsole(options);
  const lathe = await openLathe(options.flags, options.io, askedThrough(options));
  if (options.model) {
    const agent = openAgent(lathe, { model: options.model });
    return { lathe, driver: new AgentDriver(lathe, agent), greeting: greeting(options.model.id, lathe, options.style) };
  }
  const answer = await firstRun(lathe, options.flags, options);
  if (answer === 'nothing to ask') return openModel(lathe, options);
  await lathe.close();
  if (answer === 'console') return openConsole(options);
  return answer === 'saved' ? openConversation(options) : answer;
}

async function openModel(lathe: AgentLathe, options: ConversationOptions): Promise<OpenedConversation> {
  const { flags, io, style, signal } = options;
  const traffic = modelTraffic(flags, lathe, io.cwd);
  const choice = await choose(lathe, flags, traffic, signal);
  if (choice.status === 'chosen') {
    const model = traffic.through(choice.model);
    const sideModel = await openSideModel(lathe, traffic, signal);
    const session = await openSession(lathe, { model, ...(sideModel && { sideModel }), ...resumeOf(flags) });
    const notes = [...choice.notes, ...session.notes, ...whereWeWere(session)];
    const lines = [greeting(choice.model.id, lathe, style), ...notes.map((note) => style.dim(visibleText(note)))];
    return { lathe, driver: new AgentDriver(lathe, session), greeting: lines.join('\n') };
  }
  await lathe.close();
  const ways = choice.setup.ways.map((way) => `  ${way.title}: ${style.accent(way.commands.join('; '))}`);
  return openConsole(options, [visibleText(choice.setup.problem), ...ways, '']);
}

/** In the console the person is the caller, so the tools are set up for a person. */
async function openConsole(options: ConversationOptions, problem: readonly string[] = []): Promise<OpenedConversation> {
  const { flags, io, style } = options;
  const lathe = await openLathe(flags, io, { ...askedThrough(options), caller: 'person' });
  const lines = [
    greeting('', lathe, style),
    ...problem,
    'This is the console: you call the tools yourself. /tools lists them, /help helps.',
  ];
  return { lathe, driver: new ConsoleDriver(lathe), greeting: lines.join('\n') };
}

/** How the person is asked about calls, and what servers want to know. */
function askedThrough({ queue, io }: ConversationOptions) {
  return { approver: queue, elicit: queueElicitor(queue, io) };
}

function greeting(name: string, { workspace }: Lathe, style: Style): string {
  return `${style.bold('lathe')} ${name === '' ? '' : `${visibleText(name)} `}${style.dim(visibleText(workspace.root))}`;
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
