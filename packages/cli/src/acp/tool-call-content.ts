import { resolve } from 'node:path';
import type { ToolCallContent, ToolCallLocation, ToolKind } from '@agentclientprotocol/sdk';
import type { AgentLathe } from '@lathe/agent';
import type { Confirmation, Display } from '@lathe/core';
import { headOf, keepEnds, visibleText } from '@lathe/core/host';
import { fenced } from '../render/fenced.js';

/** Longer texts are cut in the middle. */
const maxChars = 20_000;
const maxTitle = 300;
const maxLocations = 50;

/** What an editor shows of a call before it runs. */
export function callHead(
  { tools, workspace }: Pick<AgentLathe, 'tools' | 'workspace'>,
  { name, description, args }: { name: string; description: string; args: unknown },
) {
  const { kind = 'other', displayName = name } = tools.getTool(name) ?? {};
  const words = kind === 'execute' || description === name ? description : `${displayName} ${description}`;
  return {
    title: headOf(visibleText(words.trim()), maxTitle) || name,
    name,
    kind: kindOf(name, kind),
    locations: locationsOf(args, workspace.root),
  };
}

const kindOf = (name: string, kind: Exclude<ToolKind, 'switch_mode'> | 'agent'): ToolKind =>
  name === 'exit_plan_mode' ? 'switch_mode' : kind === 'agent' ? 'think' : kind;

function locationsOf(args: unknown, root: string): ToolCallLocation[] {
  const { absolute_path, file_path, path, paths, offset }: Record<string, unknown> = { ...Object(args) };
  const named = [absolute_path, file_path, path, ...(Array.isArray(paths) ? paths : [])];
  const line = Number.isSafeInteger(offset) && Number(offset) >= 0 ? { line: Number(offset) + 1 } : {};
  return named
    .filter((each): each is string => typeof each === 'string' && each !== '')
    .slice(0, maxLocations)
    .map((each) => ({ path: resolve(root, each), ...line }));
}

/** What an editor shows of a result, or of live output. */
export function displayContent(display: Display): ToolCallContent[] {
  if (typeof display === 'string') return textContent(display);
  switch (display.type) {
    case 'file_diff':
      return diffContent(display);
    case 'todo_list':
      return [];
    case 'plan_summary':
      return textContent(`${display.message}\n\n${display.plan}`);
    case 'task_execution': {
      const calls = display.toolCalls.map(({ name, description, status }) => `- ${name} ${description} (${status})`);
      return textContent([...calls, display.result ?? ''].join('\n').trim());
    }
    case 'terminal_output':
      return fencedContent(display.text);
  }
}

/** An edit as two texts, or as a unified diff when the texts are too large to keep. */
export function diffContent(
  change: Pick<Extract<Confirmation, { type: 'edit' }>, 'filePath' | 'fileDiff' | 'originalContent' | 'newContent'>,
  max = maxChars,
): ToolCallContent[] {
  const { filePath: path, fileDiff, originalContent: oldText, newContent: newText } = change;
  if (oldText === undefined || newText === undefined) return contentOf(fileDiff, (short) => fenced(short, 'diff'), max);
  return [{ type: 'diff', path, oldText, newText }];
}

const textContent = (text: string): ToolCallContent[] => contentOf(text, (short) => short);

export const fencedContent = (text: string): ToolCallContent[] => contentOf(text, (short) => fenced(short));

function contentOf(text: string, format: (text: string) => string, max = maxChars): ToolCallContent[] {
  if (text.trim() === '') return [];
  const { head, tail, omitted } = keepEnds(text, max);
  const short = text.length <= max ? text : `${head}\n[${omitted} characters left out]\n${tail}`;
  return [{ type: 'content', content: { type: 'text', text: format(visibleText(short)) } }];
}
