/** What a person was shown, so that exactly this is done. Text is only kept of files small enough for an editor. */
export interface Proposal {
  /** The hash of the file as it was shown; `null` when there was none. */
  base: string | null;
  oldText?: string;
  newText?: string;
}

/** What people were shown for calls that have not run yet. A call is known by its parameters object. */
export class Proposals {
  readonly #shown = new WeakMap<object, Proposal>();
  readonly #rewritten = new WeakMap<object, string>();

  show(call: object, proposal: Proposal): void {
    this.#shown.set(call, proposal);
  }

  shown(call: object): Proposal | undefined {
    return this.#shown.get(call);
  }

  /** A person replaced the proposed text; `call` is what came of it. */
  rewrite(call: object, proposed: string): void {
    this.#rewritten.set(call, proposed);
  }

  /** What the model had proposed, when a person changed it. */
  rewritten(call: object): string | undefined {
    return this.#rewritten.get(call);
  }
}
