import type { FunctionDeclaration } from '../contract/content.js';
import { sanitizeDescription } from '../text/sanitize-definition.js';
import { schemaProblem } from '../text/schema/schema-check.js';
import type { AnyTool } from './tools.js';

/** Anything that finds tools while the program runs: a discovery command, an MCP server. */
export interface ToolSource {
  /** Shown to people and used to tell sources apart. */
  readonly label: string;
  discover(signal: AbortSignal): Promise<AnyTool[]>;
  /** The tools that it had in an earlier session, if it can tell without starting anything. */
  known?(): Promise<AnyTool[] | undefined>;
  /** What it was offered and left out itself at the last discovery. */
  rejections?(): Rejection[];
}

/** A tool with the source it came from. */
export interface RegisteredTool {
  tool: AnyTool;
  /** `built-in`, or the label of the source that found it. */
  source: string;
}

/** Why a tool that a source offered is not available. */
export interface Rejection {
  source: string;
  name: string;
  reason: string;
}

/** A source was not asked, because it could run code of a folder that nobody trusts. */
export class NotTrusted extends Error {
  override readonly name = 'NotTrusted';

  /** `what` did not happen, as a clause: `A discovery command of this folder was not run`. Models see it too. */
  constructor(what: string) {
    super(`${what}, because the folder is not trusted: run lathe trust.`);
  }
}

/** The source of the built-in tools. */
export const builtIn = 'built-in';

/** Names every provider accepts; anything else would make the model's next request fail as a whole. */
const validName = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** Every tool the model may call, by name. Built-ins come first and cannot be replaced by a source. */
export class ToolRegistry {
  readonly #builtIns = new Map<string, AnyTool>();
  readonly #found = new Map<string, RegisteredTool>();
  readonly #sources = new Map<string, ToolSource>();
  readonly #rejections = new Map<string, Rejection[]>();
  readonly #failures = new Map<string, unknown>();
  readonly #listeners = new Set<() => void>();

