import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { canAccess } from './can-access.js';

/** Why npm could write files in this directory: even `npm ls` writes a log where the project's settings say. */
export async function npmDoubt(directory: string, home: string): Promise<string | undefined> {
  // npm resolves symlinks and then searches upwards.
  for (let at = await realpath(directory).catch(() => directory); ; at = dirname(at)) {
    const file = join(at, '.npmrc');
    // Settings in the home directory are the user's own.
    if (at !== home && (await canAccess(file))) return `the settings in ${file} can make npm write files`;
    if (at === dirname(at)) return undefined;
  }
}
