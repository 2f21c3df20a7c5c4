import { basename, dirname, join } from 'node:path';
import { closestNames } from '../../text/closest-names.js';
import { isHiddenByAgent, type Visibility } from '../access/visibility.js';
import { fromBytePath, toBytePath } from '../byte-path.js';
import { directoryEntries } from './directory-entries.js';

/** Comparing names letter by letter is slow. */
const maxCompared = 300;
const maxRead = 4096;

/** Suggestions for a missing path: files beside it whose names differ by a letter or two, or by look-alike characters. */
export function similarFiles(path: string, visibility: Visibility): string[] {
  const directory = dirname(path);
  const wanted = fold(basename(path));
  const names = new Map(namesIn(directory).map((name) => [fold(name), name]));
  const near = [...names.keys()].filter((name) => Math.abs(name.length - wanted.length) <= 2);
  return closestNames(wanted, near.slice(0, maxCompared), { within: Math.min(2, Math.floor(wanted.length / 3)) })
    .map((name) => join(directory, names.get(name) ?? name))
    .filter((file) => visibility.canRead?.(file) !== false && !isHiddenByAgent(file, visibility));
}

/** The narrow spaces, curly quotes and composed letters that systems put into names, and the backslashes of a shell. */
function fold(name: string): string {
  return name
    .normalize('NFKC')
    .replaceAll(/\\(?=[^x])/g, '')
    .replaceAll(/[‘’]/g, "'");
}

function namesIn(directory: string): string[] {
  try {
    const names: string[] = [];
    for (const { name } of directoryEntries(toBytePath(directory)))
      if (names.push(fromBytePath(name)) === maxRead) break;
    return names;
  } catch {
    // A suggestion is not worth an error.
    return [];
  }
}
