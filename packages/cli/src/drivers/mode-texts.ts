import type { approvalModes } from '../command-line/args.js';

/** The approval modes as a front end names them. */
export const modeTexts: Record<(typeof approvalModes)[number], { name: string; description: string }> = {
  plan: { name: 'Plan', description: 'Only calls that change nothing run' },
  default: { name: 'Ask', description: 'Asks before changes and commands, as your rules say' },
  'auto-edit': { name: 'Edit', description: 'Edits files without asking, asks before commands' },
  yolo: { name: 'Yolo', description: 'Runs everything that no rule denies' },
};
