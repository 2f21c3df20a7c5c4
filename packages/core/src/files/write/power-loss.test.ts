import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bundleChild } from '../../../../../testing/bundle.js';
import { isLong, report, seed } from '../../../../../testing/long-run.js';
import { afterPowerLoss, filesIn, type Recording, readRecording } from '../../../../../testing/power-loss.js';
import { pick, randomFrom } from '../../../../../testing/random.js';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { canInject, runWithFault } from '../../../../../testing/thread-fault.js';
import { SeenFiles } from '../access/seen-files.js';
import { LatheHome } from '../lathe-home.js';
import { Journal } from '../undo/journal.js';
import { FileChanges } from './file-changes.js';
import { FileLocks } from './file-lock.js';

const states = isLong ? 1_000 : 24;
const never = new AbortController().signal;

interface Scenario {
  name?: string;
  old: string | null;
  /** The contents that the edits give it, in order. */
  news: string[];
  /** State of earlier work is there already. */
  hasHome?: boolean;
}

const large = (word: string) => `${word}\n${'lorem ipsum\n'.repeat(60_000)}`;

const scenarios: Record<string, Scenario> = {
  'the first change ever': { old: 'one\n', news: ['two\n'] },
  'one of many changes': { old: 'one\n', news: ['two\n'], hasHome: true },
  'three changes of one file': { old: 'one\n', news: ['two\n', 'three\n', 'four\n'] },
  'a new file in new directories': { name: 'a/b/new.txt', old: null, news: ['one\n'] },
  'a large file': { old: large('one'), news: [large('two')], hasHome: true },
};

/** Makes the changes in a process of their own and records its system calls. */
async function record({ name = 'file.txt', old, news, hasHome = false }: Scenario) {
  const base = tempDirectory();
  const root = join(base, 'disk');
  const path = join(root, 'work', name);
  const home = join(root, 'home');
  mkdirSync(join(root, 'work'), { recursive: true });
  if (old !== null) writeFileSync(path, old);
  const changes = changesIn(home);
  if (hasHome) {
    writeFileSync(join(root, 'work', 'other'), 'x');
    const decide = async () => [Buffer.from('y')];
    await changes.change({ path: join(root, 'work', 'other'), tool: 'test', signal: never, decide });
  }
  const before = filesIn(root);
  const word = (text: string | null) => text?.split('\n')[0] ?? '';
  const edits = news.map((content, index) => ({
    file_path: path,
    old_string: word(news[index - 1] ?? old),
    new_string: old === null ? content : word(content),
  }));
  const log = join(base, 'trace');
  const { answer } = await runWithFault(
    await bundleChild('change-file'),
    [JSON.stringify({ root: join(root, 'work'), home, edits })],
    {
      record: log,
      isDetailed: true,
    },
  );
  expect(answer).toEqual({ status: 'written' });
  return { recording: readRecording(root, readFileSync(log, 'utf8'), before), path, home };
}

function changesIn(home: string): FileChanges {
  const directory = new LatheHome(home);
  return new FileChanges({ locks: new FileLocks(directory), journal: new Journal(directory), seen: new SeenFiles() });
}

const contentOf = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : null);
const short = (text: string | null) => (text === null ? 'none' : `${text.slice(0, 6).trim()} (${text.length})`);

/** What is wrong with the state after a power failure: neither old nor new, or not to be undone. */
async function faultIn({ path, home }: { path: string; home: string }, { old, news }: Scenario): Promise<string> {
  const found = contentOf(path);
  if (found !== old && !news.some((content) => content === found)) return `torn: ${short(found)}`;
  await changesIn(home).undo({ count: 10, root: join(path, '..', '..') }, never);
  const undone = contentOf(path);
  return undone === old ? '' : `${short(found)} was undone to ${short(undone)}`;
}

const isWhole = (recording: Recording, cut: number) => cut === recording.operations.length;

// From a record of the real system calls, whatever order the file system may choose between two flushes.
test.skipIf(!canInject).each(Object.entries(scenarios))(
  'after a power failure, %s is there or not, and can be undone',
  { timeout: 1_200_000 },
  async (name, scenario) => {
    const place = await record(scenario);
    const { recording } = place;
    const random = randomFrom(seed);
    expect(recording.operations.filter(({ type }) => type === 'sync').length).toBeGreaterThanOrEqual(4);
    const faults = new Set<string>();
    for (let state = 0; state < states; state++) {
      // Each fourth state is the one after a reported success.
      const cut = state % 4 === 0 ? recording.operations.length : Math.floor(random() * recording.operations.length);
      const probability = pick(random, [0, 0.1, 0.5, 0.9, 1]);
      afterPowerLoss(recording, cut, random, probability);
      const last = scenario.news.at(-1);
      if (isWhole(recording, cut) && contentOf(place.path) !== last) faults.add(`a reported success was lost`);
      const fault = await faultIn(place, scenario);
      if (fault !== '') faults.add(`after ${cut} of ${recording.operations.length}, ${probability}: ${fault}`);
    }
    report(`power failures: ${name}`, states, { operations: recording.operations.length });
    expect([...faults].slice(0, 5), `LATHE_SEED=${seed}`).toEqual([]);
    rmSync(recording.root, { recursive: true, force: true });
  },
);
