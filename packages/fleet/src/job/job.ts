import { createHash } from 'node:crypto';
import { describeMismatch } from '@lathe/core/host';
import { type Static, Type } from 'typebox';

const shortText = Type.String({ minLength: 1, maxLength: 200 });
const hash = Type.String({ minLength: 64, maxLength: 64 });
const rules = Type.Array(Type.String({ maxLength: 500 }), { maxItems: 200 });

/** Where the files of a task come from: a commit that a remote has, or a snapshot in the store. */
const base = Type.Object(
  {
    remote: Type.Optional(Type.String({ maxLength: 2_000 })),
    commit: Type.String({ minLength: 40, maxLength: 64 }),
    /** The object that holds what was not committed, as a patch. */
    patch: Type.Optional(hash),
    /** The object that holds the commit as a git bundle, when no remote has it. */
    bundle: Type.Optional(hash),
  },
  { additionalProperties: false },
);

const jobSchema = Type.Object(
  {
    /** Given by whoever asks; a task with the same id in the same run exists once. */
    id: shortText,
    run: shortText,
    team: shortText,
    prompt: Type.String({ minLength: 1, maxLength: 1_000_000 }),
    model: Type.Optional(shortText),
    mode: Type.Optional(
      Type.Union([Type.Literal('plan'), Type.Literal('default'), Type.Literal('auto-edit'), Type.Literal('yolo')]),
    ),
    /** Rules in addition to those of the worker. Nothing can be allowed. */
    rules: Type.Optional(
      Type.Object({ deny: Type.Optional(rules), ask: Type.Optional(rules) }, { additionalProperties: false }),
    ),
    budgets: Type.Optional(
      Type.Object(
        {
          turns: Type.Optional(Type.Number({ minimum: 1 })),
          tokens: Type.Optional(Type.Number({ minimum: 1 })),
          minutes: Type.Optional(Type.Number({ minimum: 0 })),
          /** In cents, of all tasks of the run together. */
          runCost: Type.Optional(Type.Number({ minimum: 0 })),
          /** Of all tasks of the run together. */
          runTokens: Type.Optional(Type.Number({ minimum: 1 })),
        },
        { additionalProperties: false },
      ),
    ),
    base: Type.Optional(base),
    /** What happens to a question that nobody answers in time. */
    questions: Type.Union([Type.Literal('deny'), Type.Literal('park')]),
    /** Milliseconds since 1970. */
    expires: Type.Number(),
    trace: Type.Optional(shortText),
  },
  { additionalProperties: false },
);

/** One task of the agent, as it travels. */
export type Job = Static<typeof jobSchema>;
export type JobBase = Static<typeof base>;

/** What became of a task. */
export interface JobResult {
  id: string;
  run: string;
  status: 'success' | 'error' | 'cancelled';
  /** The answer, or what went wrong. */
  result: string;
  /** The object that holds the changes. */
  patch?: string;
  files?: readonly string[];
  usage: { inputTokens: number; outputTokens: number; cachedInputTokens: number; reasoningTokens: number };
  /** In cents; missing when a price is not known. */
  cost?: number;
  sessionId?: string;
  worker?: string;
  durationMs: number;
}

/** Throws when `value` is not a job. */
export function checkJob(value: unknown): Job {
  const problem = describeMismatch(jobSchema, value);
  if (problem !== null) throw new Error(`the job is not valid: ${problem}`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema has just been checked
  return value as Job;
}

/** The name of a job in the queue: the same for the same task of the same run. */
export function jobKey({ run, id }: Pick<Job, 'run' | 'id'>): string {
  return createHash('sha256')
    .update(JSON.stringify([run, id]))
    .digest('hex')
    .slice(0, 40);
}

export const noUsage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };
