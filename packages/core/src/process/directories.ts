import { join } from 'node:path';
import type { Argument } from './expand-word.js';

/** The directories the shell may be in after success and after failure; none when that is unknown. */
export interface Outcome {
  ok: readonly string[];
  failed: readonly string[];
}

/** Whether it succeeds or not. */
export const both = (cwds: readonly string[]): Outcome => ({ ok: cwds, failed: cwds });

/** No directory of a sane project has a longer path. */
const maxLength = 1024;

const oddPaths = [
  /^-/,
  // What a stream or a process leads to is another thing for everybody.
  /^\/+(dev|proc)(\/|$)/,
  // The shell resolves `a/..` by text, other programs by the file system: such a path would mean two places.
  /[^/.][^/]*\/+\.\.(\/|$)/,
];

/** Where `cd` leads; `undefined` when only the run can tell. */
export function directoryAfter(
  args: readonly Argument[],
  { cwds, home }: { cwds: readonly string[]; home: string },
): Outcome | undefined {
  const [target, ...others] = args[0]?.value === '--' ? args.slice(1) : args;
  const path = target?.value ?? home;
  const isPlain = others.length === 0 && (target?.isKnown ?? true) && path !== '';
  if (!isPlain || oddPaths.some((pattern) => pattern.test(path))) return undefined;
  const ok = path.startsWith('/') ? [join('/', path)] : cwds.map((cwd) => join(cwd, path));
  return ok.every((directory) => directory.length <= maxLength) ? { ok, failed: cwds } : undefined;
}

const movers = new Set(['pushd', 'popd', 'eval', 'source', '.']);

/** Whether a command other than `cd` may change the directory of the shell. */
export function mayMove([name, ...args]: readonly Argument[]): boolean {
  if (name === undefined || !name.isKnown || movers.has(name.value)) return true;
  return ['command', 'builtin'].includes(name.value) && args.some(({ value, isKnown }) => !isKnown || value === 'cd');
}

/** Unknown, which is empty, wins; more places than one may follow are unknown too. */
export function union(left: readonly string[], right: readonly string[]): readonly string[] {
  if (left === right) return left;
  if (left.length === 0 || right.length === 0) return [];
  const all = [...new Set([...left, ...right])];
  return all.length > 8 ? [] : all;
}
