import { constants } from 'node:os';
import { ToolError, type ToolErrorType } from '../contract/errors.js';

/** The code of a failed system call (`ENOENT` …), when `error` is one. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  if (!error.code.startsWith('Unknown system error') || !('errno' in error)) return error.code;
  // For some errors, such as EDQUOT, Node gives only a number.
  const number = -Number(error.errno);
  return Object.entries(constants.errno).find(([, known]) => known === number)?.[0] ?? error.code;
}

/** Turns a failed system call on `path` into an error the model can act on. Any other error is returned unchanged. */
export function readFailure(error: unknown, path: string): unknown {
  const code = codeOf(error);
  if (error instanceof ToolError || code === undefined || !/^E[A-Z0-9]+$/.test(code)) return error;
  const [type, message] = failures[code] ?? ['read_content_failure', `reading failed with ${code}`];
  return new ToolError(type, `${path}: ${message}`, { cause: error });
}

const failures: Record<string, [ToolErrorType, string]> = {
  ENOENT: ['file_not_found', 'no such file. Check the path, or list the directory.'],
  ENOTDIR: ['file_not_found', 'a parent of this path is a file, not a directory.'],
  EACCES: ['permission_denied', 'the operating system denies access.'],
  EPERM: ['permission_denied', 'the operating system denies access.'],
  EISDIR: ['target_is_directory', 'this is a directory. Use list_directory.'],
  ELOOP: ['read_content_failure', 'its symbolic links form a loop.'],
  ENAMETOOLONG: ['read_content_failure', 'the path is too long for the file system.'],
  ENXIO: ['target_not_regular_file', 'this is not a regular file.'],
  EMFILE: ['read_content_failure', 'too many files are open. Try again.'],
  ENFILE: ['read_content_failure', 'too many files are open. Try again.'],
};
