import { randomUUID } from 'node:crypto';
import type { ElicitationPropertySchema, ElicitationSchema } from '@agentclientprotocol/sdk';
import type { Asker } from '@lathe/core';
import { describeMismatch, visibleText } from '@lathe/core/host';
import type { Elicitation, ElicitationAnswer } from '@lathe/core/mcp';
import { quoted } from '../mcp/elicit.js';
import { sanitizedForm } from '../mcp/elicitation-form.js';
import type { OpenOptions } from '../startup/open-lathe.js';
import type { SessionClient } from './session-client.js';

/** Questions that are forms. */
export type EditorQuestions = Required<Pick<OpenOptions, 'asker' | 'elicit'>>;

/** Puts questions of the model and of MCP servers to the person by `elicitation/create`, if the editor has forms. */
export function editorQuestions(client: SessionClient): EditorQuestions | undefined {
  if (!client.capabilities.elicitation?.form) return undefined;
  return {
    asker: { ask: (questions, signal) => ask(questions, client, signal) },
    elicit: (request, signal) => forward(request, client, signal),
  };
}

async function ask(questions: Parameters<Asker['ask']>[0], client: SessionClient, signal: AbortSignal) {
  const properties = Object.fromEntries(questions.flatMap(({ options }, index) => fields(index + 1, options)));
  const message = questions.map(({ question }) => visibleText(question)).join('\n\n');
  const answer = await client.elicit({ mode: 'form', message, requestedSchema: { properties } }, signal);
  const content: Record<string, unknown> = answer.action === 'accept' ? { ...Object(answer['content']) } : {};
  return questions.map((_, index) =>
    [content[`own${index + 1}`], content[`answer${index + 1}`]].find(
      (value): value is string => typeof value === 'string' && value.trim() !== '',
    ),
  );
}

/** A choice, and a line for an answer that is not among the options. */
function fields(number: number, options: readonly string[]): [string, ElicitationPropertySchema][] {
  const title = `Answer ${number}`;
  if (options.length === 0) return [[`own${number}`, { type: 'string', title }]];
  const oneOf = options.map((option) => ({ const: option, title: visibleText(option) }));
  return [
    [`answer${number}`, { type: 'string', title, oneOf }],
    [`own${number}`, { type: 'string', title: 'Another answer' }],
  ];
}

async function forward(request: Elicitation, client: SessionClient, signal: AbortSignal): Promise<ElicitationAnswer> {
  const message = visibleText(`The MCP server "${request.server}" asks:\n${quoted(request.message)}`);
  const question = request.type === 'url' ? pageOf(request.url, client) : formOf(request.schema);
  if (!question) return { action: 'decline' };
  const answer = await client.elicit({ message, ...question }, signal);
  if (answer.action !== 'accept') return { action: answer.action === 'decline' ? 'decline' : 'cancel' };
  if (request.type === 'url') return { action: 'accept' };
  const content = { ...Object(answer['content']) };
  // An editor that sends something else than was asked for has not asked the person.
  return describeMismatch({ ...request.schema }, content) === null
    ? { action: 'accept', content }
    : { action: 'cancel' };
}

/** Normalized as in a browser, so that look-alike letters cannot imitate another host. */
function pageOf(url: string, { capabilities }: SessionClient) {
  if (!capabilities.elicitation?.url) return undefined;
  return { mode: 'url' as const, url: new URL(url).href, elicitationId: randomUUID() };
}

function formOf(schema: Readonly<Record<string, unknown>>) {
  const requestedSchema: ElicitationSchema | undefined = sanitizedForm(schema);
  return requestedSchema && { mode: 'form' as const, requestedSchema };
}
