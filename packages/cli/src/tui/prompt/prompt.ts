import type { Completer } from '../../completion/completer.js';
import type { Completion } from '../../completion/completions.js';
import { searchHistory } from '../../completion/search-history.js';
import { pastedText } from '../../screen/key-stream.js';
import type { Key } from '../../screen/keys.js';
import { type EditorState, edit, emptyEditor, isOnFirstLine, isOnLastLine } from './editor.js';
import { Pastes } from './long-pastes.js';
import { editOf } from './prompt-keys.js';

/** What a person sends: as the prompt showed it, and with every paste in full. */
export interface Input {
  shown: string;
  text: string;
}

/** What the prompt needs to know and may do when a key is pressed. */
export interface PromptWorld {
  /** Earlier inputs, the oldest first. */
  history: readonly string[];
  isBusy: boolean;
  onSubmit: (input: Input) => void;
  /** Esc that is not about the list of candidates. */
  onEscape: () => void;
  onLeave: () => void;
}

/** The text being typed, the candidates for it, and what each key does to them. */
export class Prompt {
  readonly #completer: Completer;
  readonly #pastes = new Pastes();
  #state = emptyEditor;
  /** The candidate chosen with the arrows. */
  #moved: number | undefined;
  /** Earlier inputs that fit, while they are searched. */
  #search: Completion | undefined;
  /** How far back in the history the text is from, and what was typed before. */
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

  /** The candidate that Enter takes; `undefined` when it sends. */
  get chosen(): number | undefined {
    if (!this.list || this.list.onEnter === 'send') return this.#moved;
    return Math.min(this.#moved ?? 0, this.list.candidates.length - 1);
  }

  press(input: string, key: Key, world: PromptWorld): void {
    const pasted = pastedText(input);
    if (pasted !== undefined) this.#set(edit(this.#state, { type: 'insert', text: this.#pastes.keep(pasted) }), world);
    else if (!this.#pressControl(input, key, world) && !this.#pressInList(key, world))
      this.#pressInText(input, key, world);
  }

  /** Keys that mean the same wherever one is; true when the key was one. */
  #pressControl(input: string, key: Key, world: PromptWorld): boolean {
    const isEmpty = this.#state.text === '';
    if (!key.ctrl) return false;
    if (input === 'c') {
      if (!world.isBusy && !isEmpty) this.#set(emptyEditor, world);
    } else if (input === 'd' && isEmpty) world.onLeave();
    else if (input === 'r') {
      this.#moved = undefined;
      this.#search = this.#search ? undefined : searchHistory(world.history, this.#state.text);
    } else return false;
    return true;
  }

  /** Keys of the list of candidates; true when the key was one. */
  #pressInList(key: Key, world: PromptWorld): boolean {
    const list = this.#search ?? this.#completer.fresh;
    if (!list) return false;
    if (key.upArrow || key.downArrow) this.#choose(key.upArrow ? -1 : 1, list.candidates.length);
    else if (key.tab && !key.shift) this.#take(list, this.chosen ?? 0, world);
    else if (key.escape) this.#closeList();
    else if (isEnter(key) && this.chosen !== undefined && list.candidates.length > 0) {
      this.#take(list, this.chosen, world);
      if (list.onEnter === 'take and send') this.#send(world);
    } else return false;
    return true;
  }

  #choose(step: 1 | -1, count: number): void {
    const from = this.chosen ?? (step === 1 ? -1 : count);
    this.#moved = (from + step + count) % count;
  }

  #closeList(): void {
    if (!this.#search) this.#completer.dismiss();
    this.#search = undefined;
  }

  #pressInText(input: string, key: Key, world: PromptWorld): void {
    if (key.escape) return world.onEscape();
    if (isEnter(key)) return this.#send(world);
    if (key.upArrow && isOnFirstLine(this.#state)) return this.#recall(1, world);
    if (key.downArrow && isOnLastLine(this.#state)) return this.#recall(-1, world);
    const change = editOf(input, key);
    return change && this.#set(edit(this.#state, change), world);
  }

  #set(state: EditorState, { history }: PromptWorld): void {
    this.#state = state;
    this.#moved = undefined;
    if (this.#search) this.#search = searchHistory(history, state.text);
    else this.#completer.ask(state.text, state.cursor);
  }

  #take({ start, candidates }: Completion, index: number, world: PromptWorld): void {
    const { text, cursor } = this.#state;
    const insert = candidates[index]?.insert ?? '';
    const end = this.#search ? text.length : cursor;
    this.#search = undefined;
    this.#set({ text: text.slice(0, start) + insert + text.slice(end), cursor: start + insert.length }, world);
  }

  #recall(step: 1 | -1, world: PromptWorld): void {
    const { back, draft } = this.#recalled;
    const next = back + step;
    if (next < 0 || next > world.history.length) return;
    this.#recalled = { back: next, draft: back === 0 ? this.#state : draft };
    const text = world.history[world.history.length - next] ?? '';
    this.#set(next === 0 ? draft : { text, cursor: text.length }, world);
    // Who leafs through the history is not looking for a completion.
    this.#completer.dismiss();
  }

  #send(world: PromptWorld): void {
    const { text } = this.#state;
    if (text.endsWith('\\')) {
      const shorter = edit({ text, cursor: text.length }, { type: 'backspace' });
      return this.#set(edit(shorter, { type: 'insert', text: '\n' }), world);
    }
    if (text.trim() === '') return undefined;
    this.#recalled = { back: 0, draft: emptyEditor };
    this.#search = undefined;
    this.#set(emptyEditor, world);
    return world.onSubmit({ shown: text, text: this.#pastes.expand(text) });
  }
}

/** With Alt or Shift it begins a new line. */
function isEnter(key: Key): boolean {
  return key.return && !key.meta && !key.shift;
}
