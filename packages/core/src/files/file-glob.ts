import { compileGlob, expandBraces, type GlobState } from '../text/glob.js';

/** A filter for files as people write it for a search: without a slash at any depth, with `!` in front everything else. */
export interface FileGlob {
  start: GlobState;
  /** The same filter as flags of ripgrep, when both surely mean the same. */
  flags: string[] | undefined;
}

export function compileFileGlob(glob: string): FileGlob {
  const isNegated = glob.startsWith('!');
  const body = isNegated ? glob.slice(1) : glob;
  const pattern = body.includes('/') ? body : `**/${body}`;
  const { start } = compileGlob(pattern);
  if (isNegated) return { start: without(start), flags: undefined };
  const alternatives = expandBraces(body);
  // To ripgrep `?` is a byte, and the name `.` one like any other.
  const isPlain = alternatives.length <= 50 && alternatives.every((name) => /^(?!\.$)(?:[\w.-]|\*(?!\*))+$/.test(name));
  // A file may be spelled exactly like the glob.
  const names = new Set([...alternatives, body.replace(/[{},]/g, '[$&]')]);
  // A type of files: unlike `--glob`, it takes nothing back that an ignore file hides.
  const types = [...[...names].map((name) => `--type-add=wanted:${name}`), '--type=wanted'];
  // Named files are few, and may be large: ripgrep maps those into memory when they are its arguments.
  const flags = body.includes('*') ? types : [...types, '--mmap'];
  return { start, flags: isPlain ? flags : undefined };
}

function without(excluded: GlobState): GlobState {
  return {
    matches: (name) => !excluded.matches(name),
    enter(name) {
      const next = excluded.enter(name);
      return next === undefined ? everything : without(next);
    },
  };
}

const everything: GlobState = { matches: () => true, enter: () => everything };
