import { closeSync, openSync } from 'node:fs';
import { type BytePath, fromBytePath, systemPath } from './byte-path.js';
import { type RgBatch, RgBatches } from './rg-batch.js';
import { binaryMatches, type RgLine, RgOutput } from './rg-output.js';
import { Complaints } from './ripgrep-error.js';
import { type SearchJob, searchFlags } from './search-job.js';
import { secretFiles } from './secret-files.js';
import { type WalkedDirectory, walk } from './walk.js';

/** Directories whose files are to be searched. */
export type Walk = (signal: AbortSignal) => AsyncIterable<WalkedDirectory>;

/** Ripgrep searches what a walk has found so far, while the walk goes on. Returns false when there was nothing. */
export async function searchWalked(job: SearchJob, walkTree: Walk): Promise<boolean> {
  const batches = new RgBatches({ globIsPassed: job.glob?.names !== undefined });
  const ended = new AbortController();
  const walking = collect(walkTree(AbortSignal.any([job.signal, ended.signal])), batches, job);
  // The failure is met below; until then nobody waits for it.
  walking.catch(() => {});
  let hasRun = false;
  try {
    for (await batches.ready(); batches.size > 0; await batches.ready()) {
      await searchBatch(job, batches.take());
      hasRun = true;
    }
    await walking;
    return hasRun;
  } finally {
    ended.abort();
  }
}

/** Something that ripgrep left out of a tree and our rules show. */
export interface LeftOut {
  path: BytePath;
  isDirectory: boolean;
}

export async function searchLeft(job: SearchJob, left: readonly LeftOut[]): Promise<void> {
  if (left.length > 0) await searchWalked(job, (signal) => walkLeft(job, left, signal));
}

async function* walkLeft(
  { options: { rules }, found: { notes }, glob }: SearchJob,
  left: readonly LeftOut[],
  signal: AbortSignal,
): AsyncGenerator<WalkedDirectory> {
  for (const { path, isDirectory } of left) {
    if (isDirectory) yield* walk({ directory: path, rules, signal, notes, ...(glob && { glob: glob.start }) });
    else {
      const slash = path.lastIndexOf('/') + 1;
      const [directory, name] = [path.slice(0, slash), path.slice(slash)];
      yield { path: directory, files: [name], links: [], hidden: 1, unmatched: 0, isComplete: true };
    }
  }
}

/** One file, whatever its name. */
export async function searchFile(job: SearchJob, path: BytePath): Promise<void> {
  const batches = new RgBatches({ globIsPassed: false });
  batches.addFile(path);
  await searchBatch(job, batches.take());
}

async function collect(parts: AsyncIterable<WalkedDirectory>, batches: RgBatches, job: SearchJob): Promise<void> {
  try {
    for await (const part of parts) batches.add(withoutSecrets(part, job));
  } finally {
    batches.close();
  }
}

/** Files that hold keys and the like, or our own state, are searched only when they, or a directory of theirs, are named. */
function withoutSecrets(part: WalkedDirectory, { options, isSecretPlace, found }: SearchJob): WalkedDirectory {
  if (isSecretPlace) return part;
  const isOwnState = options.isOwnState?.(fromBytePath(part.path)) === true;
  const secrets = new Set(isOwnState ? part.files : secretFiles(part.path, part.files));
  if (secrets.size === 0) return part;
  for (const name of secrets) found.notes.add('not searched, because they hold secrets', part.path + name);
  const files = part.files.filter((name) => !secrets.has(name));
  return { ...part, files, hidden: part.hidden + secrets.size };
}

function globFlags(names: readonly string[] = []): string[] {
  // Named files are few, and may be large: ripgrep maps those into memory when they are its arguments.
  const isNamed = names.length > 0 && !names.some((name) => name.includes('*'));
  return [...names.map((name) => `--glob=${name}`), ...(isNamed ? ['--mmap'] : [])];
}

const throughDescriptor = /^\/proc\/self\/fd\/3\/?/;

async function searchBatch(job: SearchJob, { paths, only, descriptor }: RgBatch): Promise<void> {
  const { ripgrep, options, signal, found } = job;
  const nameOf = (path: BytePath) => (descriptor === undefined ? path : path.replace(throughDescriptor, descriptor));
  const add = (line: RgLine) => {
    const path = nameOf(line.path);
    const slash = path.lastIndexOf('/') + 1;
    if (only.get(path.slice(0, slash))?.has(path.slice(slash)) !== false) found.add({ ...line, path });
  };
  const output = new RgOutput(add, (path) => found.notes.add(binaryMatches, nameOf(path)));
  // The walk has seen the directories inside, and knows which of them are hidden.
  const given = new Set(paths.map((path) => nameOf(Buffer.from(path).toString('latin1')).replace(/\/$/, '')));
  const isShown = (path: BytePath, isDirectory: boolean) => !isDirectory || given.has(path.replace(/\/$/, ''));
  const complaints = new Complaints(found.notes, { nameOf, isShown });
  const globs = only.size > 0 ? [] : globFlags(job.glob?.names);
  const flags = ['--no-ignore', '--hidden', '--max-depth=1', ...searchFlags(job), ...globs];
  const opened = descriptor === undefined ? undefined : openSync(systemPath(descriptor), 'r');
  try {
    const code = await ripgrep.run([...flags, '-e', options.pattern, '--', ...paths], {
      signal,
      onOutput: (chunk) => output.push(chunk),
      onError: (chunk) => complaints.push(chunk),
      directory: opened,
    });
    output.end();
    complaints.checkEnd(code, output);
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}
