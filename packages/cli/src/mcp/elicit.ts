import type { Elicitation, ElicitationAnswer } from '@lathe/core/mcp';
import { type Field, type FieldValue, fieldsOf } from './elicitation-form.js';

/** What a person sees before Lathe sends their data to a server or opens a page. */
export interface Consent {
  server: string;
  /** Untrusted text from the server. */
  message: string;
  /** What Lathe does after a yes, for example `Open this page:`. */
  action: string;
  /** The complete data or address. */
  content: string;
}

/** One field of a form. */
export interface FieldQuestion {
  server: string;
  message: string;
  field: Field;
  /** For example `1 of 3`. */
  step: string;
}

/** Asks a person. Every method throws if they cancel. */
export interface Prompter {
  /** Anything but a clear yes means no. */
  confirm(consent: Consent): Promise<boolean>;
  readField(question: FieldQuestion): Promise<FieldValue | undefined>;
  openPage(url: URL): void;
}

/** Puts a server's question to a person. Lathe sends or opens nothing until they have seen all of it and said yes. */
export async function elicit(request: Elicitation, prompter: Prompter): Promise<ElicitationAnswer> {
  try {
    return request.type === 'url' ? await offerPage(request, prompter) : await fillIn(request, prompter);
  } catch {
    return { action: 'cancel' };
  }
}

async function offerPage(
  { server, message, url }: Extract<Elicitation, { type: 'url' }>,
  prompter: Prompter,
): Promise<ElicitationAnswer> {
  // Normalized as in a browser, so that look-alike letters or a name before an @ cannot imitate another host.
  const page = new URL(url);
  const consent = { server, message, action: `Open this page on ${page.host}:`, content: page.href };
  if (!(await prompter.confirm(consent))) return { action: 'decline' };
  prompter.openPage(page);
  return { action: 'accept' };
}

async function fillIn(
  { server, message, schema }: Extract<Elicitation, { type: 'form' }>,
  prompter: Prompter,
): Promise<ElicitationAnswer> {
  const fields = fieldsOf(schema);
  if (!fields) return { action: 'decline' };
  const answers: [string, FieldValue][] = [];
  for (const [index, field] of fields.entries()) {
    const value = await prompter.readField({ server, message, field, step: `${index + 1} of ${fields.length}` });
    if (value !== undefined) answers.push([field.name, value]);
  }
  const content = Object.fromEntries(answers);
  const consent = { server, message, action: 'Send this answer:', content: JSON.stringify(content, null, 2) };
  return (await prompter.confirm(consent)) ? { action: 'accept', content } : { action: 'decline' };
}

/** Marks each line as text from a server. */
export function quoted(message: string): string {
  return message
    .split('\n')
    .map((line) => `  | ${line}`)
    .join('\n');
}

/** Converts a typed line to the value of a field. An empty line means the default, or no value for an optional field. */
export function parseField(
  { isRequired, defaultValue, parse }: Field,
  typed: string,
): { value: FieldValue | undefined } | { problem: string } {
  if (typed === '' && (defaultValue !== undefined || !isRequired)) return { value: defaultValue };
  return parse(typed);
}
