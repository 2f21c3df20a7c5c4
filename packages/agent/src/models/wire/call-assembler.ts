import { boundsProblem, parseArguments, uniqueId } from '@lathe/core/host';
import { isObject, parseJson } from '../json.js';
import type { FinishReason, ModelRequest, ReceivedCall } from '../model.js';
import { type ArgumentValue, ArgumentValues } from './argument-values.js';

/** What one chunk says about a call. Servers omit, repeat and reorder any of it. */
export interface CallFragment {
  index?: number | undefined;
  id?: string | undefined;
  name?: string | undefined;
  /** The next piece of the arguments, or all of them as an object. */
  args?: string | object | undefined;
  /** All of the arguments as text, instead of the pieces so far. */
  allArgs?: string | undefined;
  /** Values inside the arguments, each at its JSON Path. Texts at the same path are joined. */
  values?: readonly ArgumentValue[] | undefined;
  thoughtSignature?: string | undefined;
  /** This provider never reuses an id, so the same call under the same id is a repetition. */
  hasUniqueId?: boolean;
  /** No other chunk belongs to this call. */
  isWhole?: boolean;
  /** More chunks must follow. A call that stays open never runs. */
  isOpen?: boolean;
}

export interface FinishedCall {
  call: ReceivedCall;
  /** Why it must not run. */
  problem?: string;
  thoughtSignature?: string | undefined;
}

interface OpenCall {
  index: number | undefined;
  id: string;
  names: string[];
  text: string[];
  size: number;
  whole?: object;
  values?: ArgumentValues;
  isOpen: boolean;
  hasUniqueId: boolean;
  thoughtSignature?: string | undefined;
}

/** More than any tool takes, and little enough to parse quickly. */
const maxArgumentCharacters = 4 * 1024 * 1024;
const maxCalls = 1_000;

/** Assembles calls from the fragments of a stream. A call that is not certain is rejected with a reason. */
export class CallAssembler {
  readonly #declared: ReadonlySet<string | undefined>;
  readonly #calls: OpenCall[] = [];
  readonly #ignored = new Set<number>();

  constructor({ tools }: Pick<ModelRequest, 'tools'>) {
    this.#declared = new Set(tools.map(({ name }) => name));
  }

  ignore(index: number | undefined): void {
    if (index !== undefined) this.#ignored.add(index);
  }

  /** Returns the position of the call that the fragment belongs to, or undefined when it is ignored. */
  add(fragment: CallFragment): number | undefined {
    if (fragment.index !== undefined && this.#ignored.has(fragment.index)) return undefined;
    const found = this.#find(fragment);
    const call = found ?? newCall(fragment);
    if (!found) this.#calls.push(call);
    if (fragment.id) call.id = fragment.id;
    if (fragment.name) call.names.push(fragment.name);
    if (fragment.thoughtSignature) call.thoughtSignature = fragment.thoughtSignature;
    if (typeof fragment.args === 'object') call.whole = fragment.args;
    else if (fragment.args) appendText(call, fragment.args);
    if (fragment.allArgs !== undefined)
      Object.assign(call, { text: [fragment.allArgs], size: fragment.allArgs.length });
    if (fragment.values) (call.values ??= new ArgumentValues()).add(fragment.values);
    call.isOpen = fragment.isOpen ?? false;
    return this.#calls.indexOf(call);
  }

  /** By position; undefined for a call that arrived twice. */
  finish(reason: FinishReason): (FinishedCall | undefined)[] {
    const ids = new Set<string>();
    const seen = new Set<string>();
    const lastIndex = this.#calls.length - 1;
    return this.#calls.map((open, position) => {
      const isCut = reason === 'length' && position === lastIndex;
      const { name, problem: nameProblem } = resolveName(open.names, this.#declared);
      const { args, problem: argsProblem } = isCut ? { args: {}, problem: cutOff } : readArguments(open, reason);
      const identity = JSON.stringify([open.id, name, args]);
      if (open.hasUniqueId && open.id !== '' && seen.has(identity)) return undefined;
      seen.add(identity);
      const problem = reason === 'filter' ? filtered : (nameProblem ?? argsProblem);
      const call = { id: uniqueId(open.id.slice(0, 200), ids), name, args };
      return { call, thoughtSignature: open.thoughtSignature, ...(problem !== undefined && { problem }) };
    });
  }

