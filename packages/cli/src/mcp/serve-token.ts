import { constants } from 'node:fs';
import { link, open, unlink, writeFile } from 'node:fs/promises';
import { newToken, tokenProblem } from '@lathe/core/host';
import { UsageError } from '../command-line/args.js';
import { errorMessage } from '../command-line/error-message.js';

/** Longer files hold no token. */
const maxFileBytes = 4096;

/** The token that stays the same from start to start: from the file, or else from the variable; `undefined` without both. */
export async function serveToken(
  file: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const token = file === undefined ? env['LATHE_SERVE_TOKEN'] || undefined : await tokenOfFile(file);
  if (token === undefined) return undefined;
  const problem = tokenProblem(token);
  if (problem !== undefined) throw new UsageError(`${file ?? 'LATHE_SERVE_TOKEN'}: ${problem}`);
  return token;
}

async function tokenOfFile(file: string): Promise<string> {
  try {
    return (await readPrivate(file)) ?? (await createToken(file));
  } catch (error) {
    throw new UsageError(`--token-file: ${errorMessage(error)}`);
  }
}

/** The text of a file that only this user can read; `undefined` when there is none. */
async function readPrivate(file: string): Promise<string | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(file, flags).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    if (error.code === 'ELOOP') throw new Error(`${file} is a symlink; name the file itself.`, { cause: error });
    throw error;
  });
  if (handle === undefined) return undefined;
  try {
    const { mode, uid, size } = await handle.stat();
    const isOthers = process.getuid !== undefined && (uid !== process.getuid() || (mode & 0o077) !== 0);
    if ((mode & constants.S_IFMT) !== constants.S_IFREG) throw new Error(`${file} is not a regular file.`);
    if (isOthers) throw new Error(`Others may read ${file}: run chmod 600 on it, and make sure that it is yours.`);
    if (size > maxFileBytes) throw new Error(`${file} is too long to be a token.`);
    return (await handle.readFile('utf8')).trim();
  } finally {
    await handle.close();
  }
}

/** Writes a new token in one step, so that nobody reads half of it. Another process may be first; then its token counts. */
async function createToken(file: string): Promise<string> {
  const token = newToken();
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, `${token}\n`, { flag: 'wx', mode: 0o600 });
  try {
    await link(draft, file);
    return token;
  } catch (error) {
    const first = await readPrivate(file);
    if (first === undefined) throw error;
    return first;
  } finally {
    await unlink(draft);
  }
}
