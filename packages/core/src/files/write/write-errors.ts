import { ToolError, type ToolErrorType } from '../../contract/errors.js';
import { codeOf } from '../fs-error.js';

/** The typed error for a failed write, which always leaves the old file as it was. */
export function toWriteError(error: unknown, path: string): unknown {
  const code = codeOf(error);
  if (error instanceof ToolError || code === undefined) return error;
  const { type, advice } = meanings[code] ?? { type: 'file_write_failure' as const, advice: 'nothing was changed' };
  return new ToolError(type, `Cannot write ${path}: ${advice} (${code})`, { cause: error });
}

const meanings: Record<string, { type: ToolErrorType; advice: string }> = {
  EACCES: { type: 'permission_denied', advice: 'permission denied, the file or its directory is not writable' },
  EPERM: { type: 'permission_denied', advice: 'operation not permitted, the file may be immutable or another owner’s' },
  EROFS: { type: 'permission_denied', advice: 'the file system is read-only' },
  ENOSPC: { type: 'no_space_left', advice: 'no space left on the device; the old content is intact' },
  EDQUOT: { type: 'no_space_left', advice: 'the disk quota is exhausted; the old content is intact' },
  EFBIG: { type: 'no_space_left', advice: 'the file would exceed the size limit; the old content is intact' },
  EISDIR: { type: 'target_is_directory', advice: 'it is a directory' },
  ENOTDIR: { type: 'file_write_failure', advice: 'a parent of the path is a file, not a directory' },
  ENAMETOOLONG: { type: 'file_write_failure', advice: 'the name or the path is too long' },
  ELOOP: { type: 'file_changed_since_read', advice: 'a symbolic link took its place; read it again' },
  ENOENT: { type: 'file_changed_since_read', advice: 'its directory vanished; check the path' },
  EIO: { type: 'file_write_failure', advice: 'the device reported an error; the old content is intact' },
  EXDEV: { type: 'file_write_failure', advice: 'it is a mount point of its own; the old content is intact' },
  EBUSY: { type: 'file_write_failure', advice: 'it is in use, perhaps as a mount point; the old content is intact' },
};
