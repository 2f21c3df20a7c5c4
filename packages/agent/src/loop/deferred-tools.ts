import type { AnyTool, FunctionDeclaration, RegisteredTool, ToolRegistry } from '@lathe/core';
import { builtIn } from '@lathe/core/host';
import { estimateTokens } from '../models/estimate-tokens.js';
import type { DeclaredTools } from './agent-options.js';
import { skillSource } from './loaded-skills.js';
import { ToolSearchTool } from './tool-search.js';

/** Declarations may fill a tenth of the window. If all tools need more, those of servers are deferred. */
const share = 0.1;

/**
 * The tools declared to the model. Normally all of them; if that costs too much, only the built-in ones and
 * `tool_search`, with which the model finds the others. Declared tools keep their position and new ones come last, so that
 * the beginning of a request stays in the provider's cache.
 */
export class DeferredTools implements DeclaredTools {
  readonly #registry: ToolRegistry;
  /** Names of deferred tools that the model found, in that order. */
  readonly #found = new Set<string>();
  #isDeferred = false;
  #declared: { window: number; list: readonly FunctionDeclaration[] } | undefined;

  constructor(registry: ToolRegistry) {
    this.#registry = registry;
    registry.onChange(() => {
      this.#declared = undefined;
    });
  }

  declarations(contextWindow: number): readonly FunctionDeclaration[] {
    if (this.#declared?.window === contextWindow) return this.#declared.list;
    const list = this.#choose(contextWindow);
    this.#declared = { window: contextWindow, list };
    return list;
  }

  deferred(): AnyTool[] {
    return this.#fromSources().flatMap(({ tool }) => (this.#found.has(tool.name) ? [] : [tool]));
  }

  declare(names: readonly string[]): void {
    for (const name of names) this.#found.add(name);
    this.#declared = undefined;
  }

  #choose(contextWindow: number): FunctionDeclaration[] {
    const entries = this.#registry.entries();
    const all = entries.map(({ tool }) => declarationOf(tool));
    const isTooMuch = estimateTokens(JSON.stringify(all)) > contextWindow * share;
    if (!this.#isDeferred && (!isTooMuch || this.#fromSources().length === 0)) return all;
    // Permanent: going back would change the beginning of every later request.
    this.#isDeferred = true;
    if (!this.#registry.getTool(ToolSearchTool.toolName)) this.#registry.registerTool(new ToolSearchTool(this));
    const known = this.#registry.entries().filter(isAlwaysDeclared);
    const found = [...this.#found].flatMap((name) => this.#registry.getTool(name) ?? []);
    return [...known.map(({ tool }) => tool), ...found].map(declarationOf);
  }

  #fromSources(): RegisteredTool[] {
    return this.#registry.entries().filter((entry) => !isAlwaysDeclared(entry));
  }
}

/** The list of skills is in the declaration of their tool. */
const isAlwaysDeclared = ({ source }: RegisteredTool): boolean => source === builtIn || source === skillSource;

function declarationOf({ name, description, parameterSchema }: AnyTool): FunctionDeclaration {
  return { name, description, parametersJsonSchema: parameterSchema };
}
