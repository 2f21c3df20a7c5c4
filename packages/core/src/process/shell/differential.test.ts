import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { generateCommand, generateWords, scratchFiles } from '../../../../../testing/command-generator.js';
import { report } from '../../../../../testing/long-run.js';
import { harvestOptions, type ProgramOptions } from '../../../../../testing/program-options.js';
import { hasProgram } from '../../../../../testing/programs.js';
import { type Random, randomFrom } from '../../../../../testing/random.js';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import { printWords, runTraced, type TracedBash } from '../../../../../testing/traced-bash.js';
import { isWithin } from '../../files/workspace.js';
import { resolveProgram } from '../run/trusted-path.js';
import { analyzeCommand } from './analyze-command.js';
import { type CommandAnalysis, unknownPart } from './command-analysis.js';

const isLong = process.env['LATHE_LONG'] === '1';
const wanted = isLong ? 100_000 : 150;
/** Set it to the seed in a failure message to run the same commands again. */
const seed = Number(process.env['LATHE_SEED'] ?? Date.now() % 1_000_000_000);
const batchSize = 250;
const canTrace = hasProgram('bwrap') && hasProgram('strace') && hasProgram('git');

const analyze = (command: string, { root, home, path }: TracedBash) =>
  analyzeCommand(command, { cwd: root, workspaceRoots: [root], home, path });

const isUnasked = ({ isReadOnly, reads }: CommandAnalysis, { root }: TracedBash) =>
  isReadOnly && reads.every((path) => isWithin(root, existsSync(path) ? realpathSync(path) : path));

/** The content of a file outside the workspace that symlinks inside lead to. */
const secret = 'not-for-the-model';

// SA24
test.skipIf(!canTrace)(
  'a command without approval executes only the predicted programs, reads only the workspace, and changes no file',
  { timeout: isLong ? 7_200_000 : 60_000 },
  async () => {
    const place = scratchPlace();
    const random = randomFrom(seed);
    const options = harvestOptions();
    const counts = { generated: 0, run: 0 };
    let tracing = Promise.resolve();
    while (counts.run < wanted) {
      const batch = await unaskedCommands(Math.min(batchSize, wanted - counts.run), { random, options, place, counts });
      await tracing;
      // The next batch is analyzed while this one runs.
      tracing = checkBatch(batch, place);
      tracing.catch(() => undefined);
      counts.run += batch.length;
      if (counts.run % 10_000 === 0) console.log(`${counts.run} commands`);
    }
    await tracing;
    report('generated shell commands run under a tracer', counts.run, { seed, generated: counts.generated });
    expect(counts.run, `seed ${seed}`).toBe(wanted);
  },
);

interface Unasked {
  command: string;
  analysis: CommandAnalysis;
}

interface Generating {
  random: Random;
  options: ProgramOptions;
  place: TracedBash;
  counts: { generated: number };
}

/** Generates commands until enough of them would run without approval. */
async function unaskedCommands(count: number, { random, options, place, counts }: Generating): Promise<Unasked[]> {
  const found: Unasked[] = [];
  while (found.length < count) {
    const commands = Array.from({ length: 50 }, () => generateCommand(random, options));
    counts.generated += commands.length;
    const analysed = await Promise.all(
      commands.map(async (command) => ({ command, analysis: await analyze(command, place) })),
    );
    found.push(...analysed.filter(({ analysis }) => isUnasked(analysis, place)));
  }
  return found.slice(0, count);
}

