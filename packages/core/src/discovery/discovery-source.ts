import { attempt } from '../contract/errors.js';
import type { DefinitionPins } from '../policy/definition-pins.js';
import { type ProgramEnding, runProgram } from '../process/run/run-program.js';
import type { ConsentGate, ConsentRequest } from '../scheduler/ask-consent.js';
import { parseBoundedJson } from '../text/parse-json.js';
import { sanitizeDescription, sanitizeSchema } from '../text/sanitize-definition.js';
import { isRecord, own } from '../text/schema/schema-nodes.js';
import { splitArguments } from '../text/split-arguments.js';
import { plainText } from '../text/visible-text.js';
import { type CallCommand, type DiscoveredDeclaration, DiscoveredTool } from '../tools/discovered-tool.js';
import type { Rejection, ToolSource } from '../tools/tool-registry.js';

export interface DiscoveryOptions extends Omit<CallCommand, 'argv'> {
  /** `tools.toolDiscoveryCommand`. */
  discoveryCommand: string;
  /** `tools.toolCallCommand`. */
  callCommand: string | undefined;
  /** In a worktree: the folder that it is a copy of, to whose commands the person agreed. */
  copyOf?: string;
  /** The user's home folder, for `~/`. */
  home: string;
  pins: DefinitionPins;
  /** Asks before the command first runs; not set if the commands come from the user's own settings. */
  gate?: ConsentGate;
}

const timeoutMs = 10_000;
const maxBytes = 10 * 1024 * 1024;

/** Tools that one command of the project declares and another one runs. */
export class DiscoverySource implements ToolSource {
  static readonly label = 'discovery command';
  readonly label = DiscoverySource.label;
  readonly #options: DiscoveryOptions;
  #skipped: Declarations['skipped'] = [];

  constructor(options: DiscoveryOptions) {
    this.#options = options;
  }

  rejections(): Rejection[] {
    return this.#skipped.map(({ name, reason }) => ({
      source: this.label,
      name: sanitizeDescription(name, 100),
      reason,
    }));
  }

  async discover(signal: AbortSignal): Promise<DiscoveredTool[]> {
    const { gate, pins, runner, cwd, copyOf = cwd, env } = this.#options;
    const request = this.#consentRequest();
    await gate?.pass(request, signal);
    const { discovery, call } = request.definition;
    const result = await runProgram(runner, { argv: discovery, cwd, env, input: '' }, { timeoutMs, maxBytes, signal });
    const problem = problemOf(result.ending);
    const stderr = plainText(result.stderr).trim().slice(-500);
    if (problem !== undefined)
      throw new Error(`The discovery command ${problem}.${stderr === '' ? '' : ` It said: ${stderr}`}`);
    const { tools, skipped } = readDeclarations(result.stdout);
    this.#skipped = skipped;
    const command = { runner, cwd, env, argv: call };
    return tools.map(
      (tool) => new DiscoveredTool(tool, command, pins.pin(`discovery ${copyOf} ${tool.name}`, { ...tool })),
    );
  }

  /** Nothing while its commands cannot be read, which `discover` tells. */
  consentRequests(): ConsentRequest[] {
    return attempt(() => [this.#consentRequest()]) ?? [];
  }

  /** What the user approves: both commands, because the second one runs whatever the model requests. */
  #consentRequest() {
    const { discoveryCommand, callCommand, cwd, copyOf = cwd } = this.#options;
    const discovery = this.#words('tools.toolDiscoveryCommand', discoveryCommand);
    const call = this.#words('tools.toolCallCommand', callCommand ?? '');
    return {
      kind: 'discovery-command',
      id: copyOf,
      definition: { discovery, call },
      confirmation: {
        type: 'exec',
        title: 'Let this project add tools by running its commands?',
        command: `${discoveryCommand}\n${callCommand ?? ''} <tool>`,
        rootCommand: discovery[0] ?? '',
        directory: cwd,
      },
    } as const;
  }

  #words(key: string, command: string): string[] {
    const split = splitArguments(command, { home: this.#options.home });
    if (split.ok) return split.words;
    throw new Error(command === '' ? `${key} is not set, so no tool could run.` : `${key}: ${split.problem}.`);
  }
}

function problemOf(ending: ProgramEnding): string | undefined {
  switch (ending.type) {
    case 'exit':
      return ending.code === 0 ? undefined : `exited with code ${ending.code}`;
    case 'signal':
      return `was killed by ${ending.signal}`;
    case 'timeout':
      return `did not finish within ${ending.ms / 1000} s and was stopped`;
    case 'flood':
      return `printed more than ${ending.bytes} bytes and was stopped`;
  }
}

/** The parsed output of a discovery command. */
export interface Declarations {
  tools: DiscoveredDeclaration[];
  /** Entries that are not valid declarations, with the reason. */
  skipped: { name: string; reason: string }[];
}

const maxTools = 500;

/**
 * Parses declarations in every common format: a list, wrapped as `function_declarations` or `functionDeclarations`, or a
 * single declaration. Throws when the text is none of these.
 */
function readDeclarations(text: string): Declarations {
  const value = parse(text);
  const entries = (Array.isArray(value) ? value : [value]).flatMap(unwrap);
  const result: Declarations = { tools: [], skipped: [] };
  for (const entry of entries.slice(0, maxTools)) {
    const declaration = readOne(entry);
    if ('reason' in declaration) result.skipped.push(declaration);
    else result.tools.push(declaration);
  }
  if (entries.length > maxTools)
    result.skipped.push({ name: '', reason: `${entries.length - maxTools} more than ${maxTools} tools` });
  return result;
}

function parse(text: string): unknown {
  const parsed = parseBoundedJson(text.replace(/^\uFEFF/, ''));
  if (!parsed.ok)
    throw new Error(
      `The output of the discovery command is not valid JSON: ${sanitizeDescription(parsed.problem, 500)}`,
    );
  if (typeof parsed.value === 'object' && parsed.value !== null) return parsed.value;
  throw new Error('The discovery command must print a JSON array of function declarations.');
}

function unwrap(entry: unknown): unknown[] {
  if (!isRecord(entry)) return [entry];
  const wrapped = own(entry, 'function_declarations') ?? own(entry, 'functionDeclarations');
  return Array.isArray(wrapped) ? wrapped : [entry];
}

function readOne(entry: unknown): DiscoveredDeclaration | { name: string; reason: string } {
  if (!isRecord(entry)) return { name: '', reason: 'is not an object' };
  const name = own(entry, 'name');
  if (typeof name !== 'string' || name === '') return { name: '', reason: 'has no name' };
  const description = own(entry, 'description') ?? '';
  if (typeof description !== 'string') return { name, reason: 'its description is not a string' };
  const schema = own(entry, 'parametersJsonSchema') ?? own(entry, 'parameters') ?? { type: 'object', properties: {} };
  if (!isRecord(schema)) return { name, reason: 'its parameter schema is not an object' };
  if (name.includes('__')) return { name, reason: '"__" in a name is reserved for the tools of MCP servers' };
  const parameterSchema = sanitizeSchema(lowerTypes(schema));
  if (typeof parameterSchema === 'string') return { name, reason: parameterSchema };
  return { name, description: sanitizeDescription(description), parameterSchema };
}

const geminiTypes = new Set(['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL']);

/** Gemini writes types in capitals: `{"type": "OBJECT"}`. */
function lowerTypes(schema: Record<string, unknown>): unknown {
  const text = JSON.stringify(schema, (key, value: unknown) =>
    key === 'type' && typeof value === 'string' && geminiTypes.has(value) ? value.toLowerCase() : value,
  );
  return JSON.parse(text);
}
