import type { Turn } from './paired-history.js';
import type { Endpoint } from './wire-format.js';

/** What the messages of a turn depend on besides the turn itself. */
interface Form {
  endpoint: Endpoint;
  /** Names the way they are written, where an endpoint has several. */
  variant?: string;
}

const made = new WeakMap<Turn, Form & { messages: object[] }>();
/** Of messages made here, which never change; empty until it is asked for. */
const texts = new WeakMap<object, string>();

/** The messages of a turn in a wire format, made once: a long history then costs a request little but its bytes. */
export function turnMessages<Message extends object>(
  turn: Turn,
  { endpoint, variant = '' }: Form,
  make: () => Message[],
): Message[] {
  const known = made.get(turn);
  // An endpoint has one wire format, and that has one kind of message.
  if (known?.endpoint === endpoint && known.variant === variant) return known.messages as Message[];
  const messages = make();
  for (const message of messages) texts.set(message, '');
  made.set(turn, { endpoint, variant, messages });
  return messages;
}

/** The JSON of a request; what `turnMessages` made is written once. */
export function bodyText(body: object): string {
  const fields = Object.entries(body).flatMap(([name, value]: [string, unknown]) => {
    if (value === undefined) return [];
    const text = Array.isArray(value) ? `[${value.map(elementText).join(',')}]` : jsonOf(value);
    return [`${JSON.stringify(name)}:${text}`];
  });
  return `{${fields.join(',')}}`;
}

function elementText(element: unknown): string {
  if (typeof element !== 'object' || element === null) return jsonOf(element);
  const known = texts.get(element);
  if (known === undefined) return jsonOf(element);
  if (known !== '') return known;
  const text = jsonOf(element);
  texts.set(element, text);
  return text;
}

/** Half a character, once in the history, would make a provider refuse every later request. */
function jsonOf(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes('\\ud')) return text;
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'string' ? each.replace(/\p{Surrogate}/gu, '\ufffd') : each,
  );
}
