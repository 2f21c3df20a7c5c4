/** The named commands. Without a name, `lathe` starts the agent. */
export const commandNames = [
  'tools',
  'call',
  'console',
  'sessions',
  'view',
  'undo',
  'mcp',
  'plugin',
  'demo',
  'serve',
  'acp',
  'trust',
  'completion',
  'doctor',
  'clean',
  'audit',
  'batch',
  'fleet',
] as const;

export type CommandName = (typeof commandNames)[number];
