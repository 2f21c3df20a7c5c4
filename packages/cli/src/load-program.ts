import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { createRequire, Module } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Script } from 'node:vm';

/** A hash of `chunks/start.cjs`. */
declare const LATHE_BUILD: string;

const chunks = join(import.meta.dirname, 'chunks');
const startFile = join(chunks, 'start.cjs');

/** Loads the bundled program. */
export function loadProgram(): typeof import('./run.js') {
  const require = createRequire(startFile);
  const start = new Module(startFile);
  // Other chunks require it by its path.
  require.cache[startFile] = start;
  compileStart()(start.exports, require, start, startFile, chunks, importLate);
  const program: typeof import('./run.js') = require(join(chunks, 'run.cjs'));
  return program;
}

/** Stands for `import()` in the compiled file: in Node 20, code from a compile cache cannot call it. */
async function importLate(name: string): Promise<unknown> {
  return import(name);
}

type ModuleFunction = (...parameters: unknown[]) => void;

/**
 * Takes what V8 compiled in an earlier run from the compile cache, which saves a third of the time to the first request:
 * `npm run bench -- --no-peers --only 'agent: from the start of the process'`.
 */
function compileStart(): ModuleFunction {
  const cacheFile = join(process.env['LATHE_HOME'] || join(homedir(), '.lathe'), 'cache', `program-${process.version}`);
  const cachedData = readCache(cacheFile);
  const source = readFileSync(startFile, 'latin1');
  const script = new Script(`(function (exports, require, module, __filename, __dirname, importLate) {${source}\n})`, {
    filename: startFile,
    ...(cachedData && { cachedData }),
  });
  // At the end of a run, the functions that it needed are compiled. Another task may need others.
  if (cachedData === undefined || script.cachedDataRejected === true || isDayOld(cacheFile))
    process.once('exit', () => saveCache(cacheFile, () => script.createCachedData()));
  const run: ModuleFunction = script.runInThisContext();
  return run;
}

/** V8 runs what is in the cache: another user's file does not count, nor one of another build or one that is damaged. */
function readCache(file: string): Buffer | undefined {
  try {
    const { uid, mode } = statSync(file);
    if (uid !== process.getuid?.() || (mode & 0o022) !== 0) return undefined;
    const content = readFileSync(file);
    const data = content.subarray(hashBytes);
    return hashOf(data).equals(content.subarray(0, hashBytes)) ? data : undefined;
  } catch {
    return undefined;
  }
}

function isDayOld(file: string): boolean {
  return Date.now() - statSync(file).mtimeMs > 86_400_000;
}

function saveCache(file: string, compile: () => Buffer): void {
  const directory = join(file, '..');
  try {
    // A run that keeps no state leaves no cache.
    if (!existsSync(join(directory, '..'))) return;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const data = compile();
    writeFileSync(`${file}.${process.pid}`, Buffer.concat([hashOf(data), data]), { mode: 0o600 });
    renameSync(`${file}.${process.pid}`, file);
  } catch {
    // The program runs without it.
  }
}

const hashBytes = 32;

function hashOf(data: Buffer): Buffer {
  const { createHash } = process.getBuiltinModule('node:crypto');
  return createHash('sha256').update(LATHE_BUILD).update(data).digest();
}
