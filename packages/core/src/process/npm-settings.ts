import { access, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** The file with settings of a project that npm would obey in this directory: even a listing writes a log where it says. */
export async function npmSettings(directory: string, home: string): Promise<string | undefined> {
  // npm looks upwards from where links lead.
  for (let at = await realpath(directory).catch(() => directory); ; at = dirname(at)) {
    const file = join(at, '.npmrc');
    // Those in the home directory are the person's own.
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
