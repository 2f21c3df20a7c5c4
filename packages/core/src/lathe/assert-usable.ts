import { statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { assertNode } from '../process/run/assert-node.js';
import { allSettings } from '../settings/keys.js';
import { likelyNames } from '../text/closest-names.js';
import type { LatheOptions } from './lathe.js';

/** Mistakes of the program that calls us, and a runtime that cannot work, named before anything is opened. */
export function assertUsable(options: LatheOptions): void {
  assertNode();
  assertTypes(options);
  const { cwd, flags = {} } = options;
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) throw new Error(`cwd is no directory: ${cwd}`);
  const known: readonly string[] = allSettings.map(({ key }) => key);
  for (const key of Object.keys(flags)) {
    if (known.includes(key)) continue;
    const near = likelyNames(key, known);
    throw new Error(`flags: there is no setting ${key}.${near.length > 0 ? ` Did you mean ${near.join(', ')}?` : ''}`);
  }
}

const example = 'createLathe({ cwd: process.cwd(), env: process.env })';

/** What a compiler would have found. A wrong type must not pass for a yes. */
function assertTypes(options: LatheOptions): void {
  const { cwd, env, tools = [], approver, isTrusted = false }: Partial<Record<keyof LatheOptions, unknown>> = options;
  if (cwd === undefined) throw new Error(`cwd is missing: ${example}`);
  if (env === undefined) throw new Error(`env is missing: ${example}`);
  if (typeof cwd !== 'string' || !isAbsolute(cwd))
    throw new Error(`cwd must be an absolute path, not ${JSON.stringify(cwd)}`);
  if (typeof env !== 'object' || env === null) throw new Error('env must be an object, such as process.env');
  if (!Array.isArray(tools)) throw new Error('tools must be a list');
  if (!canDecide(approver)) throw new Error('approver must have a method decide');
  if (typeof isTrusted !== 'boolean') throw new Error('isTrusted must be true or false');
}

function canDecide(approver: unknown): boolean {
  if (approver === undefined) return true;
  return typeof approver === 'object' && approver !== null && typeof Reflect.get(approver, 'decide') === 'function';
}
