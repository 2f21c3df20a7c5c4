import { readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/** Where to find the user's configuration of git. */
export interface ConfigPlaces {
  home: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** The files with the configuration of the user and of the system. They may be missing. */
export function sharedConfigs({ home, env }: ConfigPlaces): string[] {
  const { GIT_CONFIG_GLOBAL: global, GIT_CONFIG_SYSTEM: system, XDG_CONFIG_HOME: config } = env;
  return [
    ...(global ? [global] : [join(home, '.gitconfig'), join(config || join(home, '.config'), 'git/config')]),
    ...(system ? [system] : ['/etc/gitconfig', '/usr/local/etc/gitconfig', '/opt/homebrew/etc/gitconfig']),
  ];
}

/** More than anybody has. */
const maxFiles = 50;
const maxBytes = 262_144;

/**
 * The values of `core.hooksPath` in these files and in all that they include, under whatever condition, and what they
 * include. A value in another section counts too: one too many protects a place that needs no protection.
 */
export async function readConfigs(
  files: readonly string[],
  home: string,
): Promise<{ hooksPaths: string[]; included: string[] }> {
  const hooksPaths: string[] = [];
  const all = new Set(files);
  // The set grows while it is walked.
  for (const file of all) {
    const text = await textOf(file);
    hooksPaths.push(...valuesOf(text, 'hookspath').map((path) => inHome(path, home)));
    for (const path of valuesOf(text, 'path'))
      if (all.size < maxFiles) all.add(resolve(dirname(file), inHome(path, home)));
  }
  return { hooksPaths, included: [...all].slice(files.length) };
}

function inHome(path: string, home: string): string {
  return path.replace(/^~(?=\/)/, home);
}

/** Empty if it cannot be read, or is not a small regular file. */
async function textOf(file: string): Promise<string> {
  const info = await stat(file).catch(() => undefined);
  if (!info?.isFile() || info.size === 0 || info.size > maxBytes) return '';
  return readFile(file, 'utf8').catch(() => '');
}

function valuesOf(text: string, key: string): string[] {
  const assignments = text.matchAll(new RegExp(`(?:^|\\])[ \\t]*${key}[ \\t]*=((?:\\\\\\r?\\n|[^\\n])*)`, 'gim'));
  return [...assignments].map(([, written = '']) => plainValue(written));
}

/** Without quotes, comments and line breaks. */
function plainValue(written: string): string {
  let value = '';
  let isQuoted = false;
  for (const [token, escaped] of written.matchAll(/\\\r?\n|\\(.)|./gs)) {
    if (token === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (token === '#' || token === ';')) break;
    else if (!token.endsWith('\n')) value += escaped ?? token;
  }
  return value.trim();
}
