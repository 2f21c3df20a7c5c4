import type { XStatic } from 'typebox/schema';
import { BaseTool, type ToolResult } from './tools.js';

const parameterSchema = {
  type: 'object',
  properties: {
    questions: {
      type: 'array',
      minItems: 1,
      maxItems: 4,
      items: {
        type: 'object',
        properties: {
          question: { type: 'string', pattern: '\\S', maxLength: 1000 },
          options: { type: 'array', maxItems: 8, items: { type: 'string', pattern: '\\S', maxLength: 300 } },
        },
        required: ['question'],
        additionalProperties: false,
      },
    },
  },
  required: ['questions'],
  additionalProperties: false,
} as const;

type AskParams = XStatic<typeof parameterSchema>;

/** One question of a model to the person. */
export interface UserQuestion {
  question: string;
  /** Answers to choose from; the person may always write another one. */
  options: readonly string[];
}

/** Puts questions to the person; the front end supplies it. */
export interface Asker {
  /** One answer per question; `undefined` where the person did not answer. */
  ask(questions: readonly UserQuestion[], signal: AbortSignal): Promise<readonly (string | undefined)[]>;
}

/** A person may take a while. */
const dayMs = 86_400_000;

/** `ask_user_question`: the model asks the person. Without somebody to ask it says so, and the model continues. */
export class AskUserQuestionTool extends BaseTool<AskParams> {
  readonly #asker: Asker | undefined;

  constructor(asker?: Asker) {
    super({
      name: 'ask_user_question',
      displayName: 'Question',
      description: 'Ask the user what only they can decide. They pick an option or write an answer.',
      kind: 'think',
      parameterSchema,
      timeoutMs: dayMs,
    });
    this.#asker = asker;
  }

  override getDescription({ questions }: AskParams): string {
    const [first, ...more] = questions;
    return `${first?.question ?? ''}${more.length > 0 ? ` (and ${more.length} more)` : ''}`;
  }

  /** It changes nothing, so it may run in plan mode. */
  override isReadOnly(): boolean {
    return true;
  }

  async execute({ questions }: AskParams, signal: AbortSignal): Promise<ToolResult | string> {
    if (!this.#asker) return 'Nobody is there to answer. Decide yourself and say what you assumed.';
    const asked = questions.map(({ question, options = [] }) => ({ question, options }));
    const answers = await this.#asker.ask(asked, signal);
    const lines = asked.map(({ question }, index) => ({ question, answer: answers[index] ?? '(no answer)' }));
    return {
      llmContent: lines.map(({ question, answer }) => `${question}\nAnswer: ${answer}`).join('\n\n'),
      returnDisplay: lines.map(({ question, answer }) => `${question} → ${answer}`).join('\n'),
    };
  }
}
