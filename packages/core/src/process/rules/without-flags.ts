import { unknownPart } from '../shell/command-analysis.js';
import { hasSubcommands } from './propose-rules.js';

const manyFlags = 16;
const gitValueFlags = /^(-[cC]|--(git-dir|work-tree|namespace|super-prefix|config-env|attr-source))$/;

const isFlag = (word = '') => word.startsWith('-');

/**
 * `git -C x push` as `git push`, for deny rules; empty if there is no flag before the subcommand. For programs other than
 * git, a word after a flag may or may not be its value.
 */
export function withoutFlags(name: string, args: readonly string[]): string[][] {
  if (!hasSubcommands(name) || !isFlag(args[0])) return [];
  const mayTakeValue = (word = '') =>
    isFlag(word) && !word.includes('=') && (name !== 'git' || gitValueFlags.test(word));
  const found: string[][] = [];
  let at = 0;
  for (; at < args.length && (isFlag(args[at]) || mayTakeValue(args[at - 1])); at++)
    if (!isFlag(args[at])) found.push([name, ...args.slice(at)]);
  found.push([name, ...args.slice(at)]);
  // An alias defined by a flag may be any program.
  const isAlias = name === 'git' && args.slice(0, at).some((word) => /^(--config-env=)?alias\./i.test(word));
  return isAlias || found.length > manyFlags ? [[unknownPart]] : found;
}