async function checkBatch(batch: Unasked[], place: TracedBash): Promise<void> {
  const before = snapshot(place.root);
  const { programs: executed, printsText: tells } = await runTraced(
    batch.map(({ command }) => command),
    place,
    secret,
  );
  expect(executed.flat().length, 'programs seen by the tracer').toBeGreaterThan(0);
  const surprises: unknown[] = [];
  for (const [index, { command, analysis }] of batch.entries()) {
    const predicted = await predictedPrograms(analysis, place);
    const unexpected = (executed[index] ?? [])
      .flatMap((program) => (existsSync(program) ? [realpathSync(program)] : []))
      .filter((program) => !predicted.has(program));
    if (unexpected.length > 0) surprises.push({ command, unexpected, predicted: [...predicted] });
  }
  expect(surprises, `LATHE_SEED=${seed}`).toEqual([]);
  if (snapshot(place.root) === before && !tells) return;
  const guilty = await guiltyCommands(batch.map(({ command }) => command));
  expect(guilty, `LATHE_SEED=${seed}`).toEqual([]);
  throw new Error(`a batch changed files or read the secret, no command alone did; LATHE_SEED=${seed}`);
}

/** Finds the guilty commands by running them one at a time, each in a fresh directory. */
async function guiltyCommands(commands: string[]): Promise<string[]> {
  const guilty: string[] = [];
  let place = scratchPlace();
  for (const command of commands) {
    const before = snapshot(place.root);
    const { printsText: tells } = await runTraced([command], place, secret);
    if (snapshot(place.root) === before && !tells) continue;
    guilty.push(command);
    place = scratchPlace();
  }
  return guilty;
}

async function predictedPrograms({ segments }: CommandAnalysis, { root, path }: TracedBash): Promise<Set<string>> {
  const names = new Set(segments.map(({ words: [name = ''] }) => name));
  const files = await Promise.all(
    [...names].map((name) => resolveProgram(name, { cwd: root, path, workspaceRoots: [] })),
  );
  const programs = new Set(files.flatMap(({ file }) => (file === undefined ? [] : [file])));
  // git runs its own programs by their full path.
  if ([...programs].some((file) => basename(file) === 'git')) programs.add(realpathSync('/usr/lib/git-core/git'));
  return programs;
}

// SA05 SA06
test.skipIf(!canTrace)(
  'words are what bash passes to a program, or are marked as unknown',
  { timeout: isLong ? 3_600_000 : 60_000 },
  async () => {
    const place = scratchPlace();
    const random = randomFrom(seed);
    for (let done = 0; done < (isLong ? 50_000 : 200); done += 200) {
      const lists = Array.from({ length: 200 }, () => generateWords(random));
      const printed = await printWords(lists, place);
      const differences: unknown[] = [];
      for (const [index, list] of lists.entries()) {
        const { segments, doubts } = await analyze(`printf '%s\\0' @ ${list}`, place);
        const outer = segments.find(({ words }) => words[1] === '%s\\0' && words[2] === '@')?.words.slice(2) ?? [];
        if (doubts.length > 0 || outer.some((word) => word.includes(unknownPart))) continue;
        const actual = printed[index] ?? [];
        if (JSON.stringify(actual) !== JSON.stringify(outer)) differences.push({ list, bash: actual, analysis: outer });
      }
      expect(differences, `LATHE_SEED=${seed}`).toEqual([]);
    }
  },
);

function scratchPlace(): TracedBash {
  const [root, home] = [tempDirectory(scratchFiles), tempDirectory({ 'secret.txt': `${secret} alpha beta\n` })];
  symlinkSync(join(home, 'secret.txt'), join(root, 'link.txt'));
  symlinkSync(home, join(root, 'linkdir'));
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
      cwd: root,
      stdio: 'ignore',
    });
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('commit', '-q', '-m', 'first');
  return { root, scratch: tempDirectory(), home, path: '/usr/local/bin:/usr/bin:/bin' };
}

/** Names, kinds, modes and contents of everything below a directory. */
function snapshot(root: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' }).sort()) {
    const path = join(root, name);
    const info = lstatSync(path);
    hash.update(`${name}\0${info.mode}\0`);
    if (info.isFile()) hash.update(readFileSync(path));
    if (info.isSymbolicLink()) hash.update(readlinkSync(path));
  }
  return hash.digest('hex');
}
