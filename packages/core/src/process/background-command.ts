import type { BackgroundCommand, BackgroundCommands } from './background.js';
import { describeEnding } from './command-report.js';
import type { CommandResult } from './running-command.js';

/**
 * How a model looks after background commands without a tool of its own for it, and so without a declaration to pay for
 * on every request: `bg list`, `bg read ID [text]`, `bg send ID text`, `bg stop ID`. The shell's own `bg` needs a
 * terminal and can do nothing here, so no real command is lost. A model learns the words when it starts one.
 */
export type SessionOrder =
  | { action: 'list' }
  | { action: 'read'; id: string; text?: string }
  | { action: 'send'; id: string; text: string }
  | { action: 'stop'; id: string };

const help = 'Commands for it: `bg list`, `bg read ID [text to find]`, `bg send ID line of input`, `bg stop ID`.';

/** The order in a command, `undefined` when the command is for the shell. */
export function sessionOrder(command: string): SessionOrder | undefined {
  const words = command
    .trim()
    .match(/^bg(?:[ \t]+(list|read|send|stop)(?:[ \t]+((?:bg|kept)_\d+)(?:[ \t]([^\n]*))?)?)?$/);
  if (words === null) return undefined;
  const [, action = 'list', id, text] = words;
  if (action === 'list') return id === undefined ? { action } : undefined;
  if (id === undefined) return undefined;
  if (action === 'read') return text === undefined ? { action, id } : { action, id, text: text.trim() };
  if (action === 'send') return { action, id, text: text ?? '' };
  return text === undefined ? { action: 'stop', id } : undefined;
}

export function wordsOf(order: SessionOrder): string[] {
  const id = 'id' in order ? [order.id] : [];
  return ['bg', order.action, ...id, ...('text' in order ? [order.text ?? ''] : [])];
}

/** What a model is told about a command that it has started. */
export function announce(
  { id, isKept, running: { pid, output } }: BackgroundCommand,
  { isIsolated }: { isIsolated: boolean },
): string {
  const sentences = [
    `Started in the background as ${id} (pid ${pid}).`,
    isKept && 'It outlives this session and takes no input.',
    output.path !== undefined && `Output goes to ${output.path}.`,
    isIsolated && 'It has no network: nothing outside can reach its ports.',
    help,
  ];
  return sentences.filter((sentence) => sentence !== false).join(' ');
}

/** Carries the order out and says what came of it. */
export async function obeyOrder(order: SessionOrder, background: BackgroundCommands): Promise<string> {
  switch (order.action) {
    case 'list': {
      const lines = background.list().map(({ id, command, result }) => `${id} ${stateOf(result)}: ${command}`);
      return lines.join('\n') || 'No background commands.';
    }
    case 'send':
      background.send(order.id, order.text);
      return `Sent. Look at the answer with \`bg read ${order.id}\`.`;
    case 'stop':
      await background.stop(order.id);
      return news(order.id, background);
    case 'read':
      if (order.text === undefined) return news(order.id, background);
      return (await background.search(order.id, order.text)).join('\n') || '(no line contains that)';
  }
}

async function news(id: string, background: BackgroundCommands): Promise<string> {
  const text = await background.read(id);
  return `${id} ${stateOf(background.get(id).result)}\n${text || '(no new output)'}`;
}

function stateOf(result: CommandResult | undefined): string {
  return result === undefined ? 'running' : describeEnding(result.ending) || 'done';
}
