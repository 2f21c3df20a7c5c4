import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { openAgent } from '@lathe/agent';
import { ScriptedModel } from '@lathe/agent/models';
import { type ApprovalRequest, loadSettings, visibleText } from '@lathe/core';
import type { Flags } from '../command-line/args.js';
import { exitCodes } from '../command-line/exit-codes.js';
import type { Io } from '../command-line/io.js';
import { makeDemoProject } from '../demo/demo-project.js';
import { demoPrompt, demoScript } from '../demo/demo-script.js';
import { printEvents } from '../demo/print-events.js';
import { styleFor } from '../render/style.js';
import { latheHome, openLathe } from '../startup/open-lathe.js';
import type { Command } from './command.js';

/** `lathe demo`: the whole flow on a scratch project with a scripted model. `--yes` answers every question with yes; `--record FILE` makes a picture of it. */
export const command: Command = {
  maxOperands: 0,
  async run({ flags: given }, io, signal) {
    const flags = { ...given, screenReader: given.screenReader || (await usesScreenReader(io)) };
    const { folder, root, latheHome: scratchHome } = await makeDemoProject();
    const here: Io = { ...io, cwd: root, env: { ...io.env, LATHE_HOME: scratchHome } };
    io.err(`A scratch project in ${root}, a scripted model, real tools.`);
    try {
      if (flags.record !== undefined) {
        const { recordDemo } = await import('../demo/record-demo.js');
        // Elsewhere the flag means the model's answers; here it is the picture.
        const { record, ...others } = flags;
        return await recordDemo(root, resolve(io.cwd, record), others, here, signal);
      }
      return io.isInteractive && !flags.yes
        ? await watch(root, flags, here, signal)
        : await runUnattended(root, flags, here, signal);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

/** Of the person's own settings, the one without which they could not follow. */
async function usesScreenReader(io: Io): Promise<boolean> {
  const { settings } = await loadSettings({
    home: io.home,
    latheHome: latheHome(io),
    root: io.cwd,
    isTrusted: false,
    env: io.env,
  });
  return settings.ui.accessibility.screenReader;
}

async function watch(root: string, flags: Flags, io: Io, signal: AbortSignal): Promise<number> {
  const { startInteractive } = await import('../tui/start.js');
  return startInteractive([demoPrompt], flags, io, signal, { model: new ScriptedModel(demoScript(root, 700)) });
}

/** Also where there is no terminal: every step is printed as it happens. */
async function runUnattended(root: string, flags: Flags, io: Io, signal: AbortSignal): Promise<number> {
  const style = styleFor(io.terminal.isTTY ? io.env : { NO_COLOR: '1' });
  const approver = {
    decide: async ({ confirmation }: ApprovalRequest) => {
      io.out(style.warning(`? ${visibleText(confirmation.title)}  → yes (--yes)`));
      return { outcome: 'once' as const };
    },
  };
  const lathe = await openLathe(flags, io, { approver });
  try {
    const agent = openAgent(lathe, { model: new ScriptedModel(demoScript(root, 0)) });
    io.out(`${style.accent('❯')} ${demoPrompt}`);
    const isDone = await printEvents(agent.prompt(demoPrompt, signal), io, style);
    return isDone ? exitCodes.success : exitCodes.failure;
  } finally {
    await lathe.close();
  }
}
