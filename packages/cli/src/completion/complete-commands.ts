import { visibleText } from '@lathe/core/host';
import { findCommand, type SlashCommand } from '../slash/slash-command.js';
import { type CompletionSource, maxCandidates } from './completions.js';
import { scoreOf } from './rank-paths.js';

/** Completes `/na` to command names, then the arguments of a command. */
export function completeCommands(commands: () => readonly SlashCommand[]): CompletionSource {
  return (text, cursor) => {
    const [, name, argument] = /^\/(\S*)(?:\s+(\S*))?$/.exec(text.slice(0, cursor)) ?? [];
    if (name === undefined) return undefined;
    if (argument === undefined)
      return { start: 0, candidates: matchingCommands(commands(), name), onEnter: 'accept and send' };
    const offered = findCommand(commands(), name)?.arguments?.() ?? [];
    const candidates = offered
      .filter((each) => each.startsWith(argument) && each !== argument)
      .slice(0, maxCandidates)
      .map((each) => ({ label: visibleText(each), insert: each }));
    return { start: cursor - argument.length, candidates, onEnter: 'send' };
  };
}

function matchingCommands(commands: readonly SlashCommand[], query: string) {
  const matches = commands.flatMap((command, index) => {
    // Without a query the commands keep their order.
    const score = query === '' ? -index : command.name === query ? 10_000 : scoreOf(command.name, query.toLowerCase());
    return score === undefined ? [] : [{ command, score }];
  });
  return matches
    .sort((a, b) => b.score - a.score)
    .map(({ command: { name, summary, origin } }) => ({
      label: visibleText(`/${name}`),
      detail: visibleText(origin === undefined ? summary : `${summary} (${origin})`),
      insert: `/${name} `,
    }));
}
