import { FolderTrust, LatheHome, loadSettings, showSetting, visibleText } from '@lathe/core';
import type { Flags } from '../command-line/args.js';
import type { Io } from '../command-line/io.js';
import { askOnTerminal } from '../terminal/terminal-question.js';
import { newRules } from './new-rules.js';
import { latheHome } from './open-lathe.js';

/**
 * Asks once whether a folder's settings may count, showing all that they would do, and again about allow rules that
 * came later. Nothing of the folder is used before the answer: its settings are only read, as data.
 */
export async function askForTrust(flags: Flags, io: Io, signal: AbortSignal): Promise<void> {
  if (!io.isInteractive || flags.trust) return;
  const trust = new FolderTrust(new LatheHome(latheHome(io)));
  const state = await trust.state(io.cwd);
  if (state === 'untrusted') return;
  const { rules, agree } = await newRules(io);
  if (state === 'trusted') return askAboutRules(rules, agree, io, signal);
  const wishes = await wishesOf(io);
  if (wishes.length === 0) return;
  io.err(`${visibleText(io.cwd)} brings settings of its own:`);
  for (const wish of wishes) io.err(`  ${visibleText(wish)}`);
  io.err('Until you trust the folder they can only tighten the rules.');
  const answer = await askOnTerminal('Trust it? [y]es / [n]ever / Enter: not now ', io, signal);
  if (isYes(answer)) {
    await trust.trust(io.cwd);
    await agree();
  }
  if (/^n(ever|o)?$/i.test(answer)) await trust.distrust(io.cwd);
}

async function askAboutRules(
  rules: readonly string[],
  agree: () => Promise<void>,
  io: Io,
  signal: AbortSignal,
): Promise<void> {
  if (rules.length === 0) return;
  io.err(`The settings of ${visibleText(io.cwd)} have new rules that allow calls without a question:`);
  for (const rule of rules) io.err(`  ${visibleText(rule)}`);
  if (isYes(await askOnTerminal('Let them count? [y]es / Enter: not now ', io, signal))) await agree();
}

const isYes = (answer: string): boolean => /^y(es)?$/i.test(answer);

/** What the folder's own files would set if they counted, one line each, secrets hidden. */
async function wishesOf(io: Io): Promise<string[]> {
  const { origins } = await loadSettings({
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
