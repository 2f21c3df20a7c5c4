import { basename, dirname, join } from 'node:path';
import { protectionOf } from '../../files/access/protected-paths.js';
import type { Workspace } from '../../files/workspace.js';
import { sensitiveBelow } from '../shell/secret-trees.js';
import { guardedNames, realPathOf } from './guarded-names.js';
import { gitProgramsBelow } from './planted-repositories.js';
import { firstLink, type PutAside } from './put-aside.js';
import { entriesOf } from './read-entries.js';

/** What a command may have done that a person would have been asked about. */
export interface ContainedEffects {
  /** Sentences about protected names that it created, which are out of the way now. */
  planted: string[];
  /** A file with keys in the workspace, which it could read. */
  keyFile: string | undefined;
}

/**
 * Looks after a command about which nobody was asked because the sandbox contains it. The sandbox keeps existing protected
 * names from changing, but cannot keep missing ones from appearing.
 */
export class ContainedCommand {
  readonly #workspace: Workspace;
  readonly #aside: PutAside;
  readonly #before: ReadonlySet<string>;
  readonly #keyFiles: Promise<string[][]>;

  private constructor(workspace: Workspace, aside: PutAside, before: ReadonlySet<string>) {
    this.#workspace = workspace;
    this.#aside = aside;
    this.#before = before;
    // Beside the command, because a large workspace takes a while.
    this.#keyFiles = Promise.all(workspace.roots.map((root) => sensitiveBelow(root, {})));
  }

  /** Call it before the command starts. */
  static async begin(workspace: Workspace, aside: PutAside): Promise<ContainedCommand> {
    const before = new Set([...namesIn(workspace), ...(await gitProgramsBelow(workspace.roots))]);
    return new ContainedCommand(workspace, aside, before);
  }

  /** Call it when the command is over. */
  async finish(): Promise<ContainedEffects> {
    const planted: string[] = [];
    for (const path of namesIn(this.#workspace).filter((name) => !this.#before.has(name))) {
      // A symlink is judged by its own name too, because programs follow it.
      const guarded = protectionOf(path) ?? (await this.#workspace.locate(path)).guarded;
      if (guarded === undefined) continue;
      const place = this.#aside.take(this.#beyondOldLinks(path));
      planted.push(
        `${this.#workspace.display(path)} was created without a question, but ${guarded}: ${place}. To create it, use write_file, which asks the user.`,
      );
    }
    for (const path of (await gitProgramsBelow(this.#workspace.roots)).filter((name) => !this.#before.has(name))) {
      const place = this.#aside.take(path);
      planted.push(
        `${this.#workspace.display(path)} was written without a question, but git may run what it names: ${place}.`,
      );
    }
    const [keyFile] = (await this.#keyFiles).flat();
    return { planted, keyFile: keyFile && this.#workspace.display(keyFile) };
  }

  /** A symlink on the way that was there before is the user's, and stays. */
  #beyondOldLinks(path: string): string {
    const directory = dirname(path);
    const link = firstLink(directory);
    const real = link !== undefined && this.#before.has(link) ? realPathOf(directory) : undefined;
    return real === undefined || !this.#workspace.contains(real) ? path : join(real, basename(path));
  }
}

/** The names at the top, and protected names in known directories, such as `.github/workflows`. */
function namesIn({ roots }: Workspace): string[] {
  const all = roots.flatMap((root) => [
    ...entriesOf(root).map(({ name }) => join(root, name)),
    ...guardedNames(root, { protectedFiles: [], obeyed: [], isGitFixed: true }).fixed,
  ]);
  return [...new Set(all)];
}
