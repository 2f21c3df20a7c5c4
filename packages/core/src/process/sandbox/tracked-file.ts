import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { relative } from 'node:path';
import { isWithin } from '../../files/workspace.js';
import { trustedPath } from '../run/trusted-path.js';

const timeoutMs = 5_000;

/**
 * Compares a content of a file with what the current commit has for it. If it is the same, a checkout wrote it, or it is as
 * good as one. A command could have committed it, but commits can be read before they are used, and are made to be checked
 * out.
 */
export async function compareWithCommit(
  path: string,
  bytes: Buffer,
  { roots, searchPath }: TrackedOptions,
): Promise<'same' | 'different' | 'untracked'> {
  const git = trustedPath('git', { outside: roots, path: searchPath });
  const root = roots.find((one) => isWithin(one, path));
  if (git === undefined || root === undefined) return 'untracked';
  // Not asked in the directory of the file, where a command could have put a repository of its own.
  const id = await outputOf(git, ['rev-parse', '--verify', '--quiet', `HEAD:./${relative(root, path)}`], root);
  if (id === '') return 'untracked';
  const algorithm = id.length === 64 ? 'sha256' : 'sha1';
  const own = createHash(algorithm).update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
  return id === own ? 'same' : 'different';
}

interface TrackedOptions {
  roots: readonly string[];
  searchPath: string;
}

/** No configuration but the repository's own, and no way to fetch what is missing. */
const env = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_OPTIONAL_LOCKS: '0',
};

function outputOf(program: string, args: readonly string[], cwd: string): Promise<string> {
  const settings = [
    'core.fsmonitor=false',
    'core.hooksPath=/dev/null',
    'safe.directory=*',
    'safe.bareRepository=explicit',
  ];
  return new Promise((resolve) => {
    execFile(
      program,
      [...settings.flatMap((one) => ['-c', one]), ...args],
      { cwd, env, timeout: timeoutMs },
      (error, stdout) => {
        resolve(error === null ? stdout.trim() : '');
      },
    );
  });
}
