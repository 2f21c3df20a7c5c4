import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type AgentEvent, askedText, type Message } from '@lathe/agent';
import { textOf } from '@lathe/core';
import { visibleText } from '@lathe/core/host';
import { runCalls } from '../drivers/run-calls.js';
import { renderDiff } from '../render/diff.js';
import { formatCost } from '../render/format-cost.js';
import type { SlashContext } from './slash-command.js';

/** `/cost`: what this session has used. */
export function showCost({ driver, print }: SlashContext): void {
  if (!driver.conversation) return print('  The console asks no model, so nothing was spent.');
  const { usage, turns, milliseconds, cost } = driver.conversation.usage;
  const lines = [
    `Requests    ${count(turns)}, ${Math.round(milliseconds / 1000)} s with the waits for answers`,
    `Tokens in   ${count(usage.inputTokens)}, of which ${count(usage.cachedInputTokens)} from the cache`,
    `Tokens out  ${count(usage.outputTokens)}, of which ${count(usage.reasoningTokens)} for reasoning`,
    `Cost        ${cost === undefined ? unknownCost : formatCost(cost)}`,
  ];
  print(lines.map((line) => `  ${line}`).join('\n'));
}

export const unknownCost = 'unknown: the price of a model that answered is not known (add it to model.prices)';

const count = (value: number): string => value.toLocaleString('en');

/** `/export [FILE]`: writes the conversation as Markdown to a new file. */
export async function exportConversation(file: string, { driver, io, print }: SlashContext): Promise<void> {
  const { history = [], id = 'conversation' } = driver.conversation ?? {};
  if (history.length === 0) return print('  There is no conversation to export yet.');
  const path = resolve(io.cwd, file || `lathe-${id.slice(0, 8)}.md`);
  await writeFile(path, `${history.map(markdownOf).filter(Boolean).join('\n\n')}\n`, { flag: 'wx' });
  return print(`  Written to ${visibleText(path)}`);
}

function markdownOf(message: Message): string {
  if (message.role === 'user') {
    const asked = askedText(message);
    return asked === '' ? '' : `## You\n\n${asked}`;
  }
  const text = textOf(message.parts.filter(({ thought }) => !thought)).trim();
  const calls = message.parts.flatMap(({ functionCall }) => functionCall ?? []);
  const lines = calls.map(
    ({ name, args }) => `- \`${name}\` \`${JSON.stringify(args).slice(0, 500).replaceAll('`', "'")}\``,
  );
  const body = [text, lines.join('\n')].filter(Boolean).join('\n\n');
  return message.role === 'model' && body !== '' ? `## Model\n\n${body}` : '';
}

/** `/diff`: what is not committed yet. */
export async function showDiff({ lathe, io, style, print, signal }: SlashContext): Promise<void> {
  const command = 'git --no-pager diff --no-color --no-ext-diff HEAD';
  const run = runCalls(lathe, [{ name: 'run_shell_command', args: { command } }], signal);
  let next = await run.next();
  while (!next.done) next = await run.next();
  const [outcome] = next.value;
  const text = typeof outcome?.returnDisplay === 'string' ? outcome.returnDisplay : '';
  if (/not a git repository/i.test(text)) return print('  This is not a git repository.');
  if (outcome?.status !== 'success') return print(`  ${visibleText(text)}`);
  const files = text.split(/^(?=diff --git )/m).filter((part) => part.startsWith('diff --git '));
  if (files.length === 0)
    return print('  Nothing has changed since the last commit. New files that git does not know are not shown.');
  const width = Math.max(10, (io.terminal.columns || 80) - 1);
  return print(files.map((part) => renderFile(part, style, width)).join('\n\n'));
}

function renderFile(part: string, style: SlashContext['style'], width: number): string {
  const name = /^diff --git a\/(.*?) b\//.exec(part)?.[1] ?? '';
  const hunks = part.slice(Math.max(0, part.search(/^(?:@@|Binary)/m)));
  return `${style.bold(visibleText(name))}\n${renderDiff(hunks, style, { width })}`;
}

const initPrompt = `Look around in this project: its README, its manifest files, its scripts, its tests and the layout of its folders. Then write AGENTS.md in the project root for coding agents that work here: the commands to build, test and lint (also a single test), the parts of the code and how they depend on each other, and the conventions that cannot be seen at a glance. At most 60 lines, no advice that holds for any project. If there is an AGENTS.md, improve it and keep what is still true.`;

/** `/init`: has the model describe the project for later sessions. */
export function describeProject({ driver, signal }: SlashContext): AsyncIterable<AgentEvent> {
  return driver.prompt([initPrompt], signal);
}
