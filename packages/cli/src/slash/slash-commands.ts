import { SessionStore } from '@lathe/agent';
import { visibleText } from '@lathe/core';
import { approvalModes } from '../command-line/args.js';
import { checks } from '../doctor/checks.js';
import { tendBackground } from './background-command.js';
import { showServers } from './mcp-commands.js';
import { showMemory } from './memory-command.js';
import type { SlashCommand, SlashContext } from './slash-command.js';

/** In the order /help shows them. */
export const slashCommands: readonly SlashCommand[] = [
  { name: 'help', summary: 'what you can type', run: (_, context) => help(context) },
  { name: 'tools', summary: 'the tools and where they come from', run: (_, context) => showTools(context) },
  { name: 'mcp', summary: 'MCP servers and their tools', run: (_, context) => showServers(context) },
  {
    name: 'approval-mode',
    summary: 'show the mode, or set it: plan, default, auto-edit, yolo',
    run: setMode,
    arguments: () => approvalModes,
  },
  { name: 'permissions', summary: 'the rules in force', run: (_, context) => showRules(context) },
  { name: 'undo', summary: 'take back the last change of a file, or the last n', run: undo },
  { name: 'todos', summary: 'the todo list', run: (_, context) => showTodos(context) },
  {
    name: 'background',
    summary: 'the commands in the background, or stop one: /background stop ID',
    run: tendBackground,
  },
  { name: 'memory', summary: 'the context files and what is loaded of them', run: (_, context) => showMemory(context) },
  { name: 'agents', summary: 'the subagents a model can start', run: (_, context) => showAgents(context) },
  { name: 'model', summary: 'the model in use, or use another', run: useModel },
  {
    name: 'context',
    summary: 'the conversation, the workspace and its trust',
    run: (_, context) => showContext(context),
  },
  { name: 'sessions', summary: 'earlier conversations here, or go on with one', run: sessions },
  {
    name: 'compact',
    summary: 'shorten the conversation to its summary',
    stream: (_, { driver, signal }) => driver.compact(signal),
  },
  { name: 'doctor', summary: 'what works here and what does not', run: (_, context) => diagnose(context) },
  { name: 'clear', summary: 'forget the conversation', run: (_, context) => clear(context) },
  { name: 'quit', summary: 'leave (also Ctrl+C twice)', run: (_, { quit }) => quit() },
];

function help({ commands, say, style }: SlashContext): void {
  const width = Math.max(...commands.map(({ name }) => name.length)) + 3;
  const lines = commands.map(({ name, summary, origin }) => {
    const from = origin === undefined ? '' : style.dim(` (${visibleText(origin)})`);
    return `  ${style.accent(visibleText(`/${name}`).padEnd(width))}${visibleText(summary)}${from}`;
  });
  const keys = [
    'Enter sends · Alt+Enter or Ctrl+J begins a new line · Tab completes',
    'up and down recall earlier input · Ctrl+R searches it · a blank in front keeps input out of it',
    'Shift+Tab changes the approval mode · Esc cancels · Ctrl+C twice or Ctrl+D leaves',
    'Ctrl+O shows more of what runs, or all of the last result that was cut',
    '@path brings a file along, @server:uri a resource of an MCP server · !command runs a command',
  ];
  say([...lines, '', ...keys.map((line) => `  ${line}`)].join('\n'));
}

function showTools({ lathe, say, style }: SlashContext): void {
  const lines = lathe.registry.entries().map(({ tool, source }) => {
    const origin = source === 'built-in' ? '' : style.dim(` (${visibleText(source)})`);
    return `  ${style.bold(tool.name)}${origin}  ${visibleText(tool.description.split('\n')[0] ?? '')}`;
  });
  say(lines.join('\n'));
}

function setMode(argument: string, { lathe, say }: SlashContext): void {
  const mode = approvalModes.find((known) => known === argument);
  if (argument !== '' && mode === undefined) return say(`The modes are ${approvalModes.join(', ')}.`);
  if (mode !== undefined) lathe.policy.mode = mode;
  say(`Approval mode: ${lathe.policy.mode}`);
}

function showRules({ lathe, say }: SlashContext): void {
  const { allow, ask, deny } = lathe.policy.rules();
  say([listed('allow', allow), listed('ask', ask), listed('deny', deny)].join('\n'));
}

