import { anyDepth, globOfParts, type Part } from './compile-glob.js';
import {
  type Component,
  type ComponentOptions,
  compileTokens,
  lowerAscii,
  type Token,
  tokensOf,
} from './glob-component.js';

/** A pattern with slashes as git interprets it: without braces. */
export interface GitGlob {
  /** Tests a whole relative path. */
  matches: (path: string) => boolean;
  /** Set when every path that matches ends in this name. */
  name?: string;
}

const slash = '/'.charCodeAt(0);

export function compileGitGlob(pattern: string, options: Pick<ComponentOptions, 'namesAreLowered'> = {}): GitGlob {
  // Git compares the text before the first wildcard literally and matches only the rest as a pattern.
  const first = pattern.search(/[*?[\\]|$/);
  const folded = options.namesAreLowered ? lowerAscii(pattern) : pattern;
  if (first === pattern.length)
    return { name: folded.slice(folded.lastIndexOf('/') + 1), matches: (path) => path === folded };
  const before = folded.slice(0, first);
  const tokens = tokensOf(pattern.slice(first), options);
  if (tokens === undefined) return { matches: () => false };
  const parts = partsOf(tokens);
  const matchesRest = compileParts(parts);
  const matches = (path: string) => path.startsWith(before) && matchesRest(path.slice(before.length));
  // In git `a**/b` also matches `ab`.
  const isWhole = before === '' || before.endsWith('/') || parts[0] !== anyDepth;
  const name = /(?:^|\/)([^*?[\\\]/]+)$/.exec(folded)?.[1];
  return name !== undefined && isWhole ? { matches, name } : { matches };
}

/** Splits at slashes outside of sets; a part of two or more stars stands for any number of directories. */
function partsOf(tokens: readonly Token[]): Part[] {
  const parts: Token[][] = [[]];
  for (const token of tokens) {
    if (token === slash) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts.map((part) =>
    part.length > 1 && part.every((token) => token === 'star') ? anyDepth : compileTokens(part),
  );
}

function compileParts(parts: readonly Part[]): (path: string) => boolean {
  const components = parts.filter((part) => part !== anyDepth);
  if (components.length === parts.length) return inOrder(components);
  const glob = globOfParts(parts);
  return (path) => glob.matches(path);
}

/** Without `**`, one pass over the path is enough: it takes a quarter of the time of `globOfParts`. */
function inOrder(components: readonly Component[]): (path: string) => boolean {
  return (path) => {
    let start = 0;
    for (const [index, component] of components.entries()) {
      const end = path.indexOf('/', start);
      const isLast = index === components.length - 1;
      if (end < 0 !== isLast || !component(isLast ? path.slice(start) : path.slice(start, end))) return false;
      start = end + 1;
    }
    return true;
  };
}
