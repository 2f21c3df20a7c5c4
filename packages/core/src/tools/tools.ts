import type { Confirmation } from '../contract/confirmation.js';
import { type PartListUnion, textOf } from '../contract/content.js';
import type { Display } from '../contract/display.js';
import type { ToolErrorType } from '../contract/errors.js';
import type { Target } from '../contract/target.js';
import { directCall, type ToolCall } from '../contract/tool-call.js';
import { describeMismatch, type JsonSchema } from '../text/schema/json-schema.js';
import type { ParameterAliases } from '../text/schema/repair-params.js';
import { isStandard, type ParamsOf, parseWith, type StandardSchema, toJsonSchema } from './standard-schema.js';

const toolKinds = ['read', 'search', 'edit', 'execute', 'fetch', 'think', 'agent', 'other'] as const;
/** What a tool mainly does; decides icons, grouping and the default of `isReadOnly`. */
export type ToolKind = (typeof toolKinds)[number];

/** One result, two readers: the model gets `llmContent`, a person sees `returnDisplay`. */
export interface ToolResult {
  llmContent: PartListUnion;
  returnDisplay: Display;
  /** Present when the call failed although the tool has something to show, such as the output of a command. */
  error?: { type: ToolErrorType; message: string };
}

/** How a tool introduces itself. */
export interface ToolIdentity {
  /** Unique; what the model calls. */
  readonly name: string;
  /** For people; made from the name when left out. */
  readonly displayName?: string;
  /** For the model. */
  readonly description: string;
  /** `other` when left out, which runs alone and without a question; say `edit` or `execute` for what should ask. */
  readonly kind?: ToolKind;
  /** JSON Schema, or a schema of a library such as zod that can give it. */
  readonly parameterSchema: JsonSchema | StandardSchema;
  /** Other names under which models send a parameter, by its proper name: `{ path: ['file_path'] }`. */
  readonly parameterAliases?: ParameterAliases;
  /** The scheduler ends a call after this long. */
  readonly timeoutMs?: number;
  /** Characters of text the model gets; the rest is spilled to a file that the result names. */
  readonly maxOutputChars?: number;
}

/** A tool: how it introduces itself, what it asks, and what it does. Extend `BaseTool` or use `defineTool`. */
export interface Tool<in P> extends Required<ToolIdentity> {
  readonly parameterSchema: JsonSchema;
  /** `null` when `params` fit, otherwise a sentence the model can act on. */
  validateToolParams(params: unknown): string | null;
  /** What this call is about to do, for a person, before it runs. */
  getDescription(params: P): string;
  /** True when the call changes nothing: it may then run beside others, and in plan mode. */
  isReadOnly(params: P, call?: ToolCall): boolean | Promise<boolean>;
  /** The files, commands and hosts the call touches: what permission rules are matched against. */
  getTargets(params: P, call?: ToolCall): Target[] | Promise<Target[]>;
  /** `false`, or the details a person must approve. */
  shouldConfirmExecute(params: P, signal: AbortSignal, call?: ToolCall): Promise<Confirmation | false>;
  /** The parameters after a person changed what was proposed; they are validated and shown again. */
  applyChange(params: P, change: Change, call?: ToolCall): unknown;
  /**
   * Does it. A text is a result that the model and people see alike. The scheduler always passes `call`; code that runs a
   * tool directly may leave it out.
   */
  execute(params: P, signal: AbortSignal, call?: ToolCall): Promise<ToolResult | string>;
}

/** What a person may change in a confirmation: the proposed text, or one of the offered choices. */
export type Change = { type: 'content'; content: string } | { type: 'choice'; choice: string };

/** A tool out of the registry. Unchecked parameters do not compile: nothing is assignable to `never`. */
export type AnyTool = Tool<never>;

const defaultTimeoutMs = 120_000;
const defaultMaxOutputChars = 25_000;

/** The base of every tool: five fields and `execute` are enough, the rest has safe defaults. */
export abstract class BaseTool<P> implements Tool<P> {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly kind: ToolKind;
  readonly parameterSchema: JsonSchema;
  readonly parameterAliases: ParameterAliases;
  readonly timeoutMs: number;
  readonly maxOutputChars: number;
  readonly #standard: StandardSchema | undefined;

