import type { BackgroundTask } from '@lathe/agent';
import { visibleText } from '@lathe/core/host';
import type { SlashContext } from './slash-command.js';

type Context = Pick<SlashContext, 'lathe' | 'print' | 'style'>;

/** `/agents` lists subagents and background tasks; `/agents stop ID` and `/agents send ID TEXT` reach one of them. */
export async function manageAgents(argument: string, { lathe, print, style }: Context): Promise<void> {
  const { background } = lathe.subagents;
  const [, action, id = '', text = ''] = /^(stop|send)\s+(\S+)\s*([\s\S]*)$/.exec(argument) ?? [];
  if (action === 'stop') return print(`  ${visibleText(await background.stop(id))}`);
  if (action === 'send' && text !== '') return print(`  ${visibleText(background.send(id, text))}`);
  if (argument !== '') return print('  Use /agents, /agents stop ID or /agents send ID TEXT.');
  const kinds = lathe.subagents
    .list()
    .map(
      ({ name, description }) => `  ${style.bold(visibleText(name))}  ${visibleText(description.split('\n')[0] ?? '')}`,
    );
  const advice = '  Add your own as Markdown files in .lathe/agents, here or in your home directory.';
  const tasks = background.list().map((task) => visibleText(`  ${describe(task)}`));
  print([...kinds, advice, ...(tasks.length > 0 ? ['', '  Background tasks:', ...tasks] : [])].join('\n'));
}

function describe({ id, name, description, state, tokens, startedAt, endedAt = performance.now() }: BackgroundTask) {
  const seconds = Math.round((endedAt - startedAt) / 1000);
  return `${id} ${state}, ${tokens.toLocaleString('en')} tokens, ${seconds} s  ${name}: ${description}`;
}
