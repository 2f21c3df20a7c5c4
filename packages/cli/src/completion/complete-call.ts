import { type AnyTool, type JsonSchema } from '@lathe/core';
import { visibleText } from '@lathe/core/host';
import { type Candidate, type Completion, type CompletionSource, maxCandidates } from './completions.js';

/** Completes tool calls; for the console. */
export function completeCalls(tools: () => readonly AnyTool[]): CompletionSource {
  return (text, cursor) => completeCall(text.slice(0, cursor), tools());
}

/** Completes tool names, parameters and enum values in `tool key=value …` or `tool {"key": …}`. */
export function completeCall(typed: string, tools: readonly AnyTool[]): Completion | undefined {
  if (typed.trim() === '' || typed.startsWith('!')) return undefined;
  const [, name = '', rest] = /^(\S+)(?:\s+([\s\S]*))?$/.exec(typed) ?? [];
  if (rest === undefined) return offer(typed, name, tools.map(toolCandidate));
  const tool = tools.find((each) => each.name === name);
  if (!tool) return undefined;
  return rest.startsWith('{') ? completeJson(typed, rest, tool) : completePairs(typed, rest, tool);
}

function toolCandidate(tool: AnyTool): Candidate {
  return { label: tool.name, detail: firstLine(tool.description), insert: `${tool.name} ` };
}

function completePairs(typed: string, rest: string, { parameterSchema }: AnyTool): Completion | undefined {
  const last = /\S*$/.exec(rest)?.[0] ?? '';
  const [, key, value] = /^([^\s=]+)=(.*)$/s.exec(last) ?? [];
  if (key !== undefined) {
    const values = valuesOf(parameterSchema, key).map((each) => ({ label: each, insert: `${each} ` }));
    return offer(typed, value ?? '', values);
  }
  const unused = parametersOf(parameterSchema).filter(({ name }) => !rest.includes(`${name}=`));
  return offer(
    typed,
    last,
    unused.map((parameter) => ({ ...described(parameter), insert: `${parameter.name}=` })),
  );
}

/** Completes a key after `{` or `,` and a value after `:`. */
function completeJson(typed: string, rest: string, { parameterSchema }: AnyTool): Completion | undefined {
  const [, key, value] = /"([^"]+)"\s*:\s*("?[\w-]*)$/.exec(rest) ?? [];
  if (key !== undefined) {
    const values = valuesOf(parameterSchema, key).map((each) => ({ label: each, insert: jsonOf(each) }));
    return offer(typed, value ?? '', values, jsonOf);
  }
  const [, start] = /[{,]\s*("?\w*)$/.exec(rest) ?? [];
  if (start === undefined) return undefined;
  const unused = parametersOf(parameterSchema).filter(({ name }) => !rest.includes(`"${name}"`));
  const candidates = unused.map((parameter) => ({ ...described(parameter), insert: `"${parameter.name}": ` }));
  return offer(typed, start, candidates);
}

/** The candidates that start with the typed text, ignoring quotes. */
function offer(
  typed: string,
  start: string,
  candidates: readonly Candidate[],
  format = (text: string) => text,
): Completion {
  const wanted = start.replace(/^"/, '');
  const matches = candidates.filter(({ label, insert }) => label.startsWith(wanted) && insert.trimEnd() !== start);
  return {
    start: typed.length - start.length,
    candidates: matches.slice(0, maxCandidates).map((each) => ({ ...each, label: visibleText(format(each.label)) })),
    onEnter: 'send',
  };
}

interface Parameter {
  name: string;
  description: string;
  isRequired: boolean;
}

function described({ name, description, isRequired }: Parameter): Pick<Candidate, 'label' | 'detail'> {
  const text = `${isRequired ? 'required' : ''}${isRequired && description !== '' ? ': ' : ''}${description}`;
  return { label: name, ...(text !== '' && { detail: firstLine(text) }) };
}

/** Required parameters first. */
function parametersOf(schema: JsonSchema): Parameter[] {
  const required = listAt(schema, 'required');
  const parameters = Object.entries(objectAt(schema, 'properties')).map(([name, each]) => ({
    name,
    description: textAt(each, 'description'),
    isRequired: required.includes(name),
  }));
  return parameters.sort((a, b) => Number(b.isRequired) - Number(a.isRequired));
}

function valuesOf(schema: JsonSchema, name: string): string[] {
  const properties = objectAt(schema, 'properties');
  const parameter = Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (textAt(parameter, 'type') === 'boolean') return ['true', 'false'];
  return listAt(parameter, 'enum').map(String);
}

const jsonOf = (value: string): string =>
  /^(?:true|false|null|-?\d+(?:\.\d+)?)$/.test(value) ? value : JSON.stringify(value);

const firstLine = (text: string): string => visibleText(text.split('\n', 1)[0] ?? '');

function at(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Object.getOwnPropertyDescriptor(value, key)?.value : undefined;
}

function objectAt(value: unknown, key: string): Record<string, unknown> {
  const found = at(value, key);
  return typeof found === 'object' && found !== null ? { ...found } : {};
}

function listAt(value: unknown, key: string): unknown[] {
  const found = at(value, key);
  return Array.isArray(found) ? found : [];
}

function textAt(value: unknown, key: string): string {
  const found = at(value, key);
  return typeof found === 'string' ? found : '';
}