  constructor(identity: ToolIdentity) {
    assertComplete(identity);
    const { parameterSchema } = identity;
    this.#standard = isStandard(parameterSchema) ? parameterSchema : undefined;
    this.name = identity.name;
    this.displayName = identity.displayName ?? titleOf(identity.name);
    this.description = identity.description;
    this.kind = identity.kind ?? 'other';
    this.parameterSchema = isStandard(parameterSchema) ? toJsonSchema(parameterSchema) : parameterSchema;
    this.parameterAliases = identity.parameterAliases ?? {};
    this.timeoutMs = identity.timeoutMs ?? defaultTimeoutMs;
    this.maxOutputChars = identity.maxOutputChars ?? defaultMaxOutputChars;
  }

  abstract execute(params: P, signal: AbortSignal, call?: ToolCall): Promise<ToolResult | string>;

  validateToolParams(params: unknown): string | null {
    const mismatch = describeMismatch(this.parameterSchema, params);
    if (mismatch !== null) return mismatch;
    const parsed = this.#standard && parseWith(this.#standard, params);
    if (parsed && 'problem' in parsed) return parsed.problem;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the checks just above have passed
    return this.validateToolParamValues(params as P);
  }

  /** The parameters as the library of the schema reads them, defaults filled in. For parameters that were validated. */
  protected parsedParams(params: P): P {
    const parsed = this.#standard && parseWith(this.#standard, params);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a schema accepts has its type
    return parsed && 'value' in parsed ? (parsed.value as P) : params;
  }

  /** Rules that JSON Schema cannot state. Runs only on parameters that fit the schema. */
  protected validateToolParamValues(_params: P): string | null {
    return null;
  }

  getDescription(_params: P): string {
    return this.displayName;
  }

  isReadOnly(_params: P, _call?: ToolCall): boolean | Promise<boolean> {
    return this.kind === 'read' || this.kind === 'search' || this.kind === 'fetch';
  }

  getTargets(_params: P, _call?: ToolCall): Target[] | Promise<Target[]> {
    if (this.kind !== 'fetch') return [];
    // What it sends and brings in is not known, so it may be anything.
    const target = { type: 'command', words: [this.name], asks: false, hidden: true } as const;
    return [{ ...target, sends: { to: 'the network' }, brings: { what: `a result of ${this.name}` } }];
  }

  /** A tool that edits or executes asks, unless its author decides otherwise. */
  async shouldConfirmExecute(params: P, _signal: AbortSignal, _call?: ToolCall): Promise<Confirmation | false> {
    if (this.kind !== 'edit' && this.kind !== 'execute') return false;
    return { type: 'info', title: `Run ${this.displayName}?`, prompt: this.getDescription(params), rules: [this.name] };
  }

  applyChange(_params: P, _change: Change, _call?: ToolCall): unknown {
    throw new Error(`${this.name} offers no change in its confirmation`);
  }
}

/** What an author writes for `defineTool`. The type of `params` is inferred from the schema. */
export interface ToolSpec<S> extends Omit<ToolIdentity, 'parameterSchema'> {
  parameterSchema: S;
  /** A text is a result that the model and people see alike. */
  execute(params: ParamsOf<S>, signal: AbortSignal, call: ToolCall): Awaitable<ToolResult | string>;
  validate?(params: ParamsOf<S>): string | null;
  describe?(params: ParamsOf<S>): string;
  /** The files, commands and hosts the call touches, by their real paths, so that permission rules apply to it. */
  targets?(params: ParamsOf<S>): Target[] | Promise<Target[]>;
  /** Ask a person first. Left out, a tool asks when its kind is `edit` or `execute`. */
  confirm?(params: ParamsOf<S>, signal: AbortSignal, call: ToolCall): Promise<Confirmation | false>;
}

type Awaitable<T> = T | Promise<T>;