function listed(title: string, rules: readonly string[]): string {
  return `  ${title}: ${rules.length > 0 ? rules.map((rule) => `\n    ${visibleText(rule)}`).join('') : 'nothing'}`;
}

async function undo(argument: string, { lathe, say, signal }: SlashContext): Promise<void> {
  const count = argument === '' ? 1 : Number(argument);
  if (!Number.isInteger(count) || count < 1) return say('/undo takes a number of changes, at least 1.');
  const outcomes = await lathe.changes.undo({ count, root: lathe.workspace.root }, signal);
  if (outcomes.length === 0) return say('Nothing to undo here.');
  const lines = outcomes.map((outcome) => {
    const reason = outcome.status === 'skipped' ? `, ${outcome.reason}` : '';
    return visibleText(`  ${lathe.workspace.display(outcome.change.path)}: ${outcome.status}${reason}`);
  });
  say(lines.join('\n'));
}

function showTodos({ lathe, say }: SlashContext): void {
  const { todos } = lathe.todos;
  say(
    todos.length === 0
      ? 'No todos.'
      : todos.map(({ content, status }) => visibleText(`  [${status}] ${content}`)).join('\n'),
  );
}

function showContext({ lathe, driver, say }: SlashContext): void {
  const { workspace, loaded, policy } = lathe;
  const talk = driver.conversation;
  const share = talk ? Math.round((100 * talk.contextTokens) / talk.contextWindow) : 0;
  const lines = [
    ...(talk
      ? [`Conversation: ${talk.messages} messages, ${talk.contextTokens} of ${talk.contextWindow} tokens (${share} %)`]
      : []),
    ...(talk?.id === undefined ? [] : [`Session: ${talk.id}`]),
    `Directories: ${workspace.roots.join(', ')}`,
    `Trusted: ${loaded.isTrusted ? 'yes' : 'no, its settings can only tighten the rules (lathe trust)'}`,
    `Mode: ${policy.mode}`,
  ];
  say(lines.map((line) => visibleText(`  ${line}`)).join('\n'));
}

function showAgents({ lathe, say, style }: SlashContext): void {
  const lines = lathe.subagents.definitions.map(
    ({ name, description }) => `  ${style.bold(visibleText(name))}  ${visibleText(description.split('\n')[0] ?? '')}`,
  );
  say([...lines, '  More: Markdown files in .lathe/agents, here or in your home directory.'].join('\n'));
}

async function useModel(name: string, { driver, say, signal }: SlashContext): Promise<void> {
  const talk = driver.conversation;
  if (!talk || name === '') return say(`  ${visibleText(driver.name)}${talk ? '   (/model NAME uses another)' : ''}`);
  const notes = await talk.useModel(name, signal);
  return say([`Model: ${driver.name}`, ...notes].map((line) => visibleText(`  ${line}`)).join('\n'));
}

async function sessions(id: string, { lathe, driver, say }: SlashContext): Promise<void> {
  const talk = driver.conversation;
  if (id !== '') {
    if (!talk) return say('  That needs a model, and this is the console.');
    const notes = await talk.resume(id).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(reason.replace('see lathe sessions', 'see /sessions'), { cause: error });
    });
    return say(notes.map((line) => visibleText(`  ${line}`)).join('\n'));
  }
  const store = await SessionStore.open(lathe.home, lathe.workspace.root);
  const list = (await store.list(20)).map(
    (each) =>
      `  ${each.id.slice(0, 8)}  ${each.updated.slice(0, 16).replace('T', ' ')}  ${each.title.split('\n')[0]?.slice(0, 80)}`,
  );
  return say(
    list.length === 0
      ? '  No sessions here yet.'
      : visibleText([...list, '  /sessions ID goes on with one.'].join('\n')),
  );
}

async function diagnose({ lathe, io, say, signal }: SlashContext): Promise<void> {
  const findings = (await Promise.all(checks.map(async (check) => check(lathe, io, signal)))).flat();
  say(
    findings
      .map(({ state, title, detail, hint }) =>
        visibleText(`  ${state.padEnd(4)} ${title}: ${detail}${hint ? `\n       ${hint}` : ''}`),
      )
      .join('\n'),
  );
}

function clear({ driver, clearScreen }: SlashContext): void {
  driver.clear();
  clearScreen();
}
