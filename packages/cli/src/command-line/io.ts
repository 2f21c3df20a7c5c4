import type { WorktreeOrigin } from '@lathe/core/host';

/** The parts of the process that a command may use. Tests pass their own. */
export interface Io {
  args: readonly string[];
  version: string;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** Set when `cwd` is in a worktree: where its files come from. */
  worktree?: WorktreeOrigin;
  home: string;
  stdin: NodeJS.ReadStream;
  /** Where the interactive screen is drawn. */
  terminal: NodeJS.WriteStream;
  isInteractive: boolean;
  out: (text: string) => void;
  err: (text: string) => void;
  /** Resolves when the reader of stdout has caught up. */
  flush: () => Promise<void>;
}
