import { randomUUID } from 'node:crypto';
import type { ElicitationPropertySchema, ElicitationSchema } from '@agentclientprotocol/sdk';
import type { Asker } from '@lathe/core';
import { describeMismatch, visibleText } from '@lathe/core/host';
import type { Elicitation, ElicitationAnswer } from '@lathe/core/mcp';
import { quoted } from '../mcp/elicit.js';
import { fieldsOf } from '../mcp/elicitation-form.js';
import type { SessionClient } from './session-client.js';

/** Questions that are forms. Editors without forms cannot be asked. */
export interface EditorQuestions {
  askText: (question: string, options: readonly string[], signal: AbortSignal) => Promise<string | undefined>;
  asker: Asker;
  elicit: (request: Elicitation, signal: AbortSignal) => Promise<ElicitationAnswer>;
}

/** Puts questions of the model and of MCP servers to the person by `elicitation/create`. */
export function editorQuestions(client: SessionClient, turn: () => AbortSignal): EditorQuestions | undefined {
  if (!client.capabilities.elicitation?.form) return undefined;
  const askAll: Asker['ask'] = async (questions, signal) => {
    const properties = Object.fromEntries(questions.flatMap(({ options }, index) => fields(index, options)));
    const message = questions.map(({ question }) => visibleText(question)).join('\n\n');
    const ends = AbortSignal.any([signal, turn()]);
    const answer = await client.elicit(
      { mode: 'form', message, requestedSchema: { type: 'object', properties } },
      ends,
    );
    const content: Record<string, unknown> = answer.action === 'accept' ? { ...Object(answer['content']) } : {};
    return questions.map((_, index) => firstText(content[`own${index + 1}`], content[`answer${index + 1}`]));
  };
  return {
    asker: { ask: askAll },
    askText: async (question, options, signal) => (await askAll([{ question, options }], signal))[0],
    elicit: (request, signal) => forward(request, client, AbortSignal.any([signal, turn()])),
  };
}

/** A choice, and a line for an answer that is not among the options. */
function fields(index: number, options: readonly string[]): [string, ElicitationPropertySchema][] {
  const own = { type: 'string' as const, title: options.length > 0 ? 'Another answer' : `Answer ${index + 1}` };
  if (options.length === 0) return [[`own${index + 1}`, own]];
  const oneOf = options.map((option) => ({ const: option, title: visibleText(option) }));
  return [
    [`answer${index + 1}`, { type: 'string', title: `Answer ${index + 1}`, oneOf }],
    [`own${index + 1}`, own],
  ];
}

const firstText = (...values: unknown[]): string | undefined =>
  values.find((value): value is string => typeof value === 'string' && value.trim() !== '');

async function forward(request: Elicitation, client: SessionClient, signal: AbortSignal): Promise<ElicitationAnswer> {
  const message = visibleText(`The MCP server "${request.server}" asks:\n${quoted(request.message)}`);
  if (request.type === 'url') {
    if (!client.capabilities.elicitation?.url) return { action: 'decline' };
    // Normalized as in a browser, so that look-alike letters cannot imitate another host.
    const { href } = new URL(request.url);
    const { action } = await client.elicit({ mode: 'url', message, url: href, elicitationId: randomUUID() }, signal);
    return { action: action === 'accept' ? 'accept' : action === 'decline' ? 'decline' : 'cancel' };
  }
  const schema = formOf(request.schema);
  if (!schema) return { action: 'decline' };
  const answer = await client.elicit({ mode: 'form', message, requestedSchema: schema }, signal);
  if (answer.action !== 'accept') return { action: answer.action === 'decline' ? 'decline' : 'cancel' };
  const content = { ...Object(answer['content']) };
  // An editor that sends something else than was asked for has not asked the person.
  return describeMismatch({ ...request.schema }, content) === null
    ? { action: 'accept', content }
    : { action: 'cancel' };
}

const known = ['type', 'enum', 'oneOf', 'anyOf', 'items', 'default', 'format', 'minimum', 'maximum', 'pattern'];
const alsoKnown = ['minLength', 'maxLength', 'minItems', 'maxItems'];

/** The form of a server with nothing in it that a form has no place for; `undefined` if it is none. */
function formOf(schema: Readonly<Record<string, unknown>>): ElicitationSchema | undefined {
  if (!fieldsOf(schema)) return undefined;
  const { properties, required } = schema;
  const entries = Object.entries({ ...Object(properties) }).map(([name, property]) => [name, propertyOf(property)]);
  const names = Array.isArray(required) ? required.filter((each) => typeof each === 'string') : [];
  return { type: 'object', properties: Object.fromEntries(entries), required: names };
}

function propertyOf(property: unknown): Record<string, unknown> {
  const all = Object.entries({ ...Object(property) });
  const kept = all.filter(([key]) => known.includes(key) || alsoKnown.includes(key));
  const texts = all.flatMap(([key, value]) =>
    (key === 'title' || key === 'description') && typeof value === 'string' ? [[key, visibleText(value)]] : [],
  );
  return Object.fromEntries([...kept, ...texts]);
}
