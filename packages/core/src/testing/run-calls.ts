import type { ApprovalRequest, CallEvent, CallOutcome, CallRequest } from '../contract/call.js';
import type { Decision } from '../contract/confirmation.js';
import { type ApprovalMode, Policy, type RuleLists } from '../policy/policy.js';
import { Scheduler } from '../scheduler/scheduler.js';
import { ToolRegistry } from '../tools/tool-registry.js';
import type { AnyTool } from '../tools/tools.js';

/** What to run, and how a person would answer. */
export interface ScriptedCalls {
  tools: readonly AnyTool[];
  calls: readonly CallRequest[];
  /** Answers to the questions, in order; a question beyond them is denied. */
  answers?: readonly Decision[];
  mode?: ApprovalMode;
  rules?: Partial<RuleLists>;
  /** The directory that permission rules are relative to. */
  cwd?: string;
  signal?: AbortSignal;
}

/** What came of it. */
export interface CallTranscript {
  outcomes: CallOutcome[];
  events: CallEvent[];
  /** What the person was asked. */
  questions: ApprovalRequest[];
}

/** Runs calls through all nine steps with only these tools and a scripted person, for tests of tools. */
export async function runCalls(script: ScriptedCalls): Promise<CallTranscript> {
  const { tools, calls, answers = [], mode = 'default', rules = {}, cwd = '/', signal } = script;
  const registry = new ToolRegistry();
  for (const tool of tools) registry.registerTool(tool);
  const questions: ApprovalRequest[] = [];
  const scheduler = new Scheduler({
    registry,
    policy: new Policy({
      mode,
      rules: { allow: [], ask: [], deny: [], ...rules },
      bases: { home: cwd, root: cwd, cwd },
    }),
    approver: {
      decide: async (request) => {
        const answer = answers[questions.length] ?? { outcome: 'deny' };
        questions.push(request);
        return answer;
      },
    },
    spill: async (name) => name,
  });
  const run = scheduler.run(calls, signal ?? new AbortController().signal);
  const events: CallEvent[] = [];
  for await (const event of run) events.push(event);
  return { outcomes: await run, events, questions };
}
