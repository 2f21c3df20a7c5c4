import { join } from 'node:path';
import type { Argument } from './expand-word.js';

/** The directories the shell may be in after success and after failure; none when that is unknown. */
export interface Outcome {
  ok: readonly string[];
  failed: readonly string[];
}

/** Whether it succeeds or not. */
export const both = (cwds: readonly string[]): Outcome => ({ ok: cwds, failed: cwds });

/** Longer paths are not followed. */
const maxLength = 1024;

const unusualPaths = [
  /^-/,
  // Paths below /dev and /proc mean something else for each process.
  /^\/+(dev|proc)(\/|$)/,
  // The shell resolves `a/..` by text, other programs by the file system, so such a path could mean two places.
  /[^/.][^/]*\/+\.\.(\/|$)/,
];

/** Where `cd` leads; `undefined` if that is known only at run time. */
export function directoryAfter(
  args: readonly Argument[],
  { cwds, home }: { cwds: readonly string[]; home: string },
): Outcome | undefined {
  const [target, ...others] = args[0]?.value === '--' ? args.slice(1) : args;
  const path = target?.value ?? home;
  const isPlain = others.length === 0 && (target?.isKnown ?? true) && path !== '';
  if (!isPlain || unusualPaths.some((pattern) => pattern.test(path))) return undefined;
  const ok = path.startsWith('/') ? [join('/', path)] : cwds.map((cwd) => join(cwd, path));
  return ok.every((directory) => directory.length <= maxLength) ? { ok, failed: cwds } : undefined;
}

const directoryChangers = new Set(['pushd', 'popd', 'eval', 'source', '.']);

/** `pushd directory`, which moves as `cd` does. */
export function isPlainPush([name, target, ...more]: readonly Argument[]): boolean {
  return name?.value === 'pushd' && target !== undefined && more.length === 0 && !/^[-+]/.test(target.value);
}

/** Whether a command other than `cd` may change the directory of the shell. */
export function mayMove([name, ...args]: readonly Argument[]): boolean {
  if (name === undefined || !name.isKnown || directoryChangers.has(name.value)) return true;
  return ['command', 'builtin'].includes(name.value) && args.some(({ value, isKnown }) => !isKnown || value === 'cd');
}

/** Empty means unknown: if one side is unknown, or there are too many directories, so is the result. */
export function union(left: readonly string[], right: readonly string[]): readonly string[] {
  if (left === right) return left;
  if (left.length === 0 || right.length === 0) return [];
  const all = [...new Set([...left, ...right])];
  return all.length > 8 ? [] : all;
}
