import { SessionStore } from '@lathe/agent';
import { visibleText } from '@lathe/core/host';
import { approvalModes } from '../command-line/args.js';
import { errorMessage } from '../command-line/error-message.js';
import { checks } from '../doctor/checks.js';
import type { Conversation } from '../drivers/driver.js';
import { formatCost } from '../render/format-cost.js';
import { missingTools } from '../startup/open-lathe.js';
import { manageBackground } from './background-command.js';
import { showServers } from './mcp-commands.js';
import { showMemory } from './memory-command.js';
import { rewind } from './rewind-command.js';
import type { SlashCommand, SlashContext } from './slash-command.js';

/** In the order of /help. */
export const slashCommands: readonly SlashCommand[] = [
  { name: 'help', summary: 'show commands and keys', run: (_, context) => help(context) },
  { name: 'tools', summary: 'list the tools and their sources', run: (_, context) => showTools(context) },
  { name: 'mcp', summary: 'show the MCP servers and their tools', run: (_, context) => showServers(context) },
  {
    name: 'approval-mode',
    summary: 'show or set the mode: plan, default, auto-edit, yolo',
    run: setMode,
    arguments: () => approvalModes,
  },
  { name: 'permissions', summary: 'show the active rules', run: (_, context) => showRules(context) },
  { name: 'undo', summary: 'undo the last file change, or the last n', run: undo },
  { name: 'rewind', summary: 'go back to an earlier prompt: conversation, files or both', run: rewind },
  { name: 'todos', summary: 'show the todo list', run: (_, context) => showTodos(context) },
  {
    name: 'background',
    summary: 'list background commands, or stop one: /background stop ID',
    run: manageBackground,
  },
  { name: 'memory', summary: 'list the loaded context files', run: (_, context) => showMemory(context) },
  { name: 'agents', summary: 'list the subagents a model can start', run: (_, context) => showAgents(context) },
  { name: 'model', summary: 'show the model, or switch to another', run: switchModel },
  {
    name: 'context',
    summary: 'show the conversation, the workspace and its trust',
    run: (_, context) => showContext(context),
  },
  { name: 'sessions', summary: 'list earlier sessions here, or resume one', run: sessions },
  {
    name: 'compact',
    summary: 'replace the conversation with a summary',
    stream: (_, { driver, signal }) => driver.compact(signal),
  },
  { name: 'doctor', summary: 'check the setup', run: (_, context) => diagnose(context) },
  { name: 'clear', summary: 'start a new conversation', run: (_, context) => clear(context) },
  { name: 'quit', summary: 'quit (also Ctrl+C twice)', run: (_, { quit }) => quit() },
];

function help({ commands, print, style }: SlashContext): void {
  const width = Math.max(...commands.map(({ name }) => name.length)) + 3;
  const lines = commands.map(({ name, summary, origin }) => {
    const from = origin === undefined ? '' : style.dim(` (${visibleText(origin)})`);
    return `  ${style.accent(visibleText(`/${name}`).padEnd(width))}${visibleText(summary)}${from}`;
  });
  const keys = [
    'Enter: send · Alt+Enter or Ctrl+J: new line · Tab: complete',
    'Up, Down: earlier input · Ctrl+R: search it · start with a space to keep input out of the history',
    'Shift+Tab: change the approval mode · Esc: cancel · Esc twice: /rewind · Ctrl+C twice or Ctrl+D: quit',
    'Ctrl+O: show more of what is running, or the full result of the last call that was cut off',
    '@path: add a file · @server:uri: add a resource of an MCP server · !command: run a command',
  ];
  print([...lines, '', ...keys.map((line) => `  ${line}`)].join('\n'));
}

function showTools({ lathe, print, style }: SlashContext): void {
  const lines = lathe.tools.entries().map(({ tool, source }) => {
    const origin = source === 'built-in' ? '' : style.dim(` (${visibleText(source)})`);
    return `  ${style.bold(tool.name)}${origin}  ${visibleText(tool.description.split('\n')[0] ?? '')}`;
  });
  const missing = missingTools(lathe.tools).map((line) => `  ${style.warning(line)}`);
  print([...lines, ...missing].join('\n'));
}

function setMode(argument: string, { lathe, print }: SlashContext): void {
  const mode = approvalModes.find((known) => known === argument);
  if (argument !== '' && mode === undefined) return print(`Unknown mode. Use one of: ${approvalModes.join(', ')}`);
  if (mode !== undefined) lathe.policy.mode = mode;
  print(`Approval mode: ${lathe.policy.mode}`);
}

function showRules({ lathe, print }: SlashContext): void {
  const { allow, ask, deny } = lathe.policy.rules();
  print([ruleLines('allow', allow), ruleLines('ask', ask), ruleLines('deny', deny)].join('\n'));
}

