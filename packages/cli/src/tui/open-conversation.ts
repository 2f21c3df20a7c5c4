import { type AgentLathe, openAgent, openSession } from '@lathe/agent';
import { chooseModel, type Model, type ModelChoice } from '@lathe/agent/models';
import { visibleText } from '@lathe/core/host';
import { type Flags, resumeOf } from '../command-line/args.js';
import type { Io } from '../command-line/io.js';
import { AgentDriver, MessageBell } from '../drivers/agent-driver.js';
import { ConsoleDriver } from '../drivers/console-driver.js';
import type { Driver } from '../drivers/driver.js';
import { historyItems } from '../drivers/history-items.js';
import { firstRun } from '../first-run/first-run.js';
import { choose } from '../first-run/menu.js';
import type { HistoryItem } from '../render/history-item.js';
import type { Style } from '../render/style.js';
import { type ThemeName, themeNamed } from '../render/theme.js';
import { KeyStream } from '../screen/key-stream.js';
import { sessionChoices } from '../slash/session-command.js';
import { flagBudgets } from '../startup/flag-budgets.js';
import { type ModelRecording, openRecording } from '../startup/model-recording.js';
import { openLathe } from '../startup/open-lathe.js';
import { openSideModel } from '../startup/open-model.js';
import type { QuestionQueue } from './questions/question-queue.js';
import { queueAsker } from './questions/queue-asker.js';
import { queueElicitor } from './questions/queue-elicitor.js';

export interface OpenedConversation {
  lathe: AgentLathe;
  driver: Driver;
  /** The first lines of the scrollback. */
  greeting: string;
  /** A resumed conversation, as it was shown before. */
  past: readonly HistoryItem[];
}

export interface ConversationOptions {
  flags: Flags;
  io: Io;
  style: Style;
  /** Receives the questions for the person. */
  queue: QuestionQueue;
  signal: AbortSignal;
  /** Replaces the configured model. */
  model?: Model | 'console' | undefined;
  /** What the terminal says about its background. */
  background: Promise<ThemeName | undefined>;
}

/** Opens an agent if there is a model, else the console. Asks if neither is configured. */
export async function openConversation(options: ConversationOptions): Promise<OpenedConversation | 'demo' | 'quit'> {
  if (options.model === 'console') return openConsole(options);
  const lathe = await openLathe(options.flags, options.io, questionHandlers(options));
  await useTheme(lathe, options);
  if (options.model) {
    const bell = new MessageBell();
    const agent = openAgent(lathe, { model: options.model, onMessage: bell.ring });
    const text = greeting(options.model.id, lathe, options.style);
    return { lathe, driver: new AgentDriver(lathe, agent, bell), greeting: text, past: [] };
  }
  const answer = await firstRun(lathe, options.flags, options);
  if (answer === 'configured') return openModel(lathe, options);
  await lathe.close();
  if (answer === 'console') return openConsole(options);
  return answer === 'saved' ? openConversation(options) : answer;
}

async function openModel(lathe: AgentLathe, options: ConversationOptions): Promise<OpenedConversation> {
  const { flags, io, style, signal } = options;
  const recording = openRecording(flags, lathe, io.cwd);
  const choice = await findModel(lathe, flags, recording, signal);
  if (choice.status === 'chosen') {
    const model = recording.wrapModel(choice.model);
    const sideModel = await openSideModel(lathe, recording, signal);
    const resume = flags.resume === '' ? await chooseSession(lathe, options) : resumeOf(flags);
    const bell = new MessageBell();
    const sessionOptions = { budgets: flagBudgets(flags), ...(sideModel && { sideModel }) };
    const session = await openSession(lathe, { model, onMessage: bell.ring, ...sessionOptions, ...resume });
    const notes = [...choice.notes, ...session.notes];
    const lines = [greeting(choice.model.id, lathe, style), ...notes.map((note) => style.dim(visibleText(note)))];
    const past = historyItems(session.agent.history, lathe.tools);
    const driver = new AgentDriver(lathe, session, bell, sessionOptions);
    return { lathe, driver, greeting: lines.join('\n'), past };
  }
  await lathe.close();
  const ways = choice.setup.ways.map((way) => `  ${way.title}: ${style.accent(way.commands.join('; '))}`);
  return openConsole(options, [visibleText(choice.setup.problem), ...ways, '']);
}

/** `--resume` without an id. */
async function chooseSession(
  lathe: AgentLathe,
  { io, style, signal }: ConversationOptions,
): Promise<{ resume?: { id: string } }> {
  const choices = await sessionChoices(lathe);
  const title = choices.length === 0 ? 'There are no earlier sessions here.' : 'Which session?';
  if (choices.length === 0) io.err(title);
  const { screenReader: isScreenReader } = lathe.settings.ui.accessibility;
  const options = { terminal: io.terminal, keys: new KeyStream(io.stdin), isScreenReader, signal, style };
  const id = choices.length === 0 ? undefined : await choose(title, choices, options);
  return id === undefined ? {} : { resume: { id } };
}

/** The theme of the settings, or else the one that fits the background of the terminal. */
async function useTheme({ settings }: AgentLathe, { style, background }: ConversationOptions): Promise<void> {
  style.theme = themeNamed(settings.ui.theme) ?? (await background) ?? 'dark';
}

/** In the console a person calls the tools, so they are configured for a person. */
async function openConsole(options: ConversationOptions, problem: readonly string[] = []): Promise<OpenedConversation> {
  const { flags, io, style } = options;
  const lathe = await openLathe(flags, io, { ...questionHandlers(options), caller: 'person' });
  await useTheme(lathe, options);
  const lines = [
    greeting('', lathe, style),
    ...problem,
    'This is the console: you call the tools yourself. /tools lists them, /help shows what you can type.',
  ];
  return { lathe, driver: new ConsoleDriver(lathe), greeting: lines.join('\n'), past: [] };
}

/** Sends approvals and the questions of MCP servers to the queue. */
function questionHandlers({ queue, io }: ConversationOptions) {
  return { approver: queue, asker: queueAsker(queue), elicit: queueElicitor(queue, io) };
}

function greeting(name: string, { workspace }: Pick<AgentLathe, 'workspace'>, style: Style): string {
  return `${style.bold('lathe')} ${name === '' ? '' : `${visibleText(name)} `}${style.dim(visibleText(workspace.root))}`;
}

async function findModel(
  { settings, loaded, home }: Pick<AgentLathe, 'settings' | 'loaded' | 'home'>,
  flags: Flags,
  { replayModel }: ModelRecording,
  signal: AbortSignal,
): Promise<ModelChoice> {
  if (replayModel)
    return { status: 'chosen', model: replayModel, origin: 'a recording', notes: ['Replaying a recording.'] };
  const name = flags.model ?? settings.model.name;
  return chooseModel({ name, settings: settings.model, env: loaded.env, home: home.path }, signal);
}
