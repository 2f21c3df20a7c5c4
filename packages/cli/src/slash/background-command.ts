import { type BackgroundCommand, reachableAt, visibleText } from '@lathe/core/host';
import type { SlashContext } from './slash-command.js';

type Context = Pick<SlashContext, 'lathe' | 'print'>;

/** `/background` lists the commands of this session and those that earlier sessions kept; `/background stop ID` stops one. */
export async function manageBackground(argument: string, context: Context): Promise<void> {
  const id = /^stop\s+(\S+)$/.exec(argument)?.[1];
  if (id !== undefined) return stop(id, context);
  if (argument !== '') return context.print('  Use /background to list commands and /background stop ID to stop one.');
  const { background } = context.lathe;
  const own = background.list();
  const others = (await background.kept.list()).filter((kept) => !own.some((command) => command.id === kept.id));
  const lines = [
    ...own.map((command) => describeCommand(command, command.result === undefined ? runningState(command) : 'ended')),
    ...others.map(
      ({ cwd, output, ...kept }) => `${formatLine({ ...kept, state: `running in ${cwd}` })}\n    ${output}`,
    ),
  ];
  context.print(lines.map((line) => visibleText(`  ${line}`)).join('\n') || '  No background commands.');
}

function runningState({ ports }: BackgroundCommand): string {
  const open = reachableAt(ports);
  return open === '' ? 'running' : `running at ${open}`;
}

async function stop(id: string, { lathe: { background }, print }: Context): Promise<void> {
  const isOwn = background.running().some((command) => command.id === id);
  const survivors = isOwn ? (await background.stop(id)).survivors : await background.kept.stop(id);
  print(survivors.length === 0 ? `  Stopped ${id}.` : `  Could not stop these processes: ${survivors.join(', ')}.`);
}

/** Says which background commands ended with the session and which still run. */
export function summarizeBackground(commands: readonly BackgroundCommand[]): string {
  const lines = commands.map((command) => describeCommand(command, command.isKept ? 'still running' : 'stopped'));
  const advice = commands.some(({ isKept }) => isKept) ? ['Stop them with /background in any session.'] : [];
  return visibleText([...lines, ...advice].join('\n'));
}

function describeCommand({ id, command, isKept, running: { pid, output } }: BackgroundCommand, state: string): string {
  const line = formatLine({ id, pid, state, command });
  return isKept ? `${line}\n    ${output.path ?? ''}` : line;
}

function formatLine({ id, pid, state, command }: { id: string; pid: number; state: string; command: string }): string {
  const [first = '', ...more] = command.trim().split('\n');
  return `${id} ${state} (pid ${pid}): ${first.slice(0, 100)}${more.length > 0 || first.length > 100 ? ' …' : ''}`;
}
