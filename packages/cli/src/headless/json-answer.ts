import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type JsonSchema } from '@lathe/core';
import { describeMismatch, schemaProblem } from '@lathe/core/host';
import { UsageError } from '../command-line/args.js';
import { errorMessage } from '../command-line/error-message.js';

/** A final answer that must be JSON and match a schema. */
export class JsonAnswer {
  readonly #schema: JsonSchema;

  private constructor(schema: JsonSchema) {
    this.#schema = schema;
  }

  /** Reads `--json-schema`: the schema itself or the name of its file. */
  static read(given: string, cwd: string): JsonAnswer {
    const text = given.trimStart().startsWith('{') ? given : readSchemaFile(resolve(cwd, given));
    const schema = parse(text);
    if (!isObject(schema)) throw new UsageError('--json-schema needs a JSON object or the name of a file with one');
    const problem = schemaProblem(schema);
    if (problem !== null) throw new UsageError(`--json-schema: ${problem}`);
    return new JsonAnswer(schema);
  }

  /** Added to the prompt for the model. */
  get instruction(): string {
    return `When the work is done, answer with nothing but JSON that fits this JSON Schema:\n${JSON.stringify(this.#schema)}`;
  }

  check(text: string): { value: unknown } | { problem: string } {
    const value = parse(withoutFence(text));
    if (value === undefined) return { problem: 'it is not JSON' };
    const mismatch = describeMismatch(this.#schema, value);
    return mismatch === null ? { value } : { problem: mismatch };
  }

  correction(problem: string): string {
    return `Your answer does not fit the schema: ${problem}. Answer again, with nothing but the JSON.`;
  }
}

function readSchemaFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`--json-schema: ${errorMessage(error)}`);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Models often put JSON into a Markdown code block. */
function withoutFence(text: string): string {
  return /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/.exec(text)?.[1] ?? text;
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
