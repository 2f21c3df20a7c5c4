import type { OpenPort } from '../network/command-ports.js';
import type { BackgroundCommand, BackgroundCommands } from './background.js';
import { describeEnding } from './command-report.js';

/**
 * What a model can do with background commands: `bg list`, `bg read ID [text]`, `bg send ID text`, `bg stop ID`. These
 * are commands rather than a tool, because a tool's declaration would be sent with every request. The shell's own `bg`
 * needs a terminal and cannot work here. The model learns the commands when it starts a background command.
 */
export type BackgroundAction =
  | { action: 'list' }
  | { action: 'read'; id: string; text?: string }
  | { action: 'send'; id: string; text: string }
  | { action: 'stop'; id: string };

const help = 'Commands for it: `bg list`, `bg read ID [text to find]`, `bg send ID line of input`, `bg stop ID`.';

/** Returns `undefined` for a command that the shell should run. */
export function parseBackgroundCommand(command: string): BackgroundAction | undefined {
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

export function wordsOf(action: BackgroundAction): string[] {
  const id = 'id' in action ? [action.id] : [];
  return ['bg', action.action, ...id, ...('text' in action ? [action.text ?? ''] : [])];
}

/** Tells the model about a command that it has started. */
export function announce(
  { id, isKept, ports, running: { pid, output } }: BackgroundCommand,
  { isIsolated }: { isIsolated: boolean },
): string {
  const sentences = [
    `Started in the background as ${id} (pid ${pid}).`,
    isKept && 'It outlives this session and takes no input.',
    output.path !== undefined && `Output goes to ${output.path}.`,
    isIsolated && describeNetwork(ports),
    help,
  ];
  return sentences.filter((sentence) => sentence !== false).join(' ');
}

function describeNetwork(ports: BackgroundCommand['ports']): string {
  if (ports === undefined || typeof ports === 'string')
    return `It has no network, and nothing outside can reach its ports (${ports ?? 'it outlives this session'}). If that is needed, start it with rights: ["network"]; the user will be asked.`;
  const open = reachableAt(ports);
  const commands = 'Other commands of this session reach its ports at localhost';
  if (open !== '') return `It has no network. ${commands}, and the user at ${open}.`;
  return `It has no network. ${commands}, and the user at 127.0.0.1 once it listens: \`bg list\` shows the address.`;
}

/** The addresses on this machine; empty if there are none. */
export function reachableAt(ports: BackgroundCommand['ports']): string {
  if (ports === undefined || typeof ports === 'string') return '';
  return ports.list().map(describePort).join(', ');
}

/** The address on this machine, and the port in the sandbox if it is another one. */
export function describePort({ port, url }: OpenPort): string {
  return url.endsWith(`:${port}`) ? url : `${url} (port ${port} in the sandbox)`;
}

/** Runs the action and returns the answer for the model. */
export async function runBackgroundCommand(request: BackgroundAction, background: BackgroundCommands): Promise<string> {
  switch (request.action) {
    case 'list': {
      const lines = background.list().map((one) => `${one.id} ${stateOf(one)}: ${one.command}`);
      return lines.join('\n') || 'No background commands.';
    }
    case 'send':
      background.send(request.id, request.text);
      return `Sent. Look at the answer with \`bg read ${request.id}\`.`;
    case 'stop':
      await background.stop(request.id);
      return readNew(request.id, background);
    case 'read':
      if (request.text === undefined) return readNew(request.id, background);
      return (await background.search(request.id, request.text)).join('\n') || '(no line contains that)';
  }
}

async function readNew(id: string, background: BackgroundCommands): Promise<string> {
  const text = await background.read(id);
  const command = background.get(id);
  const { result } = command;
  const findings = result?.findings.map((finding) => `\nWarning: ${finding}`) ?? [];
  return `${id} ${stateOf(command)}\n${text || '(no new output)'}${findings.join('')}`;
}

function stateOf({ result, ports }: BackgroundCommand): string {
  if (result !== undefined) return describeEnding(result.ending) || 'done';
  const open = reachableAt(ports);
  return open === '' ? 'running' : `running at ${open}`;
}
