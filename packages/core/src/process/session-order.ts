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

export const sessionHelp =
  'Commands for it: `bg list`, `bg read ID [text to find]`, `bg send ID line of input`, `bg stop ID`.';

/** The order in a command, `undefined` when the command is for the shell. */
export function sessionOrder(command: string): SessionOrder | undefined {
  const words = command.trim().match(/^bg(?:[ \t]+(list|read|send|stop)(?:[ \t]+(bg_\d+)(?:[ \t]([^\n]*))?)?)?$/);
  if (words === null) return undefined;
  const [, action = 'list', id, text] = words;
  if (action === 'list') return id === undefined ? { action } : undefined;
  if (id === undefined) return undefined;
  if (action === 'read') return text === undefined ? { action, id } : { action, id, text: text.trim() };
  if (action === 'send') return { action, id, text: text ?? '' };
  return text === undefined ? { action: 'stop', id } : undefined;
}