/** A tool from an object: sugar for a class that extends `BaseTool`. */
export function defineTool<const S extends JsonSchema | StandardSchema>(spec: ToolSpec<S>): DefinedTool<S> {
  return new DefinedTool(spec);
}

/** What `defineTool` makes. Its type is public so that a package can export a tool with its declaration. */
export class DefinedTool<S extends JsonSchema | StandardSchema> extends BaseTool<ParamsOf<S>> {
  readonly #spec: ToolSpec<S>;

  constructor(spec: ToolSpec<S>) {
    super(spec);
    if (typeof spec.execute !== 'function') throw new TypeError(`The tool "${spec.name}" has no execute function`);
    this.#spec = spec;
  }

  protected override validateToolParamValues(params: ParamsOf<S>): string | null {
    return this.#spec.validate?.(this.parsedParams(params)) ?? null;
  }

  override getDescription(params: ParamsOf<S>): string {
    return this.#spec.describe?.(this.parsedParams(params)) ?? this.displayName;
  }

  override async shouldConfirmExecute(
    params: ParamsOf<S>,
    signal: AbortSignal,
    call = directCall(),
  ): Promise<Confirmation | false> {
    return this.#spec.confirm?.(this.parsedParams(params), signal, call) ?? super.shouldConfirmExecute(params, signal);
  }

  override getTargets(params: ParamsOf<S>): Target[] | Promise<Target[]> {
    return this.#spec.targets?.(this.parsedParams(params)) ?? super.getTargets(params);
  }

  override async execute(params: ParamsOf<S>, signal: AbortSignal, call = directCall()): Promise<ToolResult> {
    return toResult(await this.#spec.execute(this.parsedParams(params), signal, call));
  }
}

/** A text stands for a result in which the model and people see the same. Throws when a tool returned something else. */
export function toResult(result: ToolResult | string): ToolResult {
  if (typeof result === 'string') return { llmContent: result, returnDisplay: result };
  const mistake = mistakeIn(result);
  if (mistake !== undefined)
    throw new TypeError(`it returned ${mistake} instead of a text or { llmContent, returnDisplay }`);
  // Only TypeScript makes authors say what people see.
  const { returnDisplay }: Partial<ToolResult> = result;
  return { ...result, returnDisplay: returnDisplay ?? textOf(result.llmContent) };
}

const isContent = (part: unknown) =>
  typeof part === 'string' || (typeof part === 'object' && part !== null && !Array.isArray(part));

/** What JavaScript lets an author return by mistake. */
function mistakeIn(result: unknown): string | undefined {
  if (result === null || Array.isArray(result)) return result === null ? 'null' : 'a list';
  if (typeof result !== 'object') return typeof result;
  if (!('llmContent' in result)) return 'an object without llmContent';
  const { llmContent } = result;
  const isFit = Array.isArray(llmContent) ? llmContent.every(isContent) : isContent(llmContent);
  return isFit ? undefined : 'llmContent that is neither text, nor a part, nor a list of them';
}

/** Tool files run without a type check, so a mistake is named here. A misspelled kind could let a call run unasked. */
function assertComplete({ name, description, parameterSchema, kind = 'other' }: Partial<ToolIdentity>): void {
  if (typeof name !== 'string') throw new TypeError('A tool needs a name');
  if (typeof description !== 'string') throw new TypeError(`The tool "${name}" needs a description`);
  const isSchema =
    (typeof parameterSchema === 'object' && parameterSchema !== null) || typeof parameterSchema === 'function';
  if (!isSchema) throw new TypeError(`The tool "${name}" needs a parameterSchema, such as { type: 'object' }`);
  if (!toolKinds.includes(kind))
    throw new TypeError(`The tool "${name}" has the kind "${kind}"; it must be one of ${toolKinds.join(', ')}`);
}

/** `word_count` becomes `Word Count`. */
function titleOf(name: string): string {
  return name.replaceAll(
    /(?:^|[_-]+)([a-z0-9])/g,
    (_, letter: string, at: number) => (at === 0 ? '' : ' ') + letter.toUpperCase(),
  );
}
