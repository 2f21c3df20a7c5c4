import type { AnyTool, FunctionDeclaration, RegisteredTool, ToolRegistry } from '@lathe/core';
import { builtIn } from '@lathe/core/host';
import { estimateTokens } from '../models/estimate-tokens.js';
import type { DeclaredTools } from './agent-options.js';
import { ToolSearchTool } from './tool-search.js';

/** Declarations may fill a tenth of the window; beyond it, tools from servers wait on the shelf until asked for. */
const share = 0.1;

/**
 * The tools that the model is told about. Normally all of them; when that would cost too much, the built-in ones and
 * `tool_search`, through which the model takes others off the shelf. What is declared keeps its place, new tools come
 * last, so that the beginning of a request stays what the provider has cached.
 */
export class ToolShelf implements DeclaredTools {
  readonly #registry: ToolRegistry;
  /** Names taken off the shelf, in the order they were. */
  readonly #taken = new Set<string>();
  #isDeferred = false;
  #declared: { version: number; window: number; list: readonly FunctionDeclaration[] } | undefined;
  #version = 0;

  constructor(registry: ToolRegistry) {
    this.#registry = registry;
    registry.onChange(() => {
      this.#version += 1;
    });
  }

  declarations(contextWindow: number): readonly FunctionDeclaration[] {
    if (this.#declared?.version !== this.#version || this.#declared.window !== contextWindow) {
      const list = this.#choose(contextWindow);
      this.#declared = { version: this.#version, window: contextWindow, list };
    }
    return this.#declared.list;
  }

  /** Tools the model has not been told about. */
  waiting(): AnyTool[] {
    return this.#fromSources().flatMap(({ tool }) => (this.#taken.has(tool.name) ? [] : [tool]));
  }

  take(names: readonly string[]): void {
    for (const name of names) this.#taken.add(name);
    this.#version += 1;
  }

  #choose(contextWindow: number): FunctionDeclaration[] {
    const entries = this.#registry.entries();
    const all = entries.map(({ tool }) => declarationOf(tool));
    const isTooMuch = estimateTokens(JSON.stringify(all)) > contextWindow * share;
    if (!this.#isDeferred && (!isTooMuch || this.#fromSources().length === 0)) return all;
    this.#defer();
    const known = this.#registry.entries().filter(({ source }) => source === builtIn);
    const taken = [...this.#taken].flatMap((name) => this.#registry.getTool(name) ?? []);
    return [...known.map(({ tool }) => tool), ...taken].map(declarationOf);
  }

  /** For good: going back would change the beginning of every later request. */
  #defer(): void {
    if (this.#isDeferred) return;
    this.#isDeferred = true;
    if (!this.#registry.getTool(ToolSearchTool.toolName)) this.#registry.registerTool(new ToolSearchTool(this));
  }

  #fromSources(): RegisteredTool[] {
    return this.#registry.entries().filter(({ source }) => source !== builtIn);
  }
}

function declarationOf({ name, description, parameterSchema }: AnyTool): FunctionDeclaration {
  return { name, description, parametersJsonSchema: parameterSchema };
}
