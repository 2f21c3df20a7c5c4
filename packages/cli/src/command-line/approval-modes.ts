/** How much runs without a question, the strictest first. */
export const approvalModes = ['plan', 'default', 'auto-edit', 'yolo'] as const;

export type ModeName = (typeof approvalModes)[number];

/** Other spellings: those of Qwen Code and Claude Code, and the name that people see. */
const otherSpellings: Readonly<Record<string, ModeName>> = {
  auto: 'auto-edit',
  auto_edit: 'auto-edit',
  autoEdit: 'auto-edit',
  acceptEdits: 'auto-edit',
  bypassPermissions: 'yolo',
};

export function modeNamed(text: string): ModeName | undefined {
  const spelled = Object.hasOwn(otherSpellings, text) ? otherSpellings[text] : text;
  return approvalModes.find((mode) => mode === spelled);
}

/** The name that people see. */
export function shownMode(mode: ModeName): string {
  return mode === 'auto-edit' ? 'auto' : mode;
}

/** What a mode does, in one line. `auto-edit` depends on the sandbox. */
export function describeMode(mode: ModeName, { hasSandbox }: { hasSandbox: boolean }): string {
  switch (mode) {
    case 'plan':
      return 'nothing changes; the model presents a plan';
    case 'default':
      return 'asks before edits and commands';
    case 'auto-edit':
      return hasSandbox
        ? 'edits and sandboxed commands run; network and other folders ask'
        : 'edits run; commands ask, because there is no sandbox';
    case 'yolo':
      return 'asks only about protected files and rights outside the sandbox';
  }
}