function ruleLines(title: string, rules: readonly string[]): string {
  return `  ${title} rules: ${rules.length > 0 ? rules.map((rule) => `\n    ${visibleText(rule)}`).join('') : 'none'}`;
}

async function undo(argument: string, { lathe, print, signal }: SlashContext): Promise<void> {
  const count = argument === '' ? 1 : Number(argument);
  if (!Number.isInteger(count) || count < 1) return print('/undo takes a number, at least 1.');
  const outcomes = await lathe.changes.undo({ count, root: lathe.workspace.root }, signal);
  if (outcomes.length === 0) return print('Nothing to undo here.');
  const lines = outcomes.map((outcome) => {
    const reason = outcome.status === 'skipped' ? `, ${outcome.reason}` : '';
    return visibleText(`  ${lathe.workspace.display(outcome.change.path)}: ${outcome.status}${reason}`);
  });
  print(lines.join('\n'));
}

function showTodos({ lathe, print }: SlashContext): void {
  const { todos } = lathe.todos;
  print(
    todos.length === 0
      ? 'No todos.'
      : todos.map(({ content, status }) => visibleText(`  [${status}] ${content}`)).join('\n'),
  );
}

function showContext({ lathe, driver, print }: SlashContext): void {
  const { workspace, loaded, policy } = lathe;
  const { conversation } = driver;
  const share = conversation ? Math.round((100 * conversation.contextTokens) / conversation.contextWindow) : 0;
  const lines = [
    ...(conversation
      ? [
          `Conversation: ${conversation.messages} messages, ${conversation.contextTokens} of ${conversation.contextWindow} tokens (${share} %)`,
          ...spentLines(conversation),
        ]
      : []),
    ...(conversation?.id === undefined ? [] : [`Session: ${conversation.id}`]),
    `Directories: ${workspace.roots.join(', ')}`,
    `Trusted: ${loaded.isTrusted ? 'yes' : 'no, so its settings can only make the rules stricter (see lathe trust)'}`,
    `Mode: ${policy.mode}`,
  ];
  print(lines.map((line) => visibleText(`  ${line}`)).join('\n'));
}

function spentLines({ spent: { usage, cost } }: Conversation): string[] {
  const { inputTokens, outputTokens, cachedInputTokens } = usage;
  if (inputTokens === 0) return [];
  const cached = Math.round((100 * cachedInputTokens) / inputTokens);
  const price = cost === undefined ? 'unknown (add the price of the model to model.prices)' : formatCost(cost);
  return [`Spent: ${inputTokens} tokens in (${cached} % from the cache), ${outputTokens} tokens out`, `Cost: ${price}`];
}

function showAgents({ lathe, print, style }: SlashContext): void {
  const lines = lathe.subagents
    .list()
    .map(
      ({ name, description }) => `  ${style.bold(visibleText(name))}  ${visibleText(description.split('\n')[0] ?? '')}`,
    );
  print([...lines, '  Add your own as Markdown files in .lathe/agents, here or in your home directory.'].join('\n'));
}

async function switchModel(name: string, { driver, print, signal }: SlashContext): Promise<void> {
  const { conversation } = driver;
  if (!conversation || name === '')
    return print(`  ${visibleText(nameAndEffort(driver))}${conversation ? `   (${switchHint})` : ''}`);
  const notes = await conversation.useModel(name, signal);
  return print([`Model: ${driver.name}`, ...notes].map((line) => visibleText(`  ${line}`)).join('\n'));
}

const switchHint = '/model NAME switches to another, /model high changes how much it thinks';

function nameAndEffort({ name, conversation }: SlashContext['driver']): string {
  return conversation?.effort ? `${name}, effort ${conversation.effort}` : name;
}

async function sessions(id: string, { lathe, driver, print }: SlashContext): Promise<void> {
  const { conversation } = driver;
  if (id !== '') {
    if (!conversation) return print('  The console has no model, so it cannot resume a session.');
    const notes = await conversation.resume(id).catch((error: unknown) => {
      const reason = errorMessage(error);
      throw new Error(reason.replace('see lathe sessions', 'see /sessions'), { cause: error });
    });
    return print(notes.map((line) => visibleText(`  ${line}`)).join('\n'));
  }
  const store = await SessionStore.open(lathe.home, lathe.workspace.root);
  const list = (await store.list(20)).map(
    (each) =>
      `  ${each.id.slice(0, 8)}  ${each.updated.slice(0, 16).replace('T', ' ')}  ${each.title.split('\n')[0]?.slice(0, 80)}`,
  );
  return print(
    list.length === 0
      ? '  No sessions in this directory yet.'
      : visibleText([...list, '  Use /sessions ID to resume one.'].join('\n')),
  );
}

async function diagnose({ lathe, io, print, signal }: SlashContext): Promise<void> {
  const findings = (await Promise.all(checks.map(async (check) => check(lathe, io, signal)))).flat();
  print(
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
