import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseFrontMatter, readBounded, visibleText } from '@lathe/core/host';
import { type Workspace } from '@lathe/core/tools';
import { type PromptPiece, promptPieces } from './prompt-pieces.js';

/** A command that a person or a project wrote: a prompt with a name. */
export interface CommandFile {
  /** `a:b` for `a/b.md` or `a/b.toml`. */
  name: string;
  description: string;
  pieces: readonly PromptPiece[];
  path: string;
  owner: 'person' | 'project';
}

/** Where command files are looked for. */
export interface CommandPlaces {
  workspace: Workspace;
  /** Files of the workspace count only when it is trusted. */
  isTrusted: boolean;
  /** Folders of the person's own, the first before the second. */
  personalFolders: readonly string[];
  /** Names that no file can have. */
  isTaken: (name: string) => boolean;
}

const maxFileBytes = 64 * 1024;
const maxCommands = 200;
const maxDepth = 4;

/**
 * Commands from `commands/*.md` and `*.toml`: the person's own, then the workspace's, which cannot take the place of anything. Files
 * that do not count are problems, for people.
 */
export async function loadCommands({
  workspace,
  isTrusted,
  personalFolders,
  isTaken,
}: CommandPlaces): Promise<{ commands: CommandFile[]; problems: string[] }> {
  const commands = new Map<string, CommandFile>();
  const problems: string[] = [];
  const projectFolders = isTrusted
    ? ['.lathe', '.qwen'].map((name) => join(workspace.root, name, 'commands')).filter(isNotIn(personalFolders))
    : [];
  for (const folder of [...personalFolders, ...projectFolders]) {
    const owner = personalFolders.includes(folder) ? 'person' : 'project';
    for (const file of filesIn(folder)) {
      const path = join(folder, file);
      try {
        const command = { ...named(file), ...(await read(path, owner === 'project' ? workspace : undefined)) };
        if (isTaken(command.name) || commands.has(command.name))
          throw new Error(`there is a command /${command.name} already; this one is not used`);
        commands.set(command.name, { ...command, path, owner });
      } catch (error) {
        problems.push(visibleText(`${path}: ${error instanceof Error ? error.message : String(error)}`));
      }
    }
  }
  const all = [...commands.values()];
  if (all.length > maxCommands) problems.push(`Only the first ${maxCommands} of ${all.length} commands are used`);
  return { commands: all.slice(0, maxCommands), problems };
}

const isNotIn = (folders: readonly string[]) => (folder: string) => !folders.includes(folder);

const extension = /\.(?:md|toml)$/;

/** Names relative to the folder, sorted. Links to folders are not followed: they could go in circles. */
function filesIn(folder: string, way = '', depth = 1): string[] {
  try {
    const entries = readdirSync(join(folder, way), { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
    return entries.slice(0, 2 * maxCommands).flatMap((entry) => {
      const name = way === '' ? entry.name : `${way}/${entry.name}`;
      if (entry.isDirectory()) return depth < maxDepth ? filesIn(folder, name, depth + 1) : [];
      return extension.test(name) ? [name] : [];
    });
  } catch {
    // Most people have no such folder.
    return [];
  }
}

function named(file: string): { name: string } {
  const name = file.replace(extension, '').replaceAll('/', ':');
  if (!/^[A-Za-z0-9_][\w.-]*(?::[\w.-]+)*$/.test(name))
    throw new Error('the name of a command is made of letters, digits, ., - and _');
  return { name };
}

async function read(path: string, gate?: Workspace): Promise<Pick<CommandFile, 'description' | 'pieces'>> {
  const location = await gate?.locate(path);
  if (location && !(location.inside && location.secret === undefined)) throw new Error('it leads out of the project');
  const text = readBounded(location?.path ?? path, maxFileBytes) ?? '';
  const plain = visibleText(text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n'));
  const { prompt, description } = path.endsWith('.toml') ? await readToml(plain) : readMarkdown(plain);
  if (prompt === '') throw new Error('it has no text');
  return { description: firstLine(description ?? prompt), pieces: promptPieces(prompt) };
}

interface CommandText {
  prompt: string;
  description: string | undefined;
}

function readMarkdown(text: string): CommandText {
  const { fields, body } = parseFrontMatter(text) ?? { fields: undefined, body: text };
  return { prompt: body.trim(), description: textOrNothing(fields?.get('description')) };
}

/** As Qwen Code and Gemini CLI write them: `prompt`, and perhaps `description`. */
async function readToml(text: string): Promise<CommandText> {
  const { parse } = await import('smol-toml');
  const { prompt, description } = parse(text);
  if (typeof prompt !== 'string') throw new Error('it has no prompt = "…"');
  return { prompt: prompt.trim(), description: textOrNothing(description) };
}

const textOrNothing = (value: unknown) => (typeof value === 'string' ? value : undefined);

function firstLine(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? '';
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
