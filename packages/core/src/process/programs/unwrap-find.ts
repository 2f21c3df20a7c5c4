import { unknownPart } from '../shell/command-analysis.js';
import type { Argument } from '../shell/expand-word.js';
import { nameSet } from './name-set.js';
import { findsOnlyFiles, isConjunction, splitFind } from './read-only-find.js';
import type { Unwrapped } from './wrappers.js';

const execFlags = nameSet('-exec -execdir -ok -okdir');
const isExec = ({ value }: Argument) => execFlags.has(value);

/** The commands that `find` runs for the files it finds. */
export function unwrapFind(args: readonly Argument[]): Unwrapped | undefined {
  const { roots, expression } = splitFind(args);
  const commands: Argument[][] = [];
  const own: Argument[] = [];
  let isTransparent = findsOnlyFiles(expression.slice(0, expression.findIndex(isExec)));
  for (let index = 0; index < expression.length; index++) {
    const part = expression[index];
    if (!part) break;
    if (!isExec(part)) {
      own.push(part);
      continue;
    }
    const length = expression
      .slice(index + 1)
      .findIndex(({ value }, at, rest) => value === ';' || (value === '+' && rest[at - 1]?.value === '{}'));
    const words = expression.slice(index + 1, length === -1 ? undefined : index + 1 + length);
    // A word known only at run time could be the `;` that ends the command.
    const isPlain = words.every(({ value, isKnown }) => value === '{}' || (isKnown && !value.includes('{}')));
    isTransparent &&= part.value === '-exec' && length !== -1 && isPlain;
    commands.push(words.map((word) => (word.value === '{}' ? foundBelow(roots, own) : word)));
    index += words.length + 1;
  }
  if (commands.length === 0) return undefined;
  isTransparent &&= isConjunction(own) && roots.length === 1;
  return { commands, scripts: [], isTransparent, own: [...roots, ...own] };
}

/** Stands for the files that a search finds: something below its only root, with the name that its tests want. */
export function foundBelow(roots: readonly Argument[], tests: readonly Argument[] = []): Argument {
  const [root] = roots;
  const isPlain = root !== undefined && roots.length === 1 && root.isKnown && !root.value.startsWith('-');
  const unknown: Argument = { value: unknownPart, text: '{}', isKnown: false, isOpen: false, isGlob: true };
  const wanted = isConjunction(tests) ? tests[tests.findIndex(({ value }) => value === '-name') + 1] : undefined;
  const only = wanted?.isKnown && tests.some(({ value }) => value === '-name') ? { only: wanted.value } : {};
  return isPlain ? { ...unknown, value: `${root.value}/${unknownPart}`, below: root, ...only } : unknown;
}
