import type { CallRequest } from '../contract/call.js';
import { ToolError } from '../contract/errors.js';
import type { ToolCall } from '../contract/tool-call.js';
import { canonicalName } from '../policy/rule.js';
import { likelyNames } from '../text/closest-names.js';
import { parseArguments } from '../text/parse-arguments.js';
import { boundsProblem } from '../text/schema/json-schema.js';
import { repairParams } from '../text/schema/repair-params.js';
import { NotTrusted, type ToolRegistry } from '../tools/tool-registry.js';
import type { AnyTool } from '../tools/tools.js';

/** A call that passed steps 2 to 4. `params` fit the tool's schema, which `never` stands for. */
export interface ReadyCall {
  call: ToolCall;
  tool: AnyTool;
  params: never;
  description: string;
  isReadOnly: boolean;
  repairs: readonly string[];
}

/** Steps 2 to 4: parse the call, find the tool, check the parameters. Throws a `ToolError` the model can act on. */
export async function prepare(request: CallRequest, call: ToolCall, registry: ToolRegistry): Promise<ReadyCall> {
  const tool = findTool(request.name ?? '', registry);
  if (request.problem !== undefined)
    throw new ToolError('invalid_tool_params', `${request.problem} Nothing was executed; send the whole call again.`);
  return readyCall(call, tool, copyOf(argumentsOf(request)));
}

/** The call with checked parameters; also used for parameters that a person changed. */
export async function readyCall(call: ToolCall, tool: AnyTool, args: unknown): Promise<ReadyCall> {
  const { value, repairs } = repairParams(tool.parameterSchema, args, tool.parameterAliases);
  const problem = tool.validateToolParams(value);
  if (problem !== null) throw new ToolError('invalid_tool_params', `Invalid parameters for ${tool.name}: ${problem}`);
  // What is judged, shown and recorded is what runs.
  freeze(value);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- validateToolParams accepted the value just above
  const params = value as never;
  return {
    call,
    tool,
    params,
    description: tool.getDescription(params),
    isReadOnly: await tool.isReadOnly(params, call),
    repairs,
  };
}

function findTool(name: string, registry: ToolRegistry): AnyTool {
  const tool = registry.getTool(name);
  if (tool) return tool;
  const sameElsewhere = registry.getTool(canonicalName(name));
  const names = registry.getAllTools().map((known) => known.name);
  const near = sameElsewhere ? [sameElsewhere.name] : likelyNames(name, names);
  const hint = near.length > 0 ? ` Did you mean ${near.join(', ')}?` : '';
  const text = `There is no tool named ${JSON.stringify(name)}.${hint}${missingSources(registry)}`;
  throw new ToolError('tool_not_registered', text);
}

/** Why a tool may be missing. Never in the words of a source, which nobody may have agreed to. */
function missingSources(registry: ToolRegistry): string {
  const failures = [...registry.failures().values()];
  const untrusted = new Set(failures.flatMap((error) => (error instanceof NotTrusted ? error.message : [])));
  const isBroken = failures.some((error) => !(error instanceof NotTrusted)) || registry.rejections().length > 0;
  return [...untrusted, ...(isBroken ? ['Some tools could not be loaded: run lathe doctor to see why.'] : [])]
    .map((sentence) => ` ${sentence}`)
    .join('');
}

/** Some providers deliver the arguments as JSON text, and models leave them out when there are none. */
function argumentsOf(request: CallRequest): unknown {
  const args: unknown = request.args ?? {};
  if (typeof args !== 'string') return bounded(args);
  const parsed = parseArguments(args);
  if (parsed.ok) return parsed.value;
  throw new ToolError('invalid_tool_params', `The arguments are not valid JSON: ${parsed.problem}`);
}

/** Everything after this walks the arguments to their ends. */
function bounded(args: unknown): unknown {
  const problem = boundsProblem(args);
  if (problem === null) return args;
  throw new ToolError('invalid_tool_params', `The arguments cannot be used: the value ${problem}.`);
}

/** The caller keeps its own. */
function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyOf);
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, copyOf(child)]));
}

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const child of Object.values(value)) freeze(child);
}
