import { access, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** The project's settings file that npm would use in this directory: even `npm ls` writes a log where it says. */
export async function npmSettings(directory: string, home: string): Promise<string | undefined> {
  // npm resolves symlinks and then searches upwards.
  for (let at = await realpath(directory).catch(() => directory); ; at = dirname(at)) {
    const file = join(at, '.npmrc');
    // Settings in the home directory are the user's own.
    if (at !== home && (await exists(file))) return file;
    if (at === dirname(at)) return undefined;
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
