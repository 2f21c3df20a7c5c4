import { isAbsolute, resolve } from 'node:path';
import type { ToolCallContent, ToolCallLocation, ToolKind } from '@agentclientprotocol/sdk';
import type { AgentLathe } from '@lathe/agent';
import type { Confirmation, Display } from '@lathe/core';
import { keepEnds, visibleText } from '@lathe/core/host';

/** What an editor shows of a call before it runs. */
export interface CallHead {
  title: string;
  name: string;
  kind: ToolKind;
  locations: ToolCallLocation[];
}

type Tools = Pick<AgentLathe, 'tools' | 'workspace'>;

/** Longer texts are cut in the middle. */
const maxChars = 20_000;
const maxTitle = 300;
const maxLocations = 50;

export function callHead(
  { tools, workspace }: Tools,
  { name, description, args }: { name: string; description: string; args: unknown },
): CallHead {
  const tool = tools.getTool(name);
  const words = tool?.kind === 'execute' ? description : `${tool?.displayName ?? name} ${description}`;
  return {
    title: visibleText(words.trim()).slice(0, maxTitle) || name,
    name,
    kind: kindOf(name, tool?.kind),
    locations: locationsOf(args, workspace.root),
  };
}

function kindOf(name: string, kind = 'other'): ToolKind {
  if (name === 'exit_plan_mode') return 'switch_mode';
  const same = (['read', 'search', 'edit', 'execute', 'fetch', 'think'] as const).find((each) => each === kind);
  return same ?? (kind === 'agent' ? 'think' : 'other');
}

function locationsOf(args: unknown, root: string): ToolCallLocation[] {
  if (typeof args !== 'object' || args === null) return [];
  const { absolute_path, file_path, path, paths, offset }: Record<string, unknown> = { ...args };
  const named = [absolute_path, file_path, path, ...(Array.isArray(paths) ? paths : [])];
  const line = typeof offset === 'number' && Number.isSafeInteger(offset) && offset >= 0 ? offset + 1 : undefined;
  return named
    .filter((each): each is string => typeof each === 'string' && each !== '')
    .slice(0, maxLocations)
    .map((each) => ({ path: isAbsolute(each) ? each : resolve(root, each), ...(line !== undefined && { line }) }));
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
): ToolCallContent[] {
  const { filePath: path, fileDiff, originalContent: oldText, newContent: newText } = change;
  if (oldText === undefined || newText === undefined) return fencedContent(fileDiff, 'diff');
  return [{ type: 'diff', path, oldText, newText }];
}

export function textContent(text: string): ToolCallContent[] {
  return text.trim() === '' ? [] : [{ type: 'content', content: { type: 'text', text: visibleText(shorten(text)) } }];
}

/** The fence is longer than any in the text. */
export function fencedContent(text: string, language = ''): ToolCallContent[] {
  if (text.trim() === '') return [];
  const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  const fenced = `${fence}${language}\n${visibleText(shorten(text)).replace(/\n$/, '')}\n${fence}`;
  return [{ type: 'content', content: { type: 'text', text: fenced } }];
}

function shorten(text: string): string {
  if (text.length <= maxChars) return text;
  const { head, tail, omitted } = keepEnds(text, maxChars);
  return `${head}\n[${omitted} characters left out]\n${tail}`;
}
