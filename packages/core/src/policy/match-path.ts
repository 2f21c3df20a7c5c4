import { join, relative, sep } from 'node:path';
import ignore from 'ignore';
import { isWithin } from '../files/workspace.js';
import type { Reading } from './rule.js';

/** Where the short forms of a path rule begin. */
export interface PathBases {
  home: string;
  /** The project: `/src/**` is relative to it. */
  root: string;
  /** Where the agent was started: `./x` is relative to it. */
  cwd: string;
}

/** Patterns as in `.gitignore`: `//etc/**` absolute, `~/x`, `/src/**` and `**` + `/*.env` in the project, `./x` here. */
export function matchesPath(spec: string, path: string, reading: Reading, bases: PathBases): boolean {
  const { base, pattern } = anchor(spec, bases);
  if (path === base || !isWithin(base, path)) return false;
  const inside = relative(base, path).split(sep).join('/');
  // Case is folded only where that forbids more.
  return ignore({ ignorecase: reading === 'wide' })
    .add(pattern)
    .ignores(inside);
}

function anchor(spec: string, bases: PathBases): { base: string; pattern: string } {
  if (spec.startsWith('//')) return { base: sep === '/' ? '/' : `${spec.slice(2, 4)}\\`, pattern: spec.slice(1) };
  if (spec.startsWith('~/')) return { base: bases.home, pattern: spec.slice(1) };
  if (spec.startsWith('./')) return { base: bases.cwd, pattern: spec.slice(1) };
  if (spec.startsWith('../')) return { base: join(bases.cwd, '..'), pattern: spec.slice(2) };
  return { base: bases.root, pattern: spec };
}
