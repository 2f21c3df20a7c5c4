import { visibleText } from '@lathe/core/host';

export type FieldValue = string | number | boolean | string[];

/** One field of a form that a server asks a person to fill in. */
export interface Field {
  name: string;
  /** Sanitized. */
  label: string;
  isRequired: boolean;
  defaultValue?: FieldValue;
  /** Converts what the person typed to a value, or says what is wrong with it. */
  parse: (text: string) => { value: FieldValue } | { problem: string };
}

/** A form with more fields is rejected. */
const maxFields = 30;
const maxChoices = 100;
const maxTextChars = 300;

type Schema = Readonly<Record<string, unknown>>;

/** The fields of a form; `undefined` if the schema does not describe a form. */
export function fieldsOf(schema: Schema): Field[] | undefined {
  const { properties, required } = schema;
  if (!isSchema(properties)) return undefined;
  const requiredNames: readonly unknown[] = Array.isArray(required) ? required : [];
  const entries = Object.entries(properties);
  if (entries.length > maxFields) return undefined;
  const fields = entries.map(([name, property]) =>
    isSchema(property) ? fieldOf(name, property, requiredNames.includes(name)) : undefined,
  );
  return fields.every((field) => field !== undefined) ? fields : undefined;
}

const kept = /^(?:type|enum|oneOf|anyOf|items|default|format|pattern|(?:min|max)(?:imum|Length|Items))$/;

/** The form for a front end that draws forms itself, with safe texts and nothing unknown; `undefined` if it is none. */
export function sanitizedForm(schema: Schema) {
  if (!fieldsOf(schema)) return undefined;
  const { properties, required } = schema;
  const fields = Object.entries({ ...Object(properties) }).map(
    ([name, field]) => [name, sanitizedField(field)] as const,
  );
  return {
    properties: Object.fromEntries(fields),
    required: Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [],
  };
}

function sanitizedField(field: unknown): { type: string } {
  const entries = Object.entries({ ...Object(field) }).flatMap(([key, value]): [string, unknown][] => {
    if (kept.test(key)) return [[key, value]];
    return /^(?:title|description)$/.test(key) && typeof value === 'string' ? [[key, visibleText(value)]] : [];
  });
  return { type: 'string', ...Object.fromEntries(entries) };
}

function fieldOf(name: string, schema: Schema, isRequired: boolean): Field | undefined {
  const { title, description, default: defaultValue } = schema;
  const parser = parserFor(schema);
  if (!parser) return undefined;
  const about = [
    shorten(title) ?? shorten(name),
    shorten(description),
    parser.hint,
    isRequired ? undefined : 'optional',
  ];
  return {
    name,
    label: about
      .filter((part) => part !== undefined)
      .map((part) => visibleText(part))
      .join(' · '),
    isRequired,
    ...(isFieldValue(defaultValue) && { defaultValue }),
    parse: parser.parse,
  };
}

interface Parser {
  hint?: string;
  parse: Field['parse'];
}

function parserFor(schema: Schema): Parser | undefined {
  const choices = choicesOf(schema);
  if (choices) return choices.length > maxChoices ? undefined : singleChoice(choices);
  switch (schema['type']) {
    case 'string':
      return { parse: (typed) => ({ value: typed }) };
    case 'number':
    case 'integer':
      return numberParser(schema['type'] === 'integer');
    case 'boolean':
      return { hint: 'yes or no', parse: parseBoolean };
    case 'array':
      return isSchema(schema['items']) ? multipleChoice(choicesOf(schema['items'])) : undefined;
    default:
      return undefined;
  }
}

function numberParser(isWhole: boolean): Parser {
  const hint = isWhole ? 'a whole number' : 'a number';
  return {
    hint,
    parse: (typed) => {
      const value = typed.trim() === '' ? Number.NaN : Number(typed);
      return Number.isFinite(value) && (!isWhole || Number.isInteger(value))
        ? { value }
        : { problem: `Enter ${hint}.` };
    },
  };
}

function parseBoolean(typed: string): ReturnType<Field['parse']> {
  if (/^(?:y|yes|true)$/i.test(typed.trim())) return { value: true };
  return /^(?:n|no|false)$/i.test(typed.trim()) ? { value: false } : { problem: 'Enter yes or no.' };
}

interface Choice {
  value: string;
  title: string;
}

function choicesOf({ enum: values, oneOf, anyOf, enumNames }: Schema): Choice[] | undefined {
  const titles: readonly unknown[] = Array.isArray(enumNames) ? enumNames : [];
  if (Array.isArray(values))
    return values.map((value: unknown, index) => ({
      value: String(value),
      title: shorten(titles[index]) ?? shorten(String(value)) ?? '',
    }));
  const titled = Array.isArray(oneOf) ? oneOf : anyOf;
  if (!Array.isArray(titled)) return undefined;
  return titled
    .filter(isSchema)
    .map((each) => ({ value: String(each['const']), title: shorten(each['title']) ?? String(each['const']) }));
}

function singleChoice(choices: readonly Choice[]): Parser {
  return {
    hint: numbered(choices),
    parse: (typed) => {
      const chosen = chosenFrom(choices, typed);
      return chosen === undefined ? { problem: 'Enter one of the numbers.' } : { value: chosen };
    },
  };
}

function multipleChoice(choices: readonly Choice[] | undefined): Parser | undefined {
  if (!choices || choices.length > maxChoices) return undefined;
  return {
    hint: `${numbered(choices)}; separate several with commas`,
    parse: (typed) => {
      const chosen = typed.split(',').map((part) => chosenFrom(choices, part));
      const known = chosen.filter((value) => value !== undefined);
      return known.length === chosen.length ? { value: known } : { problem: 'Enter numbers from the list.' };
    },
  };
}

function numbered(choices: readonly Choice[]): string {
  return choices.map(({ title }, index) => `${index + 1} ${title}`).join(', ');
}

function chosenFrom(choices: readonly Choice[], typed: string): string | undefined {
  const wanted = typed.trim();
  return (choices[Number(wanted) - 1] ?? choices.find(({ value }) => value === wanted))?.value;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isFieldValue(value: unknown): value is FieldValue {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function shorten(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  return value.length > maxTextChars ? `${value.slice(0, maxTextChars)}…` : value;
}
