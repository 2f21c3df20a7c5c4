import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { compileGlob, type GlobState, globProblem, globSlip, hasWildcard } from '../text/compile-glob.js';
import { expandBraces } from '../text/expand-braces.js';

/** A filter for files as people write it for a search: without a slash at any depth, with `!` in front everything else. */
export interface FileGlob {
  start: GlobState;
  /** Patterns for names that surely mean the same to ripgrep; `undefined` when there are none. */
  names: string[] | undefined;
  /** All that counts is what names end in, from a dot on: however a name is written, that stays the same. */
  isByExtension: boolean;
  /** Nothing below the directory can match. */
  isElsewhere: boolean;
}

/** The filter as seen from `directory`, in which a search starts. */
export function compileFileGlob(glob: string, directory: string): FileGlob {
  const isNegated = glob.startsWith('!');
  // As in an ignore file, a slash at the end speaks of directories, wherever they are.
  const isDirectory = isNegated && /[^/]\/+$/.test(glob);
  const body = (isNegated ? glob.slice(1) : glob).replace(isDirectory ? /\/+$/ : '', '');
  const start = body.startsWith('/')
    ? startBelow(directory, body)
    : compileGlob(body.includes('/') ? body : `**/${body}`).start;
  if (isNegated) {
    const others = start === undefined ? everything : without(start, isDirectory);
    return { start: others, names: undefined, isByExtension: false, isElsewhere: false };
  }
  if (start === undefined) return { start: nothing, names: undefined, isByExtension: false, isElsewhere: true };
  const alternatives = expandBraces(body);
  // To ripgrep `?` is a byte, and the name `.` one like any other.
  const isPlain = alternatives.length <= 50 && alternatives.every((name) => /^(?!\.$)(?:[\w.-]|\*(?!\*))+$/.test(name));
  // A file may be spelled exactly like the glob.
  const names = [...new Set([...alternatives, body.replace(/[{},]/g, '[$&]')])];
  const isByExtension = isPlain && alternatives.every((name) => /^\*(?:\.[\w-]+)+$/.test(name));
  return { start, names: isPlain ? names : undefined, isByExtension, isElsewhere: false };
}

/** Why a filter cannot be used, for its author; `undefined` when it can. */
export function fileGlobProblem(glob: string): string | undefined {
  const problem = globProblem(glob);
  if (problem !== undefined) return problem;
  if (glob.split('/').includes('..')) return '".." is not possible; give the directory as path';
  if (glob.endsWith('/') && !glob.startsWith('!')) return `${glob} is a directory; ${glob}** is what is in it`;
  return globSlip(glob.replace(/^!/, ''));
}

/** An absolute pattern leads here by its first names, or is meant as in an ignore file: `/src` is the one right here. */
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
