import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ContentUse, RecordedUse } from './findings.js';
import { type RecordedTree, workTreeOf } from './recorded-files.js';
import { LookupBudget, resolvePathUse } from './resolve-paths.js';
import { sensitiveBelow } from './secret-trees.js';

const maxUses = 200;

/** The files whose content is shown; of those below a searched directory, only the ones that may hold keys. */
export async function resolveContents(
  uses: readonly ContentUse[],
  searched: ReadonlySet<string>,
  doubts: Set<string>,
): Promise<string[]> {
  const distinct = [...new Map(uses.map((use) => [JSON.stringify(use), use])).values()];
  if (distinct.length > maxUses) doubts.add(`It names more than ${maxUses} files.`);
  const budget = new LookupBudget();
  const found = new Set<string>();
  for (const { only, skipsHidden, ...use } of distinct.slice(0, maxUses)) {
    for (const path of await resolvePathUse(use, budget)) {
      const info = await stat(path).catch((error: NodeJS.ErrnoException) => error);
      // A word that is too long for a name is text, such as a script.
      if (info instanceof Error && info.code === 'ENAMETOOLONG') continue;
      if (info instanceof Error || !info.isDirectory()) found.add(path);
      else if (searched.has(path))
        for (const file of await sensitiveBelow(path, { ...(only && { only }), ...(skipsHidden && { skipsHidden }) }))
          found.add(file);
    }
  }
  if (budget.lookups < 0) doubts.add('Its paths and patterns lead to too many files.');
  return [...found];
}

/** Which parts of which work trees git shows. Outside of a repository it shows nothing. */
export async function resolveRecorded(uses: readonly RecordedUse[], doubts: Set<string>): Promise<RecordedTree[]> {
  const budget = new LookupBudget();
  const trees: RecordedTree[] = [];
  for (const { from, path, isFromTop, operands = [], isPast } of uses.slice(0, maxUses)) {
    for (const directory of await resolvePathUse(from, budget)) {
      const workTree = await workTreeOf(directory);
      if (workTree === undefined) continue;
      const named =
        path === undefined ? await existing(directory, operands) : [resolve(isFromTop ? workTree : directory, path)];
      const paths = named.length > 0 ? named : [workTree];
      trees.push(...paths.map((each) => ({ workTree, path: each, isPast })));
    }
  }
  if (budget.lookups < 0) doubts.add('Its paths and patterns lead to too many files.');
  return trees;
}

/** For git, an operand that is the name of a file cannot be a revision too. */
async function existing(directory: string, operands: readonly string[]): Promise<string[]> {
  const paths = operands.map((operand) => resolve(directory, operand));
  const found = await Promise.all(
    paths.map((path) =>
      stat(path).then(
        () => [path],
        () => [],
      ),
    ),
  );
  return found.flat();
}
