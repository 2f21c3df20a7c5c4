import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseFrontMatter, readBounded, visibleText } from '@lathe/core/host';
import { type Workspace } from '@lathe/core/tools';
import { builtInSubagents, type SubagentDefinition } from './subagent-definition.js';

export interface SubagentPlaces {
  workspace: Workspace;
  /** Files of the workspace count only when it is trusted. */
  isTrusted: boolean;
  /** Folders of the person's own, the first before the second. */
  personalFolders: readonly string[];
}

export interface LoadedSubagents {
  definitions: SubagentDefinition[];
  /** Files that do not count, for people. */
  problems: string[];
}

const maxFileBytes = 64 * 1024;
/** The model is told about each of them with every request. */
const maxSubagents = 30;

/**
 * Subagents: the built-in ones, then the person's own, which may replace those, then the workspace's, which may not
 * replace anything.
 */
export async function loadSubagents({
  workspace,
  isTrusted,
  personalFolders,
}: SubagentPlaces): Promise<LoadedSubagents> {
  const problems: string[] = [];
  const definitions = new Map(builtInSubagents.map((definition) => [definition.name, definition]));
  const own = new Set<string>();
  for (const path of personalFolders.flatMap(markdownIn)) {
    const definition = await read(path, problems);
    if (!definition || own.has(definition.name)) continue;
    own.add(definition.name);
    definitions.set(definition.name, definition);
  }
  const folders = isTrusted ? ['.lathe', '.qwen'].map((folder) => join(workspace.root, folder, 'agents')) : [];
  for (const path of folders.flatMap(markdownIn)) {
    const definition = await read(path, problems, workspace);
    if (!definition) continue;
    if (definitions.has(definition.name))
      problems.push(visibleText(`${path}: there is a subagent ${definition.name} already; this one is not used`));
    else definitions.set(definition.name, definition);
  }
  const all = [...definitions.values()];
  if (all.length > maxSubagents) problems.push(`Only the first ${maxSubagents} of ${all.length} subagents are used`);
  return { definitions: all.slice(0, maxSubagents), problems };
}

function markdownIn(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith('.md'));
    return names.sort().map((name) => join(folder, name));
  } catch {
    // Most people have no such folder.
    return [];
  }
}

async function read(path: string, problems: string[], gate?: Workspace): Promise<SubagentDefinition | undefined> {
  try {
    const location = await gate?.locate(path);
    if (location && !(location.inside && location.secret === undefined)) throw new Error('it leads out of the project');
    const text = readBounded(location?.path ?? path, maxFileBytes);
    return text === undefined ? undefined : parseSubagent(text);
  } catch (error) {
    problems.push(visibleText(`${path}: ${error instanceof Error ? error.message : String(error)}`));
    return undefined;
  }
}

/** Throws an error that says what is missing. */
export function parseSubagent(text: string): SubagentDefinition {
  const parsed = parseFrontMatter(visibleText(text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n')));
  if (!parsed) throw new Error('a subagent begins with front matter: name and description between lines of ---');
  const { fields, body } = parsed;
  const name = textField(fields, 'name');
  if (!/^[A-Za-z0-9][\w-]{0,49}$/.test(name)) throw new Error('its name is not made of letters, digits, - and _');
  const description = textField(fields, 'description');
  if (description === '') throw new Error('it has no description');
  const model = textField(fields, 'model');
  const tools = listField(fields, 'tools');
  const withoutTools = listField(fields, 'disallowedTools');
  return {
    name,
    description,
    ...(body.trim() !== '' && { instructions: body.trim() }),
    ...(tools && { tools }),
    ...(withoutTools && { withoutTools }),
    ...(model !== '' && model !== 'inherit' && { model }),
  };
}

type Fields = ReadonlyMap<string, string | readonly string[]>;

function textField(fields: Fields, name: string): string {
  const value = fields.get(name);
  return typeof value === 'string' ? value.trim() : '';
}

/** `tools: a, b` and a list mean the same; a field without a value gives nothing. */
function listField(fields: Fields, name: string): string[] | undefined {
  const value = fields.get(name);
  if (value === undefined) return undefined;
  const items = typeof value === 'string' ? value.split(',') : value;
  return items.map((item) => item.trim()).filter((item) => item !== '');
}
