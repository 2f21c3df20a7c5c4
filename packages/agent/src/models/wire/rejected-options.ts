import { asObject, isObject, type JsonObject } from '../json.js';
import { ModelError } from '../model-error.js';

interface OptionalField {
  path: readonly string[];
  /** How messages of servers speak of it. */
  mention: RegExp;
}

/** Fields that make an answer better and that not every server, model or account may use. */
const optionalFields: readonly OptionalField[] = [
  { path: ['reasoning', 'summary'], mention: /reasoning[. _]summar/i },
  { path: ['reasoning', 'effort'], mention: /reasoning[. _]effort/i },
  { path: ['reasoning_effort'], mention: /reasoning[. _]?effort/i },
  { path: ['include'], mention: /['"`]include|encrypted[ _]content/i },
  { path: ['reasoning'], mention: /['"`]reasoning['"`]/i },
  { path: ['output_config'], mention: /output_config|\beffort\b/i },
  { path: ['thinking_budget'], mention: /thinking_budget/i },
  { path: ['enable_thinking'], mention: /enable_thinking/i },
  { path: ['thinking'], mention: /\bthinking\b/i },
  { path: ['generationConfig', 'thinkingConfig'], mention: /thinking[_ ]?(?:config|level|budget)|\bthinking\b/i },
  { path: ['stream_options'], mention: /stream_options/i },
];

/** Remembers which optional fields a server rejected, so that they are left out from then on. */
export class RejectedOptions {
  readonly #fields = new Set<OptionalField>();

  /** The field of `body` that the error blames, which is now known; undefined when it blames nothing optional. */
  add(error: unknown, body: object): string | undefined {
    if (!(error instanceof ModelError) || error.kind !== 'bad-request' || ![400, 422].includes(error.status ?? 0))
      return undefined;
    const found = optionalFields.find(({ path, mention }) => hasField(body, path) && mention.test(error.message));
    if (found) this.#fields.add(found);
    return found?.path.join('.');
  }

  /** The body without what was rejected before. */
  remove(body: object): object {
    return [...this.#fields].reduce((rest: object, { path }) => without(asObject(rest), path), body);
  }
}

function hasField(body: unknown, [first = '', ...rest]: readonly string[]): boolean {
  if (!isObject(body) || body[first] === undefined) return false;
  return rest.length === 0 || hasField(body[first], rest);
}

function without(body: JsonObject, [first = '', ...rest]: readonly string[]): JsonObject {
  if (rest.length > 0 && body[first] !== undefined) return { ...body, [first]: without(asObject(body[first]), rest) };
  const { [first]: _, ...others } = body;
  return others;
}
