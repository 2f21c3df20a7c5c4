import { visibleText } from '@lathe/core/host';
import { approvalModes, shownMode } from '../command-line/approval-modes.js';
import { efforts } from '../command-line/args.js';
import { checks } from '../doctor/checks.js';
import type { Conversation } from '../drivers/driver.js';
import { formatCost } from '../render/format-cost.js';
import { missingTools } from '../startup/open-lathe.js';
import { manageAgents } from './agents-command.js';
import { manageBackground } from './background-command.js';
import { showServers } from './mcp-commands.js';
import { showMemory } from './memory-command.js';
import { switchModel } from './model-command.js';
import { managePermissions, setMode } from './permission-commands.js';
import { describeProject, exportConversation, showCost, showDiff, unknownCost } from './report-commands.js';
import { rewind } from './rewind-command.js';
import { resumeSession } from './session-command.js';
import { configure, switchTheme, themeNames } from './settings-commands.js';
import type { SlashCommand, SlashContext } from './slash-command.js';

/** In the order of /help. */
export const slashCommands: readonly SlashCommand[] = [
  { name: 'help', summary: 'show commands and keys', run: (_, context) => help(context) },
  { name: 'tools', summary: 'list the tools and their sources', run: (_, context) => showTools(context) },
  { name: 'mcp', summary: 'show the MCP servers and their tools', run: (_, context) => showServers(context) },
  {
    name: 'approval-mode',
    summary: 'explain the modes, or set one: plan, default, auto, yolo',
    run: setMode,
    arguments: () => approvalModes.map(shownMode),
  },
  {
    name: 'permissions',
    summary: 'list the rules and where they come from, or remove one: /permissions remove N',
    run: managePermissions,
  },
  { name: 'undo', summary: 'undo the last file change, or the last n', run: undo },
  { name: 'rewind', summary: 'go back to an earlier prompt: conversation, files or both', run: rewind },
  { name: 'todos', summary: 'show the todo list', run: (_, context) => showTodos(context) },
  {
    name: 'background',
    summary: 'list background commands, or stop one: /background stop ID',
    run: manageBackground,
  },
  { name: 'memory', summary: 'list the loaded context files', run: (_, context) => showMemory(context) },
  {
    name: 'agents',
    summary: 'list subagents and what they do; /agents stop ID, /agents send ID TEXT',
    run: manageAgents,
    arguments: () => ['stop', 'send'],
  },
  { name: 'skills', summary: 'list the skills; /NAME uses one', run: (_, context) => showSkills(context) },
  {
    name: 'model',
    summary: 'choose another model, or how much it thinks: /model NAME high',
    run: switchModel,
    arguments: () => efforts,
  },
  {
    name: 'context',
    summary: 'show the conversation, the workspace and its trust',
    run: (_, context) => showContext(context),
  },
  { name: 'sessions', summary: 'choose an earlier session and continue with it', run: resumeSession },
  {
    name: 'compact',
    summary: 'replace the conversation with a summary',
    stream: (_, { driver, signal }) => driver.compact(signal),
  },
  { name: 'diff', summary: 'show what is not committed yet', run: (_, context) => showDiff(context) },
  { name: 'cost', summary: 'show what this session has used', run: (_, context) => showCost(context) },
  { name: 'export', summary: 'write the conversation to a Markdown file', run: exportConversation },
  { name: 'init', summary: 'have the model write AGENTS.md', stream: (_, context) => describeProject(context) },
  { name: 'theme', summary: 'choose the colours: auto, dark, light', run: switchTheme, arguments: () => themeNames },
  { name: 'config', summary: 'show the settings, or change one: /config KEY VALUE', run: configure },
  { name: 'doctor', summary: 'check the setup', run: (_, context) => diagnose(context) },
  { name: 'clear', summary: 'start a new conversation', run: (_, context) => clear(context) },
  { name: 'quit', summary: 'quit (also Ctrl+C twice)', run: (_, { quit }) => quit() },
];

