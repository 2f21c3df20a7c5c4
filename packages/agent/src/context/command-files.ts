import { parseFrontMatter } from '@lathe/core/host';
import { type DefinitionPlaces, readDefinitions } from '../definition-files.js';

/** A command that a person or a project defined: a prompt with a name. */
export interface CommandFile {
  /** `a:b` for `a/b.md` or `a/b.toml`. */
  name: string;
  description: string;
  pieces: readonly PromptPiece[];
  path: string;
  owner: 'person' | 'project' | 'plugin';
}

/** Where command files are looked for. */
export interface CommandPlaces extends DefinitionPlaces {
  /** Names that no file can have. */
  isTaken: (name: string) => boolean;
}

const maxCommands = 200;
const maxDepth = 4;
const extension = /\.(?:md|toml)$/;

/**
 * Loads commands from `commands/*.md` and `*.toml`: the person's own, then the workspace's, which cannot replace any.
 * `problems` names the files that are not used, for people.
 */
export async function loadCommands(places: CommandPlaces): Promise<{ commands: CommandFile[]; problems: string[] }> {
  const commands = new Map<string, CommandFile>();
  const files = { kind: 'commands', extension, maxDepth };
  const problems = await readDefinitions(places, files, async ({ path, name: file, owner, text }) => {
    const name = commandName(file);
    const { prompt, description } = path.endsWith('.toml') ? await readToml(text) : readMarkdown(text);
    if (prompt === '') throw new Error('it has no text');
    if (places.isTaken(name) || commands.has(name))
      throw new Error(`there is a command /${name} already; this one is not used`);
    const command = { name, description: firstLine(description ?? prompt), pieces: promptPieces(prompt) };
    commands.set(name, { ...command, path, owner });
  });
  const all = [...commands.values()];
  if (all.length > maxCommands) problems.push(`Only the first ${maxCommands} of ${all.length} commands are used`);
  return { commands: all.slice(0, maxCommands), problems };
}

function commandName(file: string): string {
  const name = file.replace(extension, '').replaceAll('/', ':');
  if (/^[A-Za-z0-9_][\w.-]*(?::[\w.-]+)*$/.test(name)) return name;
  throw new Error('a command name may contain only letters, digits, ., - and _');
}

function readMarkdown(text: string) {
  const { fields, body } = parseFrontMatter(text) ?? { fields: undefined, body: text };
  return { prompt: body.trim(), description: textOrUndefined(fields?.get('description')) };
}

/** The format of Qwen Code and Gemini CLI: `prompt`, and optionally `description`. */
async function readToml(text: string) {
  const { parse } = await import('smol-toml');
  const { prompt, description } = parse(text);
  if (typeof prompt !== 'string') throw new Error('it has no prompt = "…"');
  return { prompt: prompt.trim(), description: textOrUndefined(description) };
}

const textOrUndefined = (value: unknown) => (typeof value === 'string' ? value : undefined);

function firstLine(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? '';
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}

/** A piece of a prompt: `!{command}` inserts its output, `@{path}` a file. Inserted text is never expanded again. */
export type PromptPiece = { type: 'text' | 'command' | 'file'; text: string };

/** Splits a prompt. Braces inside a command count in pairs. Throws when one is not closed. */
export function promptPieces(prompt: string): PromptPiece[] {
  const pieces: PromptPiece[] = [];
  const mark = /[!@]\{/g;
  let end = 0;
  for (let match = mark.exec(prompt); match; match = mark.exec(prompt)) {
    const close = closingBrace(prompt, match.index + 1);
    const type = match[0] === '!{' ? 'command' : 'file';
    pieces.push({ type: 'text', text: prompt.slice(end, match.index) });
    pieces.push({ type, text: prompt.slice(match.index + 2, close).trim() });
    mark.lastIndex = end = close + 1;
  }
  return [...pieces, { type: 'text' as const, text: prompt.slice(end) }].filter(({ text }) => text !== '');
}

/** Replaces `{{args}}` by the arguments of the command, or appends them when the prompt has no placeholder. */
export function withArguments(pieces: readonly PromptPiece[], argument: string): PromptPiece[] {
  const filled = pieces.map(({ type, text }) => {
    const value = type === 'command' ? shellWord(argument) : argument;
    return { type, text: text.replaceAll(placeholder, () => value) };
  });
  const isPlaced = pieces.some(({ text }) => text.includes(placeholder));
  return isPlaced || argument === '' ? filled : [...filled, { type: 'text', text: `\n\n${argument}` }];
}

const placeholder = '{{args}}';

/** The text quoted as one shell word; empty text stays empty. */
function shellWord(text: string): string {
  return text === '' ? '' : `'${text.replaceAll("'", "'\\''")}'`;
}

function closingBrace(prompt: string, open: number): number {
  let depth = 0;
  for (let index = open; index < prompt.length; index++) {
    if (prompt[index] === '{') depth += 1;
    if (prompt[index] === '}') depth -= 1;
    if (depth === 0) return index;
  }
  throw new Error(`${prompt.slice(open - 1, open + 20)}… is not closed`);
}
