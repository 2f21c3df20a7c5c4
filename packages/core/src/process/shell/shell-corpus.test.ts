import { expect, test } from 'vitest';
import { gitFiles } from '../../../../../testing/git-files.js';
import { type CorpusCommand, dangerous, harmless } from '../../../../../testing/shell-corpus.js';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { isWithin } from '../../files/workspace.js';
import { analyzeCommand } from './analyze-command.js';

/** The commands that would run in a fresh repository without approval. */
async function unasked(commands: CorpusCommand[]): Promise<string[]> {
  const root = tempDirectory({ ...gitFiles(), 'src/index.ts': '', 'a.txt': '' });
  const options = { cwd: root, workspaceRoots: [root], home: '/home/somebody', path: '/usr/local/bin:/usr/bin:/bin' };
  const verdicts = await Promise.all(
    commands.map(async ({ command }) => {
      const { isReadOnly, reads } = await analyzeCommand(command, options);
      return isReadOnly && reads.every((path) => isWithin(root, path)) ? [command] : [];
    }),
  );
  return verdicts.flat();
}

test('the corpus has at least 300 commands of each kind, each once', () => {
  expect(harmless.length).toBeGreaterThanOrEqual(300);
  expect(dangerous.length).toBeGreaterThanOrEqual(300);
  const all = [...harmless, ...dangerous].map(({ command }) => command);
  expect(all.filter((command, index) => all.indexOf(command) !== index)).toEqual([]);
});

// SA06 SA08 SA18 SA19 SA20
test('no dangerous command runs without approval', async () => {
  expect(await unasked(dangerous)).toEqual([]);
});

test('at most 3 % of the harmless commands need approval, and only known ones', async () => {
  const silent = new Set(await unasked(harmless));
  const asking = harmless.filter(({ command }) => !silent.has(command));
  expect(asking.length).toBeLessThanOrEqual(harmless.length * 0.03);
  expect(asking.filter(({ group }) => group !== 'doubtful')).toEqual([]);
});
