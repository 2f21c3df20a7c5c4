import { findsOnlyFiles, splitFind } from '../programs/read-only-find.js';
import { foundBelow } from '../programs/unwrap-find.js';
import { type Argument, type ExpansionScope, expandWord } from './expand-word.js';
import type { Redirection, ShellNode } from './shell-syntax.js';

const isDiscarding = ({ operator, target }: Redirection) => operator === '>' && target.text === '/dev/null';

/** The files that a search pipes to the next command, if every name arrives whole and lies below one directory. */
export function filesBetween(from: ShellNode | undefined, to: ShellNode, scope: ExpansionScope): Argument | undefined {
  if (from?.type !== 'command' || to.type !== 'command') return undefined;
  // Error messages must not mix with the names, and no redirection or substitution may replace them.
  if (![...from.redirections, ...to.redirections].every(isDiscarding)) return undefined;
  if (to.words.some(({ scripts }) => scripts.length > 0)) return undefined;
  const [name, ...args] = from.words.flatMap((word) => expandWord(word, scope));
  if (name?.value !== 'find' || args.at(-1)?.value !== '-print0') return undefined;
  const { roots, expression } = splitFind(args);
  return findsOnlyFiles(expression.slice(0, -1)) ? foundBelow(roots, expression.slice(0, -1)) : undefined;
}
