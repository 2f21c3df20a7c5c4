/** What a command may touch of the process it runs in; tests pass their own. */
export interface Io {
  args: readonly string[];
  version: string;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  home: string;
  stdin: NodeJS.ReadStream;
  /** Where the interactive screen is drawn. */
  terminal: NodeJS.WriteStream;
  isInteractive: boolean;
  out: (text: string) => void;
  err: (text: string) => void;
  /** Settles when the reader of stdout has caught up. */
  flush: () => Promise<void>;
}
