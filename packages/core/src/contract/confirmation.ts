/**
 * What a person must see before a call runs. Plain data: a front end shows it and answers with a `Decision`; no
 * callbacks travel with it.
 */
export type Confirmation = ConfirmationBase &
  (
    | {
        type: 'edit';
        fileName: string;
        filePath: string;
        fileDiff: string;
        originalContent?: string | null;
        /** Present when the person may change the proposed text in an editor. */
        newContent?: string;
      }
    | { type: 'exec'; command: string; rootCommand: string; directory: string }
    /** `isQuestion`: answered by one of the choices or, as the message of a denial, in the person's own words. */
    | { type: 'info'; prompt: string; urls?: string[]; isQuestion?: true }
    | { type: 'mcp'; serverName: string; toolName: string; toolDisplayName: string; args: unknown }
    | { type: 'plan'; plan: string }
  );

interface ConfirmationBase {
  title: string;
  /** Things the person should know before saying yes. */
  warnings?: string[];
  /** The exact rules that "always" would save; without them "always" is not offered. */
  rules?: string[];
  /** Rules that allow no more than this very call; absent if `rules` are not wider. */
  exactRules?: string[];
  /** Answers other than yes and no, such as the scope of a memory. The tool receives the one picked. */
  choices?: { id: string; label: string }[];
}

/** A person's answer. */
export type Decision =
  /** `by`: who decided, where it was not the person at this program. */
  | { outcome: 'once'; choice?: string; by?: string }
  /** `isExact`: by the `exactRules`. */
  | { outcome: 'always'; scope: GrantScope; isExact?: true; choice?: string }
  /** The person rewrote the proposed text; the changed call is shown again before it runs. */
  | { outcome: 'modify'; content: string }
  | { outcome: 'deny'; message?: string; by?: string };

/** How long, and where, "always" holds. */
export type GrantScope = 'session' | 'project' | 'user';
