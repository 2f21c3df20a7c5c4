import { join, relative } from 'node:path';
import { projectFolders, skillFolders } from '@lathe/agent';
import { FolderTrust, loadSettings, showSetting, toolFileNames, visibleText } from '@lathe/core/host';
import { LatheHome } from '@lathe/core/tools';
import type { Flags } from '../command-line/args.js';
import type { Io } from '../command-line/io.js';
import { askOnTerminal } from '../terminal/terminal-question.js';
import { newRules } from './new-rules.js';
import { latheHome } from './open-lathe.js';

/**
 * Asks once whether to trust a folder and shows all settings it brings. Asks again about allow rules that were added
 * later. Before the answer, Lathe only reads the folder's settings as data and uses nothing from it.
 */
export async function askForTrust(flags: Flags, io: Io, signal: AbortSignal): Promise<void> {
  if (!io.isInteractive || flags.trust) return;
  const trust = new FolderTrust(new LatheHome(latheHome(io)));
  const state = await trust.state(io.cwd);
  if (state === 'untrusted') return;
  const { rules, approve } = await newRules(io);
  if (state === 'trusted') return askAboutRules(rules, approve, io, signal);
  const requested = await requestedSettings(io);
  if (requested.length === 0) return;
  io.err(`${visibleText(io.cwd)} has its own settings or tools:`);
  for (const setting of requested) io.err(`  ${visibleText(setting)}`);
  io.err('Until you trust this folder, its settings can only make the rules stricter.');
  const answer = await askOnTerminal('Trust this folder? [y]es / [n]ever / Enter: not now ', io, signal);
  if (isYes(answer)) {
    await trust.trust(io.cwd);
    await approve();
  }
  if (/^n(ever|o)?$/i.test(answer)) await trust.distrust(io.cwd);
}

async function askAboutRules(
  rules: readonly string[],
  approve: () => Promise<void>,
  io: Io,
  signal: AbortSignal,
): Promise<void> {
  if (rules.length === 0) return;
  io.err(`The settings of ${visibleText(io.cwd)} have new rules that allow calls without asking:`);
  for (const rule of rules) io.err(`  ${visibleText(rule)}`);
  if (isYes(await askOnTerminal('Use these rules? [y]es / Enter: not now ', io, signal))) await approve();
}

const isYes = (answer: string): boolean => /^y(es)?$/i.test(answer);

/** The settings and tools that the folder's own files bring, one line each, with secrets hidden. */
async function requestedSettings(io: Io): Promise<string[]> {
  const { origins } = await loadSettings({
    home: io.home,
    latheHome: latheHome(io),
    root: io.cwd,
    isTrusted: true,
    env: {},
  });
  const settings = [...origins].flatMap(([key, list]) =>
    list
      .filter(({ layer }) => layer === 'workspace')
      .map(({ source, written }) => `${key} = ${JSON.stringify(showSetting(key, written))}   (${source})`),
  );
  const files = toolFileNames(join(io.cwd, '.lathe', 'tools')).map((name) => `a tool: .lathe/tools/${name}`);
  const skills = projectFolders.flatMap((folder) => skillFolders(join(io.cwd, folder)));
  return [...settings, ...files, ...skills.map((path) => `a skill: ${relative(io.cwd, path)}`)];
}
