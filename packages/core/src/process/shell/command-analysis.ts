import type { RecordedTree } from './recorded-files.js';

/**
 * What a shell command would do, as far as it can be proven without running it. Plain data: tools derive targets for
 * permission rules from it, the runner a sandbox, a front end the question for the user.
 */
export interface CommandAnalysis {
  /**
   * Every simple command in order, also those found inside substitutions, wrappers, functions and scripts given to
   * `sh -c`. Deny rules see all of them, whatever else could not be proven.
   */
  segments: Segment[];
  /** Absolute paths the command reads, from redirections and operands of known programs. */
  reads: string[];
  /** The part of `reads` whose content is shown; for a directory, everything below it. */
  searches: string[];
  /** Absolute paths of files whose content it may show, as far as they may hold keys or are named by the command. */
  contents: string[];
  /** What git shows as a repository has recorded it. */
  recorded: RecordedTree[];
  /** Absolute paths the command writes, from redirections and operands of known programs. */
  writes: string[];
  /** The part of `writes` made by redirections: no segment asks for these, so each needs its own answer. */
  redirections: string[];
  /** A program is known to use the network, or a redirection opens a socket. */
  network: boolean;
  /** A part of it is of no use without the network. */
  needsNetwork: boolean;
  /** Hosts that are spelled out in the arguments of such programs. */
  hosts: string[];
  /** One of these parts names no host: `npm install`. */
  hasUnnamedHost: boolean;
  /** The programs that run code and are not known to use the network. */
  offline: string[];
  /** What could not be proven, as sentences for the user. */
  doubts: string[];
  /** Every segment proven, nothing written, no network, no doubt. The caller judges reads outside the workspace. */
  isReadOnly: boolean;
  /** The narrowest rule specs that would allow the segments which ask (`git checkout *`); empty when none may be offered. */
  rules: string[];
  /** The programs that need approval, as a comma list. */
  rootCommand: string;
}

/** One simple command. */
export interface Segment {
  /**
   * What the program receives, its name first. `unknownPart` stands for whatever is known only at run time. Empty for a
   * doubt that belongs to no single command: no rule can allow it.
   */
  words: string[];
  /** As it is written in the command. */
  text: string;
  /** Proven to change nothing; also true for an alias of a program, which is judged under its first name. */
  isReadOnly: boolean;
  /** Why it is not proven. */
  why?: string;
  /** Only for deny and ask rules: the command inside a wrapper or after an assignment, an alias of a program. */
  hidden?: boolean;
}

/** Marks a part that is known only at run time. No argument of a program can contain this character. */
export const unknownPart = '\0';

/** Stands for the name of the pipe that `<(…)` becomes. */
export const substitutedPipe = '/dev/fd/<()';

/** The parsed text of a command, kept between analyses of the same command in the same place. */
export interface AnalysisMemo {
  parsed?: unknown;
}

export interface AnalysisOptions {
  /** Where the command starts: an absolute, real path. */
  cwd: string;
  /** Real paths. A program inside one of them is never proven. */
  workspaceRoots: readonly string[];
  /** The home directory of the shell that will run it: `~` and `$HOME`. */
  home: string;
  /** That shell is not bash: nothing is proven, because it may parse the same text differently. */
  isOtherShell?: boolean;
  /** The PATH of the shell that will run it; must come from `sanitizePath`. */
  path: string;
}
