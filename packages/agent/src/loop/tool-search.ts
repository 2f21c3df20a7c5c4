import { type AnyTool, BaseTool, ToolError, type ToolResult } from '@lathe/core';
import { closestNames } from '@lathe/core/host';
import type { XStatic } from 'typebox/schema';

/** Tools that are not declared to the model yet. */
export interface SearchableTools {
  deferred(): AnyTool[];
  /** Declares these from the next request on. */
  declare(names: readonly string[]): void;
}

const schema = {
  type: 'object',
  properties: {
    query: { type: 'string', description: 'Keywords, or exact names: select:name1,name2', minLength: 1 },
    max_results: { type: 'integer', minimum: 1, maximum: 20 },
  },
  required: ['query'],
  additionalProperties: false,
} as const;

type Params = XStatic<typeof schema>;

/** Finds tools by name or by what they do, and makes them callable from the next turn on. */
export class ToolSearchTool extends BaseTool<Params> {
  static readonly toolName = 'tool_search';
  readonly #tools: SearchableTools;

  constructor(tools: SearchableTools) {
    super({
      name: ToolSearchTool.toolName,
      displayName: 'ToolSearch',
      description: 'Finds more tools (of connected servers) by keywords. Tools found can be called in the next turn.',
      kind: 'search',
      parameterSchema: schema,
    });
    this.#tools = tools;
  }

  override getDescription({ query }: Params): string {
    return `Find tools for ${JSON.stringify(query)}`;
  }

  async execute({ query, max_results = 5 }: Params): Promise<ToolResult> {
    const deferred = this.#tools.deferred();
    const found = query.startsWith('select:')
      ? select(query.slice(7), deferred)
      : rank(query, deferred).slice(0, max_results);
    if (found.length === 0) {
      const names = deferred.map(({ name }) => name);
      const near = closestNames(query, names);
      const hint = near.length > 0 ? ` Near in name: ${near.join(', ')}.` : '';
      return { llmContent: `No tool fits ${JSON.stringify(query)}.${hint}`, returnDisplay: 'No tool found' };
    }
    this.#tools.declare(found.map(({ name }) => name));
    const lines = found.map(({ name, description }) => `- ${name}: ${description.split('\n', 1)[0]?.slice(0, 200)}`);
    return {
      llmContent: `You can now call:\n${lines.join('\n')}`,
      returnDisplay: `Found ${found.map(({ name }) => name).join(', ')}`,
    };
  }
}

function select(list: string, tools: readonly AnyTool[]): AnyTool[] {
  const names = list.split(',').map((name) => name.trim());
  const missing = names.filter((name) => !tools.some((tool) => tool.name === name));
  if (missing.length === names.length)
    throw new ToolError('invalid_tool_params', `No deferred tool is named ${missing.join(', ')}. Search by keywords.`);
  return tools.filter(({ name }) => names.includes(name));
}

/** The tools that contain the words, best first (BM25; a word in the name counts three times). */
function rank(query: string, tools: readonly AnyTool[]): AnyTool[] {
  const documents = tools.map((tool) => {
    const words = [...wordsOf(tool.name), ...wordsOf(tool.name), ...wordsOf(tool.name), ...wordsOf(tool.description)];
    return { tool, words };
  });
  const average = documents.reduce((sum, { words }) => sum + words.length, 0) / (documents.length || 1);
  const terms = new Set(wordsOf(query));
  const scored = documents.map(({ tool, words }) => {
    let score = 0;
    for (const term of terms) {
      const count = words.filter((word) => word.startsWith(term)).length;
      const holders = documents.filter((other) => other.words.some((word) => word.startsWith(term))).length;
      const rarity = Math.log(1 + (documents.length - holders + 0.5) / (holders + 0.5));
      score += (rarity * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * words.length) / average));
    }
    return { tool, score };
  });
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1))
    .map(({ tool }) => tool);
}

/** `github__createIssue` → github, create, issue. */
function wordsOf(text: string): string[] {
  return text
    .slice(0, 4_000)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 1);
}
