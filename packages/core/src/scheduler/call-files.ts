import { isAbsolute, resolve } from 'node:path';
import { ReadWriteLock } from '../async/read-write-lock.js';
import type { CallOutcome } from '../contract/call.js';
import { textOf } from '../contract/content.js';
import { ToolError } from '../contract/errors.js';
import { SeenFiles } from '../files/access/seen-files.js';
import type { Visibility } from '../files/access/visibility.js';
import type { Journal } from '../files/undo/journal.js';
import type { Workspace } from '../files/workspace.js';
import { FileChanges } from '../files/write/file-changes.js';
import type { FileLocks } from '../files/write/file-lock.js';
import { type ReaderUse, TextReader } from '../tools/text-reader.js';
import type { AnyTool } from '../tools/tools.js';
import { WriteFileTool } from '../tools/write-file.js';

/** What lets tools touch the files of a workspace through their call. */
export interface FileAccess {
  workspace: Workspace;
  visibility: Visibility;
  locks: FileLocks;
  journal: Journal;
}

/** Runs one call of a tool on behalf of another call, through all steps. */
export type RunTool = (tool: AnyTool, args: Record<string, unknown>) => Promise<CallOutcome | undefined>;

/**
 * The files of the workspace for the code of one call. Each access is a call of `read_file` or `write_file` of its own, so
 * that rules, modes, hooks, questions and the audit log treat it alike. What the code has read, the model has not seen.
 */
export class CallFiles {
  readonly #access: FileAccess;
  readonly #run: RunTool;
  readonly #signal: AbortSignal;
  readonly #seen = new SeenFiles();
  /** Code may ask for a thousand files at once. Writes happen one by one, in the order of the code. */
  readonly #lock = new ReadWriteLock(maxParallelReads);

  constructor(access: FileAccess, run: RunTool, signal: AbortSignal) {
    this.#access = access;
    this.#run = run;
    this.#signal = signal;
  }

  locate(path: string): Promise<string> {
    return this.#read(path, 'path');
  }

  readText(path: string): Promise<string> {
    return this.#read(path, 'text');
  }

  async write(path: string, text: string): Promise<string> {
    const { workspace, ...shared } = this.#access;
    const tool = new WriteFileTool(
      workspace,
      new FileChanges({ ...shared, editor: workspace.editor, seen: this.#seen }),
    );
    const args = { file_path: this.#absolute(path), content: text };
    const outcome = await this.#lock.run('write', this.#signal, () => this.#run(tool, args));
    if (outcome?.error?.type === 'edit_requires_prior_read')
      throw new ToolError(
        'edit_requires_prior_read',
        `${path} exists: a tool reads it with readText before it replaces it.`,
      );
    return textOf(succeeded(outcome).llmContent);
  }

  async #read(path: string, use: ReaderUse): Promise<string> {
    let found = '';
    const parts = { ...this.#access, seen: this.#seen };
    const reader = new TextReader(parts, use, (result) => {
      found = result;
    });
    const args = { absolute_path: this.#absolute(path) };
    succeeded(await this.#lock.run('read', this.#signal, () => this.#run(reader, args)));
    return found;
  }

  /** An empty path stays empty, and is refused like every other odd one. */
  #absolute(path: string): string {
    return path === '' || isAbsolute(path) ? path : resolve(this.#access.workspace.root, path);
  }
}

const maxParallelReads = 10;

/** What went wrong in the call of a file tool goes wrong in the call that asked for it. */
function succeeded(outcome: CallOutcome | undefined): CallOutcome {
  if (outcome?.status === 'success') return outcome;
  const { type, message } = outcome?.error ?? { type: 'execution_failed', message: 'The call was cancelled.' };
  throw new ToolError(type, message);
}
