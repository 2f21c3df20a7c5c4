import type { Elicitation, ElicitationAnswer } from '@lathe/core/mcp';
import { type Field, type FieldValue, fieldsOf } from './elicitation-form.js';

/** What a person must see before something of theirs goes to a server. */
export interface Consent {
  server: string;
  /** What the server says; not to be trusted. */
  message: string;
  /** What a yes would do, for example `Open this page:`. */
  offer: string;
  /** What it would be done with, in full. */
  subject: string;
}

/** One field of a form. */
export interface FieldQuestion {
  server: string;
  message: string;
  field: Field;
  /** Which one of how many. */
  step: string;
}

/** How a person is asked; every method throws when they want to hear no more of it. */
export interface Asker {
  /** Anything but a clear yes is a no. */
  confirm(consent: Consent): Promise<boolean>;
  read(question: FieldQuestion): Promise<FieldValue | undefined>;
  openPage(url: URL): void;
}

/** Asks a person what a server wants to know. Nothing is sent or opened before they have seen all of it and said yes. */
export async function elicit(request: Elicitation, asker: Asker): Promise<ElicitationAnswer> {
  try {
    return request.type === 'url' ? await offerPage(request, asker) : await fillIn(request, asker);
  } catch {
    return { action: 'cancel' };
  }
}

async function offerPage(
  { server, message, url }: Extract<Elicitation, { type: 'url' }>,
  asker: Asker,
): Promise<ElicitationAnswer> {
  // As a browser reads it: a name in other letters, or one put before an @, does not look like the host it is not.
  const page = new URL(url);
  const consent = { server, message, offer: `Open this page of ${page.host}:`, subject: page.href };
  if (!(await asker.confirm(consent))) return { action: 'decline' };
  asker.openPage(page);
  return { action: 'accept' };
}

async function fillIn(
  { server, message, schema }: Extract<Elicitation, { type: 'form' }>,
  asker: Asker,
): Promise<ElicitationAnswer> {
  const fields = fieldsOf(schema);
  if (!fields) return { action: 'decline' };
  const answers: [string, FieldValue][] = [];
  for (const [index, field] of fields.entries()) {
    const value = await asker.read({ server, message, field, step: `${index + 1} of ${fields.length}` });
    if (value !== undefined) answers.push([field.name, value]);
  }
  const content = Object.fromEntries(answers);
  const consent = { server, message, offer: 'Send this to it:', subject: JSON.stringify(content, null, 2) };
  return (await asker.confirm(consent)) ? { action: 'accept', content } : { action: 'decline' };
}

/** What a server says, set apart from what Lathe says. */
export function quoted(message: string): string {
  return message
    .split('\n')
    .map((line) => `  | ${line}`)
    .join('\n');
}

/** What a typed line means for a field: the value, nothing where that is allowed, or why it is neither. */
export function readField(
  { isRequired, fallback, read }: Field,
  typed: string,
): { value: FieldValue | undefined } | { problem: string } {
  if (typed === '' && (fallback !== undefined || !isRequired)) return { value: fallback };
  return read(typed);
}
