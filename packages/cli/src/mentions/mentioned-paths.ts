import { stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import type { Workspace } from '@lathe/core';

/** `@` at the beginning of a word, up to a blank or a bracket; `\ ` is a blank in the name. */
const mention = /(?:^|(?<=\s))@((?:\\.|[^\s\\,;!?()[\]{}])+)/g;

/** The files and folders that a text mentions as `@path` and that exist, each once, as the file tools want them. */
export async function mentionedPaths(text: string, workspace: Workspace): Promise<string[]> {
  const found: string[] = [];
  for (const [, spelled = ''] of text.matchAll(mention)) {
    const path = spelled.replace(/\\(.)/g, '$1').replace(/\.+$/, '');
    const absolute = isAbsolute(path) ? path : join(workspace.root, path);
    const info = await stat(absolute).catch(() => undefined);
    if (info?.isFile()) found.push(path);
    if (info?.isDirectory()) found.push(join(path, '**'));
  }
  return [...new Set(found)];
}
