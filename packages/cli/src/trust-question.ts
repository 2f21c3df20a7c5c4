import { createInterface } from 'node:readline/promises';
import { FolderTrust, LatheHome, loadSettings, showSetting, visibleText } from '@lathe/core';
import type { Flags } from './args.js';
import type { Io } from './io.js';
import { latheHome } from './open-lathe.js';

/**
 * Asks once whether a folder's settings may count, showing all that they would do. Nothing of the folder is used
 * before the answer: its settings are only read, as data.
 */
export async function askForTrust(flags: Flags, io: Io, signal: AbortSignal): Promise<void> {
  if (!io.isInteractive || flags.trust) return;
  const trust = new FolderTrust(new LatheHome(latheHome(io)));
  if ((await trust.state(io.cwd)) !== 'unknown') return;
  const wishes = wishesOf(io);
  if (wishes.length === 0) return;
  io.err(`${visibleText(io.cwd)} brings settings of its own:`);
  for (const wish of wishes) io.err(`  ${visibleText(wish)}`);
  io.err('Until you trust the folder they can only tighten the rules.');
  const terminal = createInterface({ input: io.stdin, output: process.stderr });
  try {
    const answer = (await terminal.question('Trust it? [y]es / [n]ever / Enter: not now ', { signal })).trim();
    if (/^y(es)?$/i.test(answer)) await trust.trust(io.cwd);
    if (/^n(ever|o)?$/i.test(answer)) await trust.distrust(io.cwd);
  } finally {
    terminal.close();
  }
}

/** What the folder's own files would set if they counted, one line each, secrets hidden. */
function wishesOf(io: Io): string[] {
  const { origins } = loadSettings({
    home: io.home,
    latheHome: latheHome(io),
    root: io.cwd,
    isTrusted: true,
    env: {},
  });
  return [...origins].flatMap(([key, list]) =>
    list
      .filter(({ layer }) => layer === 'workspace')
      .map(({ source, written }) => `${key} = ${JSON.stringify(showSetting(key, written))}   (${source})`),
  );
}
