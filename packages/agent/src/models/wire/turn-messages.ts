import type { Turn } from './paired-history.js';
import type { Endpoint } from './wire-format.js';

/** What the messages of a turn depend on besides the turn itself. */
interface Form {
  endpoint: Endpoint;
  /** Names the way they are written, where an endpoint has several. */
  variant?: string;
}

/** Of messages made here, which never change; empty until it is asked for. */
const texts = new WeakMap<object, string>();

/** Makes the messages of a turn in one wire format once: a long history then costs a request little but its bytes. */
export function messageCache<Message extends object = object>() {
  const made = new WeakMap<Turn, Form & { messages: Message[] }>();
  return (turn: Turn, { endpoint, variant = '' }: Form, make: () => Message[]): Message[] => {
    const known = made.get(turn);
    if (known?.endpoint === endpoint && known.variant === variant) return known.messages;
    const messages = make();
    for (const message of messages) texts.set(message, '');
    made.set(turn, { endpoint, variant, messages });
    return messages;
  };
}

/** The JSON of a request; what a `messageCache` holds is written once. */
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
