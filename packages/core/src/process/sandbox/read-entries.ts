import { chmodSync, type Dirent, readdirSync, statSync } from 'node:fs';
import { codeOf } from '../../files/fs-error.js';

/**
 * The entries of a directory; none if it cannot be read. A command can take away the right to list one of its directories,
 * and programs would still open the files in it by name, so the right is given back for a moment.
 */
export function entriesOf(directory: string): Dirent[] {
  const list = () => readdirSync(directory, { withFileTypes: true });
  try {
    return list();
  } catch (error) {
    if (codeOf(error) !== 'EACCES') return [];
  }
  try {
    const { mode } = statSync(directory);
    chmodSync(directory, (mode & 0o7777) | 0o400);
    try {
      return list();
    } finally {
      chmodSync(directory, mode & 0o7777);
    }
  } catch {
    return [];
  }
}
