/** The hooks for a whole prompt; `CallHooks` are those for a single call. */
export interface PromptHooks {
  promptSubmit(prompt: string, signal: AbortSignal): Promise<HookAnswer>;
  /** Called when the model is done; `block` is a reason to continue. */
  stop(state: { isContinued: boolean }, signal: AbortSignal): Promise<HookAnswer>;
  preCompact(trigger: 'auto' | 'manual', signal: AbortSignal): Promise<HookAnswer>;
}

/** What hooks say about a prompt. */
export interface HookAnswer {
  /** Why it is blocked. */
  block?: string;
  /** Additional text for the model. */
  context?: string;
  /** For the user: failures and messages of hooks. */
  notices: readonly string[];
}
