import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isWithin } from '../../files/workspace.js';

/** `npx` downloads only what the project has not installed. */
export function isInstalledTool(
  { words, cwds }: { words: readonly string[]; cwds: readonly string[] },
  roots: readonly string[],
): boolean {
  const tool = runByNpx(words);
  return tool !== undefined && cwds.every((cwd) => isInstalled(tool, cwd, roots));
}

/** The tool that `npx` runs if it is named without a version and without flags before it. */
function runByNpx([program = '', ...args]: readonly string[]): string | undefined {
  const runners: Readonly<Record<string, readonly string[]>> = {
    npx: [],
    bunx: [],
    pnpx: [],
    npm: ['exec'],
    pnpm: ['exec'],
  };
  const before = Object.hasOwn(runners, program) ? runners[program] : undefined;
  if (before === undefined || !before.every((word, at) => args[at] === word)) return undefined;
  const [tool = ''] = args
    .slice(before.length)
    .filter((word) => word !== '--no' && word !== '--no-install' && word !== '--');
  return /^[a-z][\w.-]*$/i.test(tool) ? tool : undefined;
}

/** Whether a project between a directory and the top of the workspace has installed a tool. */
function isInstalled(tool: string, cwd: string, roots: readonly string[]): boolean {
  const root = roots.find((candidate) => isWithin(candidate, cwd));
  if (root === undefined) return false;
  for (let directory = cwd; isWithin(root, directory); directory = dirname(directory)) {
    if (existsSync(join(directory, 'node_modules', '.bin', tool))) return true;
    if (directory === dirname(directory)) return false;
  }
  return false;
}
