import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { openAgent } from '@lathe/agent';
import { ScriptedModel } from '@lathe/agent/models';
import { type ApprovalRequest } from '@lathe/core';
import { loadSettings, visibleText } from '@lathe/core/host';
import type { Flags } from '../command-line/args.js';
import { exitCodes } from '../command-line/exit-codes.js';
import type { Io } from '../command-line/io.js';
import { makeDemoProject } from '../demo/demo-project.js';
import { demoPrompt, demoScript } from '../demo/demo-script.js';
import { printEvents } from '../demo/print-events.js';
import { styleFor } from '../render/style.js';
import { latheHome, openLathe } from '../startup/open-lathe.js';
import type { Command } from './command.js';

/** `lathe demo` runs a scripted model on a scratch project. `--yes` approves every call, `--record FILE` writes an SVG. */
export const command: Command = {
  maxOperands: 0,
  async run({ flags: given }, io, signal) {
    const flags = { ...given, screenReader: given.screenReader || (await usesScreenReader(io)) };
    const { folder, root, latheHome: scratchHome } = await makeDemoProject();
    const here: Io = { ...io, cwd: root, env: { ...io.env, LATHE_HOME: scratchHome } };
    io.err(`Demo: a scripted model uses real tools on a scratch project in ${root}.`);
    try {
      if (flags.record !== undefined) {
        const { recordDemo } = await import('../demo/record-demo.js');
        // In the demo --record names the SVG; elsewhere it names a recording of the model's answers.
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

/** The demo ignores the person's settings, except for the screen reader mode. */
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

/** Prints every step as it happens; works without a terminal. */
async function runUnattended(root: string, flags: Flags, io: Io, signal: AbortSignal): Promise<number> {
  const style = styleFor(io.terminal.isTTY ? io.env : { NO_COLOR: '1' });
  const approver = {
    decide: async ({ confirmation }: ApprovalRequest) => {
      io.out(style.warning(`? ${visibleText(confirmation.title)}  → yes (automatic)`));
      return { outcome: 'once' as const };
    },
  };
  const lathe = await openLathe(flags, io, { approver });
  try {
    const agent = openAgent(lathe, { model: new ScriptedModel(demoScript(root, 0)) });
    io.out(`${style.accent('❯')} ${demoPrompt}`);
    const isDone = await printEvents(agent.prompt(demoPrompt, signal), lathe.tools, io, style);
    return isDone ? exitCodes.success : exitCodes.failure;
  } finally {
    await lathe.close();
  }
}
