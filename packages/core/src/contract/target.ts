/**
 * One thing a call touches. Rules are matched against targets, so that `cat secret`, `read_file secret` and a
 * redirection into it meet the same rule. A call is denied when one target is denied and allowed without a question
 * only when every target that asks is allowed.
 */
export type Target = TargetBase &
  /**
   * `alias`: the spelling that leads to `path` through symlinks, for rules that forbid. `isInside` the workspace: what
   * auto-edit mode may write. `isTree`: with all that lies below it.
   */
  (
    | { type: 'path'; access: 'read' | 'write'; path: string; alias?: string; isInside?: boolean; isTree?: boolean }
    /** One simple command of a compound, by its words. */
    | { type: 'command'; words: readonly string[] }
    | { type: 'host'; host: string; port?: number }
  );

interface TargetBase {
  /** This target alone is reason to ask: a write, a host, a command not proven read-only. */
  asks: boolean;
  /** Why no mode and no rule may answer for the person: a protected path, for example. */
  guarded?: string;
  /** Why a person must answer in any mode, unless a rule names exactly this file. */
  sensitive?: string;
  /** Why this target asks, if no rule about its place can allow it; never text that a model chose. */
  why?: string;
  /** Where the call can send data; `address`: all that it sends, if that is one address. */
  sends?: { to: string; address?: string };
  /** The untrusted text that the call brings in; `from`: the destination it comes from, if that is a single service. */
  brings?: { what: string; from?: string };
  /** The directories in which the sandbox keeps what it does, without a network: auto-edit mode may allow it. */
  contained?: readonly string[];
  /** The rule that names the whole call, for a command. */
  exact?: string;
  /** Only deny and ask rules look at it: the command inside a wrapper, a command behind an assignment. */
  hidden?: boolean;
}
