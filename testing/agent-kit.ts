import { Agent } from '../packages/agent/src/loop/agent.js';
import type { AgentEvent, PromptEnd } from '../packages/agent/src/loop/agent-event.js';
import type { AgentOptions, DeclaredTools } from '../packages/agent/src/loop/agent-options.js';
import type { Message } from '../packages/agent/src/models/model.js';
import { ScriptedModel, type ScriptStep } from '../packages/agent/src/models/replay/scripted.js';
import { Policy } from '../packages/core/src/policy/policy.js';
import { denyAll } from '../packages/core/src/scheduler/approve.js';
import { Scheduler, type SchedulerOptions } from '../packages/core/src/scheduler/scheduler.js';
import { ToolRegistry } from '../packages/core/src/tools/tool-registry.js';
import { type AnyTool, defineTool } from '../packages/core/src/tools/tools.js';

export interface Kit {
  agent: Agent;
  model: ScriptedModel;
  registry: ToolRegistry;
  /** What `note` was called with, in order. */
  notes: string[];
}

/** An agent with a scripted model, the real scheduler and two tools: `note` keeps a text, `look` answers it. */
export function agentKit(
  steps: readonly ScriptStep[],
  options: Partial<AgentOptions> & {
    contextWindow?: number;
    extraTools?: AnyTool[];
    scheduler?: Partial<SchedulerOptions>;
    declare?: (registry: ToolRegistry) => DeclaredTools;
  } = {},
): Kit {
  const { contextWindow, extraTools = [], scheduler = {}, declare, ...rest } = options;
  const model = new ScriptedModel(steps, contextWindow === undefined ? {} : { contextWindow });
  const notes: string[] = [];
  const registry = new ToolRegistry();
  for (const tool of [lookTool, noteTool(notes), ...extraTools]) registry.registerTool(tool);
  const policy = new Policy({
    mode: 'yolo',
    rules: { allow: [], ask: [], deny: [] },
    bases: { home: '/home', root: '/project', cwd: '/project' },
  });
  const agent = new Agent({
    model,
    system: 'Be brief.',
    tools: declare?.(registry) ?? { declarations: () => registry.getFunctionDeclarations() },
    runner: new Scheduler({ registry, policy, approver: denyAll, spill: async () => '/spilled', ...scheduler }),
    ...rest,
  });
  return { agent, model, registry, notes };
}

const textSchema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const;

const lookTool = defineTool({
  name: 'look',
  displayName: 'Look',
  description: 'Answers the text.',
  kind: 'read',
  parameterSchema: textSchema,
  execute: async ({ text }) => ({ llmContent: text, returnDisplay: text }),
});

function noteTool(notes: string[]): AnyTool {
  return defineTool({
    name: 'note',
    displayName: 'Note',
    description: 'Keeps the text.',
    kind: 'other',
    parameterSchema: textSchema,
    execute: async ({ text }) => {
      notes.push(text);
      return { llmContent: 'noted', returnDisplay: 'noted' };
    },
  });
}

export async function collect(events: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const all: AgentEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** Works on a prompt to its end. */
export async function endOf(agent: Agent, prompt: string, signal = new AbortController().signal): Promise<PromptEnd> {
  const last = (await collect(agent.prompt(prompt, signal))).at(-1);
  if (last?.type !== 'prompt-end') throw new Error(`the last event was ${last?.type}`);
  return last.end;
}

/** Why a provider would refuse this history; empty when it would not. */
export function faults(history: readonly Message[]): string[] {
  const found: string[] = [];
  const seen = new Set<string>();
  for (const [index, { role, parts }] of history.entries()) {
    if (parts.length === 0) found.push(`${index}: empty`);
    const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
    const results = parts.flatMap(({ functionResponse }) => functionResponse ?? []);
    if (role !== 'model' && calls.length > 0) found.push(`${index}: a ${role} calls`);
    if (role !== 'tool' && results.length > 0) found.push(`${index}: a ${role} answers calls`);
    for (const { id } of calls) {
      if (!id || seen.has(id)) found.push(`${index}: id ${id} is not unique`);
      seen.add(id ?? '');
    }
    const next = role === 'model' && calls.length > 0 ? history[index + 1] : undefined;
    if (role === 'model' && calls.length > 0) {
      const ids = next?.parts.map(({ functionResponse }) => functionResponse?.id);
      if (next?.role !== 'tool' || JSON.stringify(ids) !== JSON.stringify(calls.map(({ id }) => id)))
        found.push(`${index}: calls and results differ`);
    }
    if (role === 'tool' && history[index - 1]?.role !== 'model') found.push(`${index}: results without calls`);
  }
  return found;
}
