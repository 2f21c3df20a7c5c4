import type { XStatic } from 'typebox/schema';
import type { Confirmation } from '../contract/confirmation.js';
import { ToolError } from '../contract/errors.js';
import { CallSlot, directCall } from '../contract/tool-call.js';
import { BaseTool, type Change, type ToolResult } from './tools.js';

const parameterSchema = {
  type: 'object',
  properties: { plan: { type: 'string', pattern: '\\S', description: 'The plan, in Markdown' } },
  required: ['plan'],
  additionalProperties: false,
} as const;

type PlanParams = XStatic<typeof parameterSchema>;

/** The person's choice. Not a parameter: a model must not be able to make it. */
const choice = new CallSlot<'default' | 'auto-edit'>();

/** What the tool may do to the mode; the composition root supplies it. */
export interface PlanMode {
  isActive(): boolean;
  leave(to: 'default' | 'auto-edit'): void;
}

/**
 * `exit_plan_mode`: shows the plan to a person, whose answer is the only thing that changes the mode. Approving a plan
 * approves no call in it.
 */
export class ExitPlanModeTool extends BaseTool<PlanParams> {
  readonly #mode: PlanMode;

  constructor(mode: PlanMode) {
    super({
      name: 'exit_plan_mode',
      displayName: 'ExitPlanMode',
      description: 'In plan mode: present the plan for approval before changing anything.',
      kind: 'think',
      parameterSchema,
    });
    this.#mode = mode;
  }

  override getDescription(): string {
    return 'Present the plan';
  }

  override async shouldConfirmExecute({ plan }: PlanParams): Promise<Confirmation> {
    this.#assertActive();
    return {
      type: 'plan',
      title: 'Go on with this plan?',
      plan,
      choices: [
        { id: 'default', label: 'Yes, and ask before each change' },
        { id: 'auto-edit', label: 'Yes, and edit files without asking' },
      ],
    };
  }

  override applyChange(params: PlanParams, change: Change, call = directCall()): PlanParams {
    if (change.type !== 'choice') throw new Error('exit_plan_mode offers no editing');
    choice.set(call, change.choice === 'auto-edit' ? 'auto-edit' : 'default');
    return params;
  }

  async execute(params: PlanParams, _signal?: AbortSignal, call = directCall()): Promise<ToolResult> {
    this.#assertActive();
    this.#mode.leave(choice.get(call) ?? 'default');
    const message = 'The user approved the plan. Start with it now; each change is still subject to approval.';
    return {
      llmContent: message,
      returnDisplay: { type: 'plan_summary', message: 'Plan approved', plan: params.plan },
    };
  }

  #assertActive(): void {
    if (this.#mode.isActive()) return;
    throw new ToolError(
      'execution_denied',
      'exit_plan_mode was not run: it ends plan mode, and plan mode is not on. Go on with the task.',
    );
  }
}
