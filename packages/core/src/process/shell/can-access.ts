import { access } from 'node:fs/promises';

/** Whether a path exists and permits `mode`, symlinks followed. */
export async function canAccess(path: string, mode?: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}
