import { stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { hasHiddenText, osPath } from '@lathe/core/host';
import { type Workspace } from '@lathe/core/tools';

/**
 * `@` at the start of a word, up to a space or a bracket; `\ ` is a space in the name. Or a quoted name, escaped as in
 * JSON; the closing quote may be missing at the end of the text.
 */
const mention = /(?:^|(?<=\s))@(?:("(?:[^"\\\n]|\\.)+(?:"|$))|((?:\\.|[^\s\\,;!?()[\]{}"])+))/g;

/** What a text mentions as `@path`, without duplicates. */
export interface MentionedPaths {
  /** The existing files and folders, as patterns for `read_many_files`. */
  patterns: string[];
  /** The absolute paths of the files among them. */
  files: string[];
  /** What does not exist, as written. */
  missing: string[];
}

export async function mentionedPaths(text: string, workspace: Pick<Workspace, 'root'>): Promise<MentionedPaths> {
  const [patterns, files, missing] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (const [, quoted, plain = ''] of text.matchAll(mention)) {
    const path = quoted === undefined ? plainPath(plain) : unquote(quoted);
    if (path === undefined) continue;
    const absolute = isAbsolute(path) ? path : join(workspace.root, path);
    const info = await stat(osPath(absolute)).catch(() => undefined);
    if (info?.isFile() || info?.isDirectory()) patterns.add(info.isFile() ? path : join(path, '**'));
    if (info?.isFile()) files.add(absolute);
    if (info === undefined) missing.add(path);
  }
  return { patterns: [...patterns], files: [...files], missing: [...missing] };
}

/** A sentence about mentions that are neither files nor resources of these servers; `undefined` if there are none. */
export function describeMissing(missing: readonly string[], servers: readonly string[]): string | undefined {
  const names = missing.filter((name) => !servers.some((server) => name.startsWith(`${server}:`)));
  if (names.length === 0) return undefined;
  const shown = names.slice(0, 3).map((name) => `@${name}`);
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : '';
  return `No file or folder here matches ${shown.join(', ')}${more}: nothing was added for it.`;
}

/** Writes a path as a mention, quoted if it would be misread otherwise. */
export function mentionOf(path: string): string {
  const isPlain = /^[^\s\\,;!?()[\]{}"]+$/.test(path) && !path.endsWith('.') && !hasHiddenText(path);
  if (isPlain) return `@${path}`;
  const quoted = Array.from(JSON.stringify(path), (character) =>
    hasHiddenText(character) ? escape(character) : character,
  );
  return `@${quoted.join('')}`;
}

function escape(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

/** Without escapes and the dots that end a sentence; `undefined` without a letter or digit: a diff is full of `@@`. */
function plainPath(text: string): string | undefined {
  const path = text.replace(/\\(.)/g, '$1').replace(/\.+$/, '');
  return /[\p{L}\p{N}]/u.test(path) ? path : undefined;
}

function unquote(text: string): string | undefined {
  try {
    return String(JSON.parse(text.endsWith('"') ? text : `${text}"`));
  } catch {
    return undefined;
  }
}
