import { parseArguments } from '@lathe/core/host';
import { isObject } from '../json.js';
import type { ModelEvent, ModelRequest } from '../model.js';
import { Answer } from './answer.js';
import type { CallFragment } from './call-assembler.js';

const opening = '<think>';
const closing = '</think>';

/** Beginnings of an answer that may turn out to be a call. */
const callBeginnings = ['<tool_call>', '<function=', '```json', '```tool_call', '```tool_code'];

/**
 * The answer of a server that passes on what a local model writes: reasoning arrives between `<think>` tags, and calls
 * may arrive as text. Text that could become a call is held back until the answer is complete.
 */
export class LocalAnswer extends Answer {
  readonly #declared: ReadonlySet<string>;
  readonly #mayHoldCalls: boolean;
  #state: 'beginning' | 'thinking' | 'held' | 'plain' = 'beginning';
  #buffer = '';
  #hasCalls = false;

  constructor(request: ModelRequest, provider: string) {
    super(request, provider);
    this.#declared = new Set(request.tools.flatMap(({ name }) => name ?? []));
    this.#mayHoldCalls = this.#declared.size > 0 && request.responseSchema === undefined;
  }

  override text(text: string): void {
    if (this.#state === 'plain') return super.text(text);
    this.#buffer += text;
    if (this.#state === 'beginning') this.#lookAtBeginning();
    if (this.#state === 'thinking') this.#think();
  }

  override call(fragment: Parameters<Answer['call']>[0]): void {
    this.#hasCalls = true;
    super.call(fragment);
  }

  override *finish(): Generator<ModelEvent> {
    const mayBeCalls = this.#state === 'held' && this.reason === 'stop' && !this.#hasCalls;
    const calls = mayBeCalls ? readTextCalls(this.#buffer, this.#declared) : undefined;
    if (this.#state === 'thinking') super.reasoning(this.#buffer);
    else if (!calls) super.text(this.#buffer);
    this.#buffer = '';
    for (const call of calls ?? []) super.call(call);
    yield* this.takeDeltas();
    yield* super.finish();
  }

  #lookAtBeginning(): void {
    const text = this.#buffer.trimStart();
    if (text.startsWith(opening)) {
      this.#state = 'thinking';
      this.#buffer = text.slice(opening.length);
      return;
    }
    const beginnings = this.#mayHoldCalls ? [opening, ...callBeginnings] : [opening];
    if (beginnings.some((beginning) => beginning.startsWith(text))) return;
    const isJson = this.#mayHoldCalls && /^[[{]/.test(text);
    if (isJson && text.length < 30) return;
    this.#state = this.#mayHoldCalls && looksLikeCall(text) ? 'held' : 'plain';
    if (this.#state === 'held') return;
    super.text(this.#buffer);
    this.#buffer = '';
  }

  #think(): void {
    const end = this.#buffer.indexOf(closing);
    if (end >= 0) {
      super.reasoning(this.#buffer.slice(0, end));
      this.#buffer = this.#buffer.slice(end + closing.length).trimStart();
      this.#state = 'beginning';
      return this.#lookAtBeginning();
    }
    // The closing tag may be split between two chunks.
    const safe = Math.max(0, this.#buffer.length - closing.length);
    super.reasoning(this.#buffer.slice(0, safe));
    this.#buffer = this.#buffer.slice(safe);
  }
}

function looksLikeCall(text: string): boolean {
  const isJsonCall = /^\[?\s*\{\s*"(?:name|type|function|arguments|parameters)"/.test(text);
  return isJsonCall || callBeginnings.some((beginning) => text.startsWith(beginning));
}

/** A call that a model wrote as text instead of making it. */
type WrittenCall = CallFragment & { name: string; args: object };

/**
 * Reads the calls of an answer that consists of nothing else, in one of the notations that small local models fall back
 * to. Returns undefined when there is any doubt: other words, an unknown tool, a missing end. Calls inside prose are
 * quotations and never run.
 */
function readTextCalls(text: string, declared: ReadonlySet<string>): WrittenCall[] | undefined {
  const trimmed = text.trim();
  const calls = readTagged(trimmed) ?? readFunctions(trimmed) ?? readJson(withoutFence(trimmed));
  if (!calls || calls.length === 0 || calls.length > 50) return undefined;
  return calls.every((call): call is WrittenCall => call !== undefined && declared.has(call.name)) ? calls : undefined;
}

type MaybeCalls = (WrittenCall | undefined)[] | undefined;

/** `<tool_call>…</tool_call>` as Hermes and Qwen write it, with JSON or with tagged parameters inside. */
function readTagged(text: string): MaybeCalls {
  const bodies = splitBlocks(text, '<tool_call>', '</tool_call>');
  return bodies?.flatMap((body) => readFunctions(body.trim()) ?? readJson(body.trim()) ?? [undefined]);
}

/** `<function=name><parameter=key>value</parameter></function>`, or JSON between the tags. */
function readFunctions(text: string): MaybeCalls {
  return splitBlocks(text, '<function=', '</function>')?.map((body) => {
    const [, name = '', inner = ''] = /^([\w.-]{1,64})>([\s\S]*)$/.exec(body) ?? [];
    if (name === '') return undefined;
    const args = inner.trim().startsWith('{') ? parseObject(inner) : readParameters(inner);
    return args && { name, args, isWhole: true };
  });
}

function readParameters(text: string): object | undefined {
  const entries = splitBlocks(text.trim(), '<parameter=', '</parameter>')?.map((body) => {
    const [, key = '', value = ''] = /^([\w.-]{1,64})>\n?([\s\S]*?)\n?$/.exec(body) ?? [];
    return [key, value] as const;
  });
  if (text.trim() === '') return {};
  const keys = entries?.map(([key]) => key) ?? [];
  const isClear = keys.length > 0 && !keys.includes('') && new Set(keys).size === keys.length;
  return isClear ? Object.fromEntries(entries ?? []) : undefined;
}

/** One object with a name and arguments, or a list of them. */
function readJson(text: string): MaybeCalls {
  const parsed = text.startsWith('{') || text.startsWith('[') ? parseArguments(text) : undefined;
  if (!parsed?.ok) return undefined;
  return (Array.isArray(parsed.value) ? parsed.value : [parsed.value]).map(callOf);
}

function callOf(value: unknown): WrittenCall | undefined {
  if (!isObject(value)) return undefined;
  const inner = value['type'] === 'function' && isObject(value['function']) ? value['function'] : value;
  const { name, arguments: given, parameters } = inner;
  const args = typeof given === 'string' ? parseObject(given) : (given ?? parameters);
  const isOnlyCall = Object.keys(inner).every((key) => ['name', 'arguments', 'parameters', 'type', 'id'].includes(key));
  if (typeof name !== 'string' || !isObject(args) || !isOnlyCall) return undefined;
  return { name, args, isWhole: true };
}

function parseObject(text: string): object | undefined {
  const parsed = parseArguments(text);
  return parsed.ok && isObject(parsed.value) ? parsed.value : undefined;
}

function withoutFence(text: string): string {
  return /^```(?:json|tool_call|tool_code)?[ \t]*\n([\s\S]*)\n```$/.exec(text)?.[1]?.trim() ?? text;
}

/** The texts between each pair of tags, if there is only white space besides and no tag is inside another. */
function splitBlocks(text: string, open: string, close: string): string[] | undefined {
  const bodies: string[] = [];
  let at = 0;
  while (at < text.length) {
    if (!text.startsWith(open, at)) return undefined;
    const end = text.indexOf(close, at + open.length);
    if (end < 0) return undefined;
    const body = text.slice(at + open.length, end);
    if (body.includes(open)) return undefined;
    bodies.push(body);
    at = end + close.length;
    while (/\s/.test(text[at] ?? '')) at += 1;
  }
  return bodies.length > 0 ? bodies : undefined;
}
