import { visibleText } from '@lathe/core/host';

export type FieldValue = string | number | boolean | string[];

/** One thing a server wants to know. */
export interface Field {
  name: string;
  /** For the person, safe to print. */
  label: string;
  isRequired: boolean;
  fallback?: FieldValue;
  /** What the person typed, as a value; a sentence under `problem` when it is none. */
  read: (text: string) => { value: FieldValue } | { problem: string };
}

/** More than a person would answer. */
const maxFields = 30;
const maxChoices = 100;
const maxTextChars = 300;

type Shape = Readonly<Record<string, unknown>>;

/** The fields of the form a server asks for; `undefined` when it asks for something that is no form. */
export function fieldsOf(schema: Shape): Field[] | undefined {
  const { properties, required } = schema;
  if (!isShape(properties)) return undefined;
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  const entries = Object.entries(properties);
  if (entries.length > maxFields) return undefined;
  const fields = entries.map(([name, shape]) =>
    isShape(shape) ? fieldOf(name, shape, needed.includes(name)) : undefined,
  );
  return fields.every((field) => field !== undefined) ? fields : undefined;
}

function fieldOf(name: string, shape: Shape, isRequired: boolean): Field | undefined {
  const { title, description, default: fallback } = shape;
  const read = readerFor(shape);
  if (!read) return undefined;
  const about = [text(title) ?? text(name), text(description), read.hint, isRequired ? undefined : 'may be left empty'];
  return {
    name,
    label: about
      .filter((part) => part !== undefined)
      .map((part) => visibleText(part))
      .join(' · '),
    isRequired,
    ...(isFieldValue(fallback) && { fallback }),
    read: read.value,
  };
}

interface Reader {
  hint?: string;
  value: Field['read'];
}

function readerFor(shape: Shape): Reader | undefined {
  const choices = choicesOf(shape);
  if (choices) return choices.length > maxChoices ? undefined : chooser(choices);
  switch (shape['type']) {
    case 'string':
      return { value: (typed) => ({ value: typed }) };
    case 'number':
    case 'integer':
      return numberReader(shape['type'] === 'integer');
    case 'boolean':
      return { hint: 'yes or no', value: readBoolean };
    case 'array':
      return isShape(shape['items']) ? severalOf(choicesOf(shape['items'])) : undefined;
    default:
      return undefined;
  }
}

function numberReader(isWhole: boolean): Reader {
  const hint = isWhole ? 'a whole number' : 'a number';
  return {
    hint,
    value: (typed) => {
      const value = typed.trim() === '' ? Number.NaN : Number(typed);
      return Number.isFinite(value) && (!isWhole || Number.isInteger(value)) ? { value } : { problem: `Give ${hint}.` };
    },
  };
}

function readBoolean(typed: string): ReturnType<Field['read']> {
  if (/^(?:y|yes|true)$/i.test(typed.trim())) return { value: true };
  return /^(?:n|no|false)$/i.test(typed.trim()) ? { value: false } : { problem: 'Say yes or no.' };
}

interface Choice {
  value: string;
  title: string;
}

function choicesOf({ enum: values, oneOf, anyOf, enumNames }: Shape): Choice[] | undefined {
  const titles: readonly unknown[] = Array.isArray(enumNames) ? enumNames : [];
  if (Array.isArray(values))
    return values.map((value: unknown, index) => ({
      value: String(value),
      title: text(titles[index]) ?? text(String(value)) ?? '',
    }));
  const titled = Array.isArray(oneOf) ? oneOf : anyOf;
  if (!Array.isArray(titled)) return undefined;
  return titled
    .filter(isShape)
    .map((each) => ({ value: String(each['const']), title: text(each['title']) ?? String(each['const']) }));
}

function chooser(choices: readonly Choice[]): Reader {
  return {
    hint: listed(choices),
    value: (typed) => {
      const chosen = chosenFrom(choices, typed);
      return chosen === undefined ? { problem: 'Give one of the numbers.' } : { value: chosen };
    },
  };
}

function severalOf(choices: readonly Choice[] | undefined): Reader | undefined {
  if (!choices || choices.length > maxChoices) return undefined;
  return {
    hint: `${listed(choices)}; several with commas`,
    value: (typed) => {
      const chosen = typed.split(',').map((part) => chosenFrom(choices, part));
      const known = chosen.filter((value) => value !== undefined);
      return known.length === chosen.length ? { value: known } : { problem: 'Give numbers of the list.' };
    },
  };
}

function listed(choices: readonly Choice[]): string {
  return choices.map(({ title }, index) => `${index + 1} ${title}`).join(', ');
}

function chosenFrom(choices: readonly Choice[], typed: string): string | undefined {
  const wanted = typed.trim();
  return (choices[Number(wanted) - 1] ?? choices.find(({ value }) => value === wanted))?.value;
}

function isShape(value: unknown): value is Shape {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isFieldValue(value: unknown): value is FieldValue {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function text(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  return value.length > maxTextChars ? `${value.slice(0, maxTextChars)}…` : value;
}
