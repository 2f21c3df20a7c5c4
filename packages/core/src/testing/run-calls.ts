import type { ApprovalRequest, CallEvent, CallOutcome, CallRequest } from '../contract/call.js';
import type { Decision } from '../contract/confirmation.js';
import { IgnoreRules } from '../files/ignore/ignore-rules.js';
import { LatheHome } from '../files/lathe-home.js';
import { Journal } from '../files/undo/journal.js';
import { Workspace } from '../files/workspace.js';
import { FileLocks } from '../files/write/file-lock.js';
import { type ApprovalMode, Policy, type RuleLists } from '../policy/policy.js';
import type { FileAccess } from '../scheduler/call-files.js';
import { Scheduler } from '../scheduler/scheduler.js';
import { ToolRegistry } from '../tools/tool-registry.js';
import type { AnyTool } from '../tools/tools.js';
import { tempWorkspace } from './temp-workspace.js';

/** What to run, and how a person would answer. */
export interface ScriptedCalls {
  tools: readonly AnyTool[];
  calls: readonly CallRequest[];
  /** Answers to the questions, in order; a question beyond them is denied. */
  answers?: readonly Decision[];
  mode?: ApprovalMode;
  rules?: Partial<RuleLists>;
  /** The directory that the tools work in, and that permission rules are relative to. Needed to touch files. */
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
  const state = tempWorkspace();
  try {
    return await runIn(script, new LatheHome(state.path));
  } finally {
    state.remove();
  }
}

async function runIn(script: ScriptedCalls, home: LatheHome): Promise<CallTranscript> {
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
    ...(script.cwd !== undefined && { files: await filesIn(script.cwd, home) }),
  });
  const run = scheduler.run(calls, signal ?? new AbortController().signal);
  const events: CallEvent[] = [];
  for await (const event of run) events.push(event);
  return { outcomes: await run, events, questions };
}

async function filesIn(directory: string, home: LatheHome): Promise<FileAccess> {
  const workspace = await Workspace.open(directory);
  const visibility = { rules: new IgnoreRules(workspace.roots) };
  return { workspace, visibility, locks: new FileLocks(home), journal: new Journal(home) };
}
