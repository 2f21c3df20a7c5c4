/** The hooks that concern a prompt as a whole; those around a call are the scheduler's. */
export interface PromptHooks {
  promptSubmit(prompt: string, signal: AbortSignal): Promise<HookAnswer>;
  /** The model is done; `block` is a reason to go on. */
  stop(state: { isContinued: boolean }, signal: AbortSignal): Promise<HookAnswer>;
  preCompact(trigger: 'auto' | 'manual', signal: AbortSignal): Promise<HookAnswer>;
}

/** What hooks say about a prompt. */
export interface HookAnswer {
  /** Why not. */
  block?: string;
  /** More for the model to know. */
  context?: string;
  /** For people: hooks that failed, or have something to say. */
  notices: readonly string[];
}
