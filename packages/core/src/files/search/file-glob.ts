import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  compileGlob,
  type GlobState,
  globExtent,
  globProblem,
  globSlip,
  hasWildcard,
} from '../../text/glob/compile-glob.js';
import { expandBraces } from '../../text/glob/expand-braces.js';
import type { SearchGlob } from './search-tree.js';

/** The file filter of a search: without a slash it holds at any depth, with a leading `!` it excludes. */
export interface FileGlob extends SearchGlob {
  /** Nothing below the directory can match. */
  isElsewhere: boolean;
}

/** The filter as seen from `directory`, in which a search starts. */
export function compileFileGlob(glob: string, directory: string): FileGlob {
  const isNegated = glob.startsWith('!');
  // As in an ignore file, a trailing slash means directories at any depth.
  const isDirectory = isNegated && /[^/]\/+$/.test(glob);
  const body = (isNegated ? glob.slice(1) : glob).replace(isDirectory ? /\/+$/ : '', '');
  const pattern = body.includes('/') ? body : `**/${body}`;
  const start = body.startsWith('/') ? startBelow(directory, body) : compileGlob(pattern).start;
  if (isNegated)
    return {
      start: start === undefined ? everything : without(start, isDirectory),
      fixed: 0,
      isElsewhere: false,
    };
  if (start === undefined) return { start: nothing, fixed: 0, isElsewhere: true };
  // The depth of an absolute pattern is not counted.
  if (body.startsWith('/')) return { start, fixed: 0, names: fileNames(body), isElsewhere: false };
  return { start, ...globExtent(pattern), names: fileNames(pattern), isElsewhere: false };
}

/** Patterns for the names of matching files; `undefined` when ripgrep may read them differently. */
function fileNames(pattern: string): string[] | undefined {
  const names = expandBraces(pattern).map(lastName);
  // For ripgrep `?` is a byte, and a name that ends in a dot matches nothing.
  const isPlain = names.length <= 50 && names.every((name) => /^(?:[\w.-]|\*(?!\*))*[\w*-]$/.test(name));
  if (!isPlain || names.some((name) => /^\*+$/.test(name))) return undefined;
  // A file may be spelled exactly like the glob.
  return [...new Set([...names, lastName(pattern).replace(/[{},]/g, '[$&]')])];
}

function lastName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Why a filter is invalid; `undefined` when it is valid. */
export function fileGlobProblem(glob: string): string | undefined {
  const problem = globProblem(glob);
  if (problem !== undefined) return problem;
  if (glob.split('/').includes('..')) return '".." is not possible; give the directory as path';
  if (glob.endsWith('/') && !glob.startsWith('!')) return `${glob} is a directory; ${glob}** is what is in it`;
  return globSlip(glob.replace(/^!/, ''));
}

/** An absolute pattern starts with the path of the directory or, as in an ignore file, means it: `/src` is right in it. */
function startBelow(directory: string, pattern: string): GlobState | undefined {
  const { start } = compileGlob(pattern);
  const names = directory.split('/').filter((name) => name !== '');
  const here = names.reduce<GlobState | undefined>((state, name) => state?.enter(name), start);
  const [, first = ''] = pattern.split('/');
  return here ?? (hasWildcard(first) || existsSync(join(directory, first)) ? start : undefined);
}

function without(excluded: GlobState, isDirectory: boolean): GlobState {
  return {
    matches: (name) => isDirectory || !excluded.matches(name),
    enter(name) {
      if (excluded.matches(name)) return undefined;
      const next = excluded.enter(name);
      return next === undefined ? everything : without(next, isDirectory);
    },
  };
}

const everything: GlobState = { matches: () => true, enter: () => everything };
const nothing: GlobState = { matches: () => false, enter: () => undefined };