function help({ commands, print, style }: SlashContext): void {
  const width = Math.max(...commands.map(({ name }) => name.length + 1), ...keys.map(([key]) => key.length)) + 2;
  const row = (name: string, text: string) => `  ${style.accent(name.padEnd(width))}${text}`;
  const lines = commands.map(({ name, summary, origin }) => {
    const from = origin === undefined ? '' : style.dim(` (${visibleText(origin)})`);
    return row(visibleText(`/${name}`), `${visibleText(summary)}${from}`);
  });
  print([...lines, '', ...keys.map(([key, text]) => row(key, text))].join('\n'));
}

const keys = [
  ['Enter', 'send; while the model works, it gets the message at its next step'],
  ['Alt+Enter, Ctrl+J', 'new line'],
  ['Ctrl+G', 'write in your editor'],
  ['Up, Down, Ctrl+R', 'earlier input; begin with a space to keep input out of it'],
  ['Tab', 'complete'],
  ['@path', 'add a file; @server:uri adds a resource of an MCP server'],
  ['!command', 'run a command yourself'],
  ['!!command', 'the same, and give the output to the model; !! alone gives the last output'],
  ['Shift+Tab', 'change the approval mode'],
  ['Ctrl+O', 'show more of what is running, or all of the last result that was cut off'],
  ['Esc', 'cancel'],
  ['Esc Esc', 'go back to an earlier prompt, as /rewind does'],
  ['Ctrl+C twice', 'quit, as Ctrl+D does'],
  ['Ctrl+Z', 'suspend'],
] as const;

function showTools({ lathe, print, style }: SlashContext): void {
  const lines = lathe.tools.entries().map(({ tool, source }) => {
    const origin = source === 'built-in' ? '' : style.dim(` (${visibleText(source)})`);
    return `  ${style.bold(tool.name)}${origin}  ${visibleText(tool.description.split('\n')[0] ?? '')}`;
  });
  const missing = missingTools(lathe.tools).map((line) => `  ${style.warning(line)}`);
  print([...lines, ...missing].join('\n'));
}

async function undo(argument: string, { lathe, print, signal }: SlashContext): Promise<void> {
  const count = argument === '' ? 1 : Number(argument);
  if (!Number.isInteger(count) || count < 1) return print('  /undo takes a number, at least 1.');
  const outcomes = await lathe.changes.undo({ count, root: lathe.workspace.root }, signal);
  if (outcomes.length === 0) return print('  Nothing to undo here.');
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
      ? '  No todos.'
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
    `Mode: ${shownMode(policy.mode)}`,
  ];
  print(lines.map((line) => visibleText(`  ${line}`)).join('\n'));
}

function spentLines({ usage: { usage, cost } }: Conversation): string[] {
  const { inputTokens, outputTokens, cachedInputTokens } = usage;
  if (inputTokens === 0) return [];
  const cached = Math.round((100 * cachedInputTokens) / inputTokens);
  const price = cost === undefined ? unknownCost : formatCost(cost);
  return [`Spent: ${inputTokens} tokens in (${cached} % from the cache), ${outputTokens} tokens out`, `Cost: ${price}`];
}

function showSkills({ lathe, print, style }: SlashContext): void {
  const lines = lathe.skills.skills.map(({ name, owner, description, isForPersonOnly }) => {
    const from = `${owner === 'person' ? 'yours' : `of a ${owner}`}${isForPersonOnly ? ', only for you' : ''}`;
    return `  ${style.bold(visibleText(name))} ${style.dim(`(${from})`)}  ${visibleText(description)}`;
  });
  const problems = lathe.skills
    .rejections()
    .map(({ name, reason }) => `  ${style.warning(visibleText(`${name}: ${reason}`))}`);
  const hint = '  Add your own as folders with a SKILL.md in .lathe/skills, here or in your home directory.';
  print([...lines, ...problems, hint].join('\n'));
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

function clear({ driver, clearScreen, print }: SlashContext): void {
  const { messages = 0 } = driver.conversation ?? {};
  driver.clear();
  clearScreen();
  print(`  Started a new conversation. The model no longer sees the ${messages} messages above.`);
}
