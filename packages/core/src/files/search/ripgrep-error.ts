import { lstatSync } from 'node:fs';
import { attempt, ToolError } from '../../contract/errors.js';
import { asFolder, type BytePath, systemPath } from '../byte-path.js';
import { codeOf } from '../fs-error.js';
import type { RgOutput } from './rg-output.js';
import type { ExitCode } from './ripgrep.js';
import { unreadDirectories, type WalkNotes } from './walk-notes.js';

/** For messages that are neither about a file nor the end of the search. */
const otherProblems = 'ripgrep also said';

interface ComplaintOptions {
  /** The real path for one that ripgrep printed. */
  nameOf: (path: BytePath) => BytePath;
  /** Hidden paths are not named. The path of a directory ends in a slash. */
  isShown: (path: BytePath) => boolean;
}

/**
 * Parses ripgrep's messages on stderr as they come. Files that could not be read are noted; any other failure is a typed
 * error, never "no matches".
 */
export class Complaints {
  readonly #notes: WalkNotes;
  readonly #nameOf: (path: BytePath) => BytePath;
  readonly #isShown: (path: BytePath) => boolean;
  #rest = '';
  #aboutFiles = 0;
  #other = '';

  constructor(notes: WalkNotes, { nameOf, isShown }: ComplaintOptions) {
    this.#notes = notes;
    this.#nameOf = nameOf;
    this.#isShown = isShown;
  }

  push(chunk: Buffer): void {
    const messages = (this.#rest + chunk.toString('latin1')).split(betweenMessages);
    this.#rest = (messages.pop() ?? '').slice(0, maxMessage);
    for (const message of messages) this.#read(message);
  }

  checkEnd(code: ExitCode, { isEmpty, isGarbled }: Pick<RgOutput, 'isEmpty' | 'isGarbled'>): void {
    if (code === null) throw new ToolError('grep_execution_error', 'ripgrep was killed by a signal. Try again.');
    if (isGarbled) throw new ToolError('grep_execution_error', 'The output of ripgrep cannot be parsed.');
    if (code === 1 || (code === 0 && !isEmpty)) return;
    this.#read(this.#rest.trimEnd());
    if (code === 2 && this.#other === '' && this.#aboutFiles > 0) return;
    if (code !== 2 || isEmpty) throw searchError(Buffer.from(this.#other, 'latin1').toString('utf8'));
    this.#notes.add(otherProblems, this.#other.trim() || 'something went wrong');
  }

  #read(message: string): void {
    const [, path, reason] = aboutFile.exec(message) ?? [];
    if (path === undefined) {
      if (this.#other.length < maxMessage) this.#other += message;
      return;
    }
    this.#aboutFiles++;
    const name = this.#nameOf(path);
    const isFolder = isDirectory(name);
    if (!this.#isShown(isFolder ? asFolder(name) : name)) return;
    this.#notes.add(isFolder ? unreadDirectories : 'files that could not be read', name, reason);
  }
}

/** A name with line feeds looks like several messages; a message about a file ends with the system's error. */
const betweenMessages = /(?<=\(os error \d+\))\n(?=rg: )/;
const aboutFile = /^rg: (?=\/|.*\(os error \d+\)$)(.*?)(?:: ([ -9;-~]*))?$/s;
const maxMessage = 16 << 10;

function isDirectory(path: BytePath): boolean {
  return attempt(() => lstatSync(systemPath(path)).isDirectory()) ?? false;
}

/** Why ripgrep did not search. Its hints about flags are cut off, because a call cannot pass any. */
function searchError(stderr: string): ToolError {
  const message = stderr
    .replace(/^rg: /gm, '')
    .replace(/\n*Consider (?:enabling|using)[^]*$/, '')
    .trim();
  if (
    /regex parse error|look-around|backreferences|exceeds size limit|not supported|impossible to match/i.test(message)
  )
    return new ToolError(
      'invalid_tool_params',
      `The pattern is not a valid regular expression (Rust syntax): ${message}`,
    );
  if (/not allowed in a regex/.test(message))
    return new ToolError('invalid_tool_params', `A match cannot go beyond the end of a line: ${message}`);
  return new ToolError('grep_execution_error', `ripgrep failed: ${message.slice(0, 500) || 'it did not say why'}`);
}

const startHints: Partial<Record<string, string>> = {
  E2BIG: 'The system allows it too few arguments: search a smaller directory, or raise `ulimit -s`.',
  EMFILE: 'Too many files are open: try again.',
  ENFILE: 'Too many files are open: try again.',
  EAGAIN: 'The system has no room for another process: try again.',
  ENOMEM: 'The system has no memory for another process: try again.',
};

/** The typed error when ripgrep could not be started. */
export function startError(error: unknown): unknown {
  const code = codeOf(error);
  if (error instanceof ToolError || code === undefined) return error;
  const hint = startHints[code] ?? 'Is the package @vscode/ripgrep complete?';
  return new ToolError('grep_execution_error', `ripgrep could not be run (${code}). ${hint}`, { cause: error });
}
