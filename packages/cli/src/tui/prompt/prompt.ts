import type { Completer } from '../../completion/completer.js';
import type { Completion } from '../../completion/completions.js';
import { searchHistory } from '../../completion/search-history.js';
import { pastedText } from '../../screen/key-stream.js';
import type { Key } from '../../screen/keys.js';
import { type EditorState, edit, emptyEditor, isOnFirstLine, isOnLastLine } from './editor.js';
import { LongPastes } from './long-pastes.js';
import { editOf } from './prompt-keys.js';

/** Input as shown in the prompt, and with every paste in full. */
export interface Input {
  shown: string;
  text: string;
}

/** What the prompt uses to handle a key. */
export interface PromptContext {
  /** Earlier inputs, oldest first. */
  history: readonly string[];
  isBusy: boolean;
  onSubmit: (input: Input) => void;
  /** Text that Ctrl+C removed, so that it can be brought back. */
  onDiscard: (text: string) => void;
  /** Esc, unless it closes the list of candidates. */
  onEscape: () => void;
  onQuit: () => void;
}

/** The typed text, its candidates, and the effect of each key on them. */
export class Prompt {
  readonly #completer: Completer;
  readonly #pastes = new LongPastes();
  #state = emptyEditor;
  /** The candidate selected with the arrow keys. */
  #moved: number | undefined;
  /** Matching earlier inputs during a history search. */
  #search: Completion | undefined;
  /** The position in the history and the text typed before it was opened. */
  #recalled = { back: 0, draft: emptyEditor };

  constructor(completer: Completer) {
    this.#completer = completer;
  }

  get state(): EditorState {
    return this.#state;
  }

  get isSearching(): boolean {
    return this.#search !== undefined;
  }

  /** The candidates to show. */
  get list(): Completion | undefined {
    return this.#search ?? this.#completer.current;
  }

  /** The candidate that Enter accepts; `undefined` if Enter sends. */
  get selected(): number | undefined {
    if (!this.list || this.list.onEnter === 'send') return this.#moved;
    return Math.min(this.#moved ?? 0, this.list.candidates.length - 1);
  }

  press(input: string, key: Key, context: PromptContext): void {
    const pasted = pastedText(input);
    if (pasted !== undefined) this.#set(edit(this.#state, { type: 'insert', text: this.#pastes.add(pasted) }), context);
    else if (!this.#pressControl(input, key, context) && !this.#pressInList(key, context))
      this.#pressInText(input, key, context);
  }

  /** The text with every paste in full, for an editor. */
  get wholeText(): string {
    return this.#pastes.expand(this.#state.text);
  }

  /** Replaces the text, for example by what an editor made of it. */
  replace(text: string, context: PromptContext): void {
    this.#set({ text, cursor: text.length }, context);
  }

  /** Offers a text, for example one to change and send again. */
  draft(text: string): void {
    if (this.#state.text === '') this.#state = { text, cursor: text.length };
  }

  /** Handles control keys; true if it was one. */
  #pressControl(input: string, key: Key, context: PromptContext): boolean {
    const isEmpty = this.#state.text === '';
    if (!key.ctrl) return false;
    if (input === 'c') {
      if (!context.isBusy && !isEmpty) {
        context.onDiscard(this.#state.text);
        this.#recalled = { back: 0, draft: emptyEditor };
        this.#set(emptyEditor, context);
      }
    } else if (input === 'd' && isEmpty) context.onQuit();
    else if (input === 'r') {
      this.#moved = undefined;
      this.#search = this.#search ? undefined : searchHistory(context.history, this.#state.text);
    } else return false;
    return true;
  }

  /** Handles keys for the list of candidates; true if it was one. */
  #pressInList(key: Key, context: PromptContext): boolean {
    const list = this.#search ?? this.#completer.fresh;
    if (!list) return false;
    if (key.upArrow || key.downArrow) this.#move(key.upArrow ? -1 : 1, list.candidates.length);
    else if (key.tab && !key.shift) this.#accept(list, this.selected ?? 0, context);
    else if (key.escape) this.#closeList();
    else if (isEnter(key) && this.selected !== undefined && list.candidates.length > 0) {
      this.#accept(list, this.selected, context);
      if (list.onEnter === 'accept and send') this.#send(context);
    } else return false;
    return true;
  }

  #move(step: 1 | -1, count: number): void {
    const from = this.selected ?? (step === 1 ? -1 : count);
    this.#moved = (from + step + count) % count;
  }

  #closeList(): void {
    if (!this.#search) this.#completer.dismiss();
    this.#search = undefined;
  }

  #pressInText(input: string, key: Key, context: PromptContext): void {
    // Two that arrive together are one key with Meta.
    if (key.escape && key.meta) context.onEscape();
    if (key.escape) return context.onEscape();
    if (isEnter(key)) return this.#send(context);
    if (key.upArrow && isOnFirstLine(this.#state)) return this.#recall(1, context);
    if (key.downArrow && isOnLastLine(this.#state)) return this.#recall(-1, context);
    const change = editOf(input, key);
    return change && this.#set(edit(this.#state, change), context);
  }

  #set(state: EditorState, { history }: PromptContext): void {
    this.#state = state;
    this.#moved = undefined;
    if (this.#search) this.#search = searchHistory(history, state.text);
    else this.#completer.update(state.text, state.cursor);
  }

  #accept({ start, candidates }: Completion, index: number, context: PromptContext): void {
    const { text, cursor } = this.#state;
    const insert = candidates[index]?.insert ?? '';
    const end = this.#search ? text.length : cursor;
    this.#search = undefined;
    this.#set({ text: text.slice(0, start) + insert + text.slice(end), cursor: start + insert.length }, context);
  }

  #recall(step: 1 | -1, context: PromptContext): void {
    const { back, draft } = this.#recalled;
    const next = back + step;
    if (next < 0 || next > context.history.length) return;
    this.#recalled = { back: next, draft: back === 0 ? this.#state : draft };
    const text = context.history[context.history.length - next] ?? '';
    this.#set(next === 0 ? draft : { text, cursor: text.length }, context);
    // No completion while the person browses the history.
    this.#completer.dismiss();
  }

  #send(context: PromptContext): void {
    const { text } = this.#state;
    if (text.endsWith('\\')) {
      const shorter = edit({ text, cursor: text.length }, { type: 'backspace' });
      return this.#set(edit(shorter, { type: 'insert', text: '\n' }), context);
    }
    if (text.trim() === '') return undefined;
    this.#recalled = { back: 0, draft: emptyEditor };
    this.#search = undefined;
    this.#set(emptyEditor, context);
    return context.onSubmit({ shown: text, text: this.#pastes.expand(text) });
  }
}

/** Alt+Enter and Shift+Enter insert a new line. */
function isEnter(key: Key): boolean {
  return key.return && !key.meta && !key.shift;
}
