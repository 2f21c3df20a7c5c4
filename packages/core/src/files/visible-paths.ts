import type { BytePath } from './byte-path.js';
import type { FoundLines } from './found-lines.js';
import type { IgnoreLevel } from './ignore-rules.js';
import { binaryMatches, RgOutput } from './rg-output.js';
import { Complaints } from './ripgrep-error.js';
import { secretFiles } from './secret-files.js';
import { isThere } from './small-file.js';

const maxLevels = 10_000;

/** Judges single paths below a directory the way a walk from there would. */
export class VisiblePaths {
  /** Levels by directory, with a slash at the end; `undefined` for a hidden one. */
  readonly #levels = new Map<BytePath, IgnoreLevel | undefined>();
  readonly #top: BytePath;
  readonly #topLevel: () => IgnoreLevel | undefined;
  readonly #isThere: (path: BytePath) => boolean;

  /** `has` tells of files with rules whether they are there. */
  constructor(directory: BytePath, level: () => IgnoreLevel | undefined, has = isThere) {
    this.#top = `${directory}/`;
    this.#topLevel = level;
    this.#isThere = has;
  }

  has(path: BytePath, { isDirectory }: { isDirectory: boolean }): boolean {
    if (!path.startsWith(this.#top)) return false;
    const [, name] = split(path);
    const level = this.levelOf(path);
    return level !== undefined && level.judge(name, isDirectory) === undefined;
  }

  /** The rules for this path; `undefined` when a directory above it is hidden. */
  levelOf(path: BytePath): IgnoreLevel | undefined {
    return this.#levelIn(split(path)[0]);
  }

  #levelIn(directory: BytePath): IgnoreLevel | undefined {
    if (directory === this.#top) return this.#topLevel();
    if (this.#levels.has(directory)) return this.#levels.get(directory);
    const [parent, name] = split(directory.slice(0, -1));
    const above = this.#levelIn(parent);
    const isHidden = above === undefined || above.judge(name, true) !== undefined;
    const level = isHidden ? undefined : above.enter(name, (file) => this.#isThere(directory + file));
    if (this.#levels.size >= maxLevels) this.#levels.clear();
    this.#levels.set(directory, level);
    return level;
  }
}

/** Whether a match in a file is shown. Matches come file by file, so the last answer is kept. */
function fileJudge(visible: VisiblePaths): (path: BytePath) => boolean {
  let last = { path: '', isShown: false };
  return (path) => {
    if (path !== last.path) {
      const [directory, name] = split(path);
      const isSecret = secretFiles(directory, [name]).length > 0;
      last = { path, isShown: !isSecret && visible.has(path, { isDirectory: false }) };
    }
    return last.isShown;
  };
}

/** What ripgrep prints of a tree that it walks itself, as far as our rules show it. */
export function visibleOutput(visible: VisiblePaths, found: FoundLines): RgOutput {
  const isShown = fileJudge(visible);
  return new RgOutput(
    (line) => isShown(line.path) && found.add(line),
    (path) => isShown(path) && found.notes.add(binaryMatches, path),
  );
}

/** What it complains about, the same way. */
export function visibleComplaints(visible: VisiblePaths, found: FoundLines): Complaints {
  return new Complaints(found.notes, { isShown: (path, isDirectory) => visible.has(path, { isDirectory }) });
}

function split(path: BytePath): [directory: BytePath, name: string] {
  const slash = path.lastIndexOf('/') + 1;
  return [path.slice(0, slash), path.slice(slash)];
}
