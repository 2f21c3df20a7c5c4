import { hash as hashOf } from 'node:crypto';
import { describeMismatch } from '@lathe/core/host';
import { type Static, type TProperties, Type } from 'typebox';

/** An object without other properties. */
const exact = <T extends TProperties>(properties: T) => Type.Object(properties, { additionalProperties: false });
const maxName = 200;
const maxPrompt = 1_000_000;
const maxPath = 2_000;
const maxRule = 500;
const maxRules = 200;
const maxPatches = 10;

const shortText = Type.String({ minLength: 1, maxLength: maxName });
const hash = Type.String({ minLength: 64, maxLength: 64 });
const rules = Type.Array(Type.String({ maxLength: maxRule }), { maxItems: maxRules });

/** Where the files of a task come from: a commit that a remote has, or a snapshot in the store. */
const base = exact({
  remote: Type.Optional(Type.String({ maxLength: maxPath })),
  commit: Type.String({ minLength: 40, maxLength: 64 }),
  /** The object that holds the commit as a git pack, when no remote has it. */
  pack: Type.Optional(hash),
  /** Where in the repository to work. */
  directory: Type.Optional(Type.String({ maxLength: maxPath })),
});

const jobSchema = exact({
  /** Set by the submitter; a task with the same id in the same run exists once. */
  id: shortText,
  run: shortText,
  team: shortText,
  prompt: Type.String({ minLength: 1, maxLength: maxPrompt }),
  model: Type.Optional(shortText),
  mode: Type.Optional(
    Type.Union([Type.Literal('plan'), Type.Literal('default'), Type.Literal('auto-edit'), Type.Literal('yolo')]),
  ),
  /** Rules in addition to those of the worker. Nothing can be allowed. */
  rules: Type.Optional(exact({ deny: Type.Optional(rules), ask: Type.Optional(rules) })),
  budgets: Type.Optional(
    exact({
      turns: Type.Optional(Type.Number({ minimum: 1 })),
      tokens: Type.Optional(Type.Number({ minimum: 1 })),
      milliseconds: Type.Optional(Type.Number({ minimum: 0 })),
      /** In cents, of all tasks of the run together. */
      runCost: Type.Optional(Type.Number({ minimum: 0 })),
      /** Of all tasks of the run together. */
      runTokens: Type.Optional(Type.Number({ minimum: 1 })),
    }),
  ),
  base: Type.Optional(base),
  /** Objects that hold patches on the base, in this order: what was not committed, what a parent had changed. */
  patches: Type.Optional(Type.Array(hash, { maxItems: maxPatches })),
  /** Subagents become jobs of their own. */
  flows: Type.Optional(Type.Literal(true)),
  /** The id of the task whose subagent this is. */
  parent: Type.Optional(shortText),
  /** What happens to a question that nobody answers in time. */
  questions: Type.Union([Type.Literal('deny'), Type.Literal('park')]),
  /** Milliseconds since 1970. */
  expires: Type.Number(),
});

/** One task of the agent, as it travels. */
export type Job = Static<typeof jobSchema>;
export type JobBase = Static<typeof base>;

/** Throws when `value` is not a job. */
export function checkJob(value: unknown): Job {
  const problem = describeMismatch(jobSchema, value);
  if (problem !== null) throw new Error(`the job is not valid: ${problem}`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema has just been checked
  return value as Job;
}

/** The name of a job in the queue: the same for the same task of the same run. */
export function jobKey({ run, id }: Pick<Job, 'run' | 'id'>): string {
  return hashOf('sha256', JSON.stringify([run, id])).slice(0, 40);
}