  /** Registers a tool for good and reserves its name. */
  registerTool(tool: AnyTool): void {
    const name = nameOf(tool);
    if (name === undefined) throw new TypeError(notATool(tool));
    if (!validName.test(name)) throw new Error(`"${name}" is not a valid tool name (${validName.source})`);
    if (this.#builtIns.has(name)) throw new Error(`A tool named "${name}" is already registered`);
    const mistake = memberProblem(tool);
    if (mistake !== null) throw new Error(`The tool "${name}" cannot be used: ${mistake}`);
    const problem = schemaProblem(tool.parameterSchema);
    if (problem !== null) throw new Error(`The parameter schema of "${name}" cannot be checked: ${problem}`);
    this.#builtIns.set(tool.name, tool);
    this.#found.delete(tool.name);
    this.#changed();
  }

  addSource(source: ToolSource): void {
    this.#sources.set(source.label, source);
  }

  /** Takes a source and its tools away. */
  removeSource(label: string): void {
    this.#sources.delete(label);
    this.#failures.delete(label);
    this.replaceTools(label, []);
  }

  /** Asks all sources side by side, or those named. A source that fails keeps the tools it had; the error is returned. */
  async discover(signal: AbortSignal, ...labels: string[]): Promise<Map<string, unknown>> {
    const failures = new Map<string, unknown>();
    const asked = [...this.#sources.values()].filter(({ label }) => labels.length === 0 || labels.includes(label));
    const discoverOne = async (source: ToolSource) => {
      try {
        this.replaceTools(source.label, await source.discover(signal));
        this.#failures.delete(source.label);
      } catch (error) {
        failures.set(source.label, error);
        this.#failures.set(source.label, error);
      }
    };
    await Promise.all(asked.map(discoverOne));
    return failures;
  }

  /** Registers the tools that sources had in an earlier session. Returns the labels of those sources. */
  async registerKnown(): Promise<string[]> {
    const labels: string[] = [];
    const registerOne = async (source: ToolSource) => {
      const tools = await source.known?.();
      if (!tools) return;
      this.replaceTools(source.label, tools);
      labels.push(source.label);
    };
    await Promise.all([...this.#sources.values()].map(registerOne));
    return labels;
  }

  /** What went wrong at the last discovery of each source, by its label. */
  failures(): ReadonlyMap<string, unknown> {
    return this.#failures;
  }

  /** Exchanges the tools of one source in one step, leaving all others alone. */
  replaceTools(source: string, tools: readonly AnyTool[]): void {
    for (const [name, entry] of this.#found) if (entry.source === source) this.#found.delete(name);
    const rejections: Rejection[] = [];
    for (const tool of tools) {
      const name = nameOf(tool) ?? '';
      const reason = this.#refusal(tool, name);
      if (reason === null) this.#found.set(name, { tool, source });
      else rejections.push({ source, name: sanitizeDescription(name, 100), reason });
    }
    this.#rejections.set(source, rejections);
    this.#changed();
  }

  getTool(name: string): AnyTool | undefined {
    return this.#builtIns.get(name) ?? this.#found.get(name)?.tool;
  }

  getAllTools(): AnyTool[] {
    return this.entries().map(({ tool }) => tool);
  }

  /** Built-ins in the order they were registered, then the rest by name: stable, so that prompt caches hit. */
  entries(): RegisteredTool[] {
    const found = [...this.#found.values()].sort((a, b) => (a.tool.name < b.tool.name ? -1 : 1));
    return [...[...this.#builtIns.values()].map((tool) => ({ tool, source: builtIn })), ...found];
  }

  getFunctionDeclarations(): (FunctionDeclaration & { name: string })[] {
    return this.getAllTools().map(({ name, description, parameterSchema }) => ({
      name,
      description,
      // Some providers insist on the type, which our check does not.
      parametersJsonSchema: 'type' in parameterSchema ? parameterSchema : { type: 'object', ...parameterSchema },
    }));
  }

  rejections(): Rejection[] {
    const bySources = [...this.#sources.values()].flatMap((source) => source.rejections?.() ?? []);
    return [...bySources, ...[...this.#rejections.values()].flat()];
  }

  /** Calls `listener` after every change of the set of tools; returns how to stop. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #refusal(tool: AnyTool, name: string): string | null {
    if (!validName.test(name)) return `not a valid tool name (${validName.source})`;
    if (this.#builtIns.has(name)) return 'the name belongs to a built-in tool';
    const other = this.#found.get(name);
    if (other) return `the name is already used by ${other.source}`;
    const mistake = memberProblem(tool);
    if (mistake !== null) return mistake;
    const problem = schemaProblem(tool.parameterSchema);
    return problem === null ? null : `its parameter schema cannot be checked: ${problem}`;
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** The name of a tool; `undefined` for what is none. */
function nameOf(tool: unknown): string | undefined {
  try {
    const name: unknown = typeof tool === 'object' && tool !== null ? Reflect.get(tool, 'name') : undefined;
    return typeof name === 'string' ? name : undefined;
  } catch {
    return undefined;
  }
}

function notATool(value: unknown): string {
  return typeof value === 'function' && value.name !== ''
    ? `${value.name} is a class; register an instance: new ${value.name}()`
    : 'What was given is not a tool: use defineTool, or a new object of a class';
}

/** What `BaseTool` brings, and a tool of another make may lack. */
const members = {
  string: ['displayName', 'description', 'kind'],
  number: ['timeoutMs', 'maxOutputChars'],
  function: [
    'validateToolParams',
    'getDescription',
    'isReadOnly',
    'getTargets',
    'shouldConfirmExecute',
    'applyChange',
    'execute',
  ],
};

/** Why a tool cannot be used, by its members, or `null`. They are read here once, because reading one may throw. */
function memberProblem(tool: AnyTool): string | null {
  try {
    for (const [type, names] of Object.entries(members))
      for (const name of names) if (typeof Reflect.get(tool, name) !== type) return `${name} must be a ${type}`;
    // oxlint-disable-next-line no-unused-expressions -- a getter may throw
    tool.parameterSchema;
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : 'one of its members throws';
  }
}