  #find(fragment: CallFragment): OpenCall | undefined {
    const { index, id, name, isWhole } = fragment;
    if (this.#calls.length >= maxCalls) return this.#calls.at(-1);
    if (isWhole) return undefined;
    if (index !== undefined) return this.#findByIndex(index, id);
    const known = id ? this.#calls.findLast((call) => call.id === id) : name ? undefined : this.#calls.at(-1);
    const isClosed = fragment.isOpen !== undefined && known?.isOpen === false;
    return known && (isClosed || (id && beginsAnother(fragment, known))) ? undefined : known;
  }

  /** Some servers give all calls the index 0; a different id under the same index is a different call. */
  #findByIndex(index: number, id: string | undefined): OpenCall | undefined {
    const known = this.#calls.findLast((call) => call.index === index);
    const isOther = known && id && known.id && known.id !== id;
    return isOther ? this.#calls.find((call) => call.id === id) : known;
  }
}

function newCall({ index, hasUniqueId = false }: CallFragment): OpenCall {
  return { index, id: '', hasUniqueId, names: [], text: [], size: 0, isOpen: false };
}

/** A second call with the same id starts with a name and a brace after the first has closed its brace. */
function beginsAnother({ name, args }: CallFragment, known: OpenCall): boolean {
  const isClosed = known.text.at(-1)?.endsWith('}') ?? false;
  return isClosed && Boolean(name) && typeof args === 'string' && args.startsWith('{');
}

const cutOff = 'The call was cut off by the output limit. Nothing was run. Send it again in smaller pieces.';
const filtered = 'The answer was stopped by a filter. Nothing was run.';

function appendText(call: OpenCall, text: string): void {
  call.size += text.length;
  if (call.size > maxArgumentCharacters) return;
  // Some servers repeat the whole call in a last chunk.
  if (text.length * 2 === call.size && text.startsWith('{') && call.text.join('') === text) return;
  call.text.push(text);
}

const incomplete = 'The call did not arrive completely. Nothing was run.';

function readArguments(open: OpenCall, reason: FinishReason): { args: Record<string, unknown>; problem?: string } {
  const text = open.text.join('').trim();
  // Without a proper end, arguments that are missing may have been lost.
  const isLost = text === '' && !open.whole && !open.values && (reason === 'length' || reason === 'other');
  if (open.isOpen || isLost) return { args: {}, problem: incomplete };
  if (open.values) return open.values.finish();
  if (open.whole) {
    const isRepeated = text === '' || JSON.stringify(parseJson(text)) === JSON.stringify(open.whole);
    const problem = 'The arguments arrived twice, and differ. Nothing was run.';
    return isRepeated ? checkArguments(open.whole) : { args: {}, problem };
  }
  if (open.size > maxArgumentCharacters)
    return { args: {}, problem: `The arguments are too long (${open.size} characters). Nothing was run.` };
  if (text === '') return { args: {} };
  const parsed = parseArguments(text);
  if (!parsed.ok) return { args: {}, problem: `${parsed.problem} Nothing was run.` };
  return checkArguments(parsed.value);
}

function checkArguments(value: unknown): { args: Record<string, unknown>; problem?: string } {
  const bounds = boundsProblem(value);
  if (bounds !== null)
    return { args: {}, problem: `The arguments cannot be used: the value ${bounds}. Nothing was run.` };
  if (!isObject(value)) return { args: {}, problem: 'The arguments are not a JSON object. Nothing was run.' };
  return { args: { ...value } };
}

/**
 * A name may arrive whole, again with every chunk, or in pieces. The declared tools decide which; an uncertain name is
 * never run.
 */
function resolveName(names: string[], declared: ReadonlySet<string | undefined>): { name: string; problem?: string } {
  const joined = names.join('');
  const [first = ''] = names;
  if (names.length > 1 && names.every((name) => name === first)) return { name: first };
  if (names.length === 1 || declared.has(joined)) return { name: joined };
  if (joined === '') return { name: 'unnamed_call', problem: 'The call has no name. Nothing was run.' };
  return {
    name: joined.slice(0, 64),
    problem: `The name of the tool arrived in pieces that match no tool: ${joined.slice(0, 200)}`,
  };
}
