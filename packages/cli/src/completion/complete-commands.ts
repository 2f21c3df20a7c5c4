import { type AgentLathe } from '@lathe/agent';
import { visibleText } from '@lathe/core/host';
import { findCommand, type SlashCommand } from '../slash/slash-command.js';
import { type CompletionSource, maxCandidates } from './completions.js';
import { scoreOf } from './rank-paths.js';

/** `/na` → the commands whose names fit, then what each can be given. */
export function completeCommands(commands: () => readonly SlashCommand[], lathe: AgentLathe): CompletionSource {
  return (text, cursor) => {
    const [, name, argument] = /^\/(\S*)(?:\s+(\S*))?$/.exec(text.slice(0, cursor)) ?? [];
    if (name === undefined) return undefined;
    if (argument === undefined)
      return { start: 0, candidates: commandsLike(commands(), name), onEnter: 'take and send' };
    const offered = findCommand(commands(), name)?.arguments?.({ lathe }) ?? [];
    const candidates = offered
      .filter((each) => each.startsWith(argument) && each !== argument)
      .slice(0, maxCandidates)
      .map((each) => ({ label: visibleText(each), insert: each }));
    return { start: cursor - argument.length, candidates, onEnter: 'send' };
  };
}

function commandsLike(commands: readonly SlashCommand[], query: string) {
  const fitting = commands.flatMap((command, index) => {
    // Of a few dozen names each is shown in its own order as long as nothing is typed.
    const score = query === '' ? -index : command.name === query ? 10_000 : scoreOf(command.name, query.toLowerCase());
    return score === undefined ? [] : [{ command, score }];
  });
  return fitting
    .sort((a, b) => b.score - a.score)
    .slice(0, maxCandidates)
    .map(({ command: { name, summary, origin } }) => ({
      label: visibleText(`/${name}`),
      detail: visibleText(origin === undefined ? summary : `${summary} (${origin})`),
      insert: `/${name} `,
    }));
}
