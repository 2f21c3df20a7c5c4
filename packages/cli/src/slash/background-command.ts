import { type BackgroundCommand, visibleText } from '@lathe/core/host';
import type { SlashContext } from './slash-command.js';

type Context = Pick<SlashContext, 'lathe' | 'say'>;

/** `/background` and `/background stop ID`: the commands of this session, and those that any session has kept. */
export async function tendBackground(argument: string, context: Context): Promise<void> {
  const id = /^stop\s+(\S+)$/.exec(argument)?.[1];
  if (id !== undefined) return stop(id, context);
  if (argument !== '') return context.say('  /background lists them, /background stop ID stops one.');
  const { background } = context.lathe;
  const own = background.list();
  const others = (await background.kept.list()).filter((kept) => !own.some((command) => command.id === kept.id));
  const lines = [
    ...own.map((command) => lineOf(command, command.result === undefined ? 'running' : 'over')),
    ...others.map(({ cwd, output, ...kept }) => `${shown({ ...kept, state: `running in ${cwd}` })}\n    ${output}`),
  ];
  context.say(lines.map((line) => visibleText(`  ${line}`)).join('\n') || '  Nothing runs in the background.');
}

async function stop(id: string, { lathe: { background }, say }: Context): Promise<void> {
  const isOwn = background.running().some((command) => command.id === id);
  const survivors = isOwn ? (await background.stop(id)).survivors : await background.kept.stop(id);
  say(survivors.length === 0 ? `  ${id} is stopped.` : `  Could not end ${survivors.join(', ')}.`);
}

/** What became of the commands that were running when the session ended. */
export function fateOf(commands: readonly BackgroundCommand[]): string {
  const lines = commands.map((command) => lineOf(command, command.isKept ? 'goes on' : 'ended with Lathe'));
  const advice = commands.some(({ isKept }) => isKept) ? ['/background in any session stops what goes on.'] : [];
  return visibleText([...lines, ...advice].join('\n'));
}

function lineOf({ id, command, isKept, running: { pid, output } }: BackgroundCommand, state: string): string {
  const line = shown({ id, pid, state, command });
  return isKept ? `${line}\n    ${output.path ?? ''}` : line;
}

function shown({ id, pid, state, command }: { id: string; pid: number; state: string; command: string }): string {
  const [first = '', ...more] = command.trim().split('\n');
  return `${id} ${state} (pid ${pid}): ${first.slice(0, 100)}${more.length > 0 || first.length > 100 ? ' …' : ''}`;
}
